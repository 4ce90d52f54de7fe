package iolog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"time"

	"fiord/job"
)

// EntryKind says what an Entry asks for.
type EntryKind uint8

// The kinds of Entry.
const (
	EntryIO      EntryKind = iota
	EntryWait              // nothing until Delay after the start of the run
	EntryOpen              // open the file
	EntryClose             // close the file once none of its I/Os is in flight
	EntryNothing           // only its Delay counts
)

// Op is the operation of an Entry: the numbers are those of engines.Op.
type Op uint8

// The operations that logs hold.
const (
	OpRead Op = iota
	OpWrite
	OpTrim
	OpSync
	OpDataSync
)

// Entry is one step of a replay.
type Entry struct {
	Kind   EntryKind
	Op     Op
	File   int32         // index into Files
	Offset int64         // bytes
	Len    int64         // bytes; 0 for syncs
	Delay  time.Duration // time since the I/O before; of an EntryWait since the start of the run
}

// ReadConfig says how a log is replayed.
type ReadConfig struct {
	NoStall   bool   // entries come with no delay, and waits not at all
	TimeScale int    // replay_time_scale, in percent of the recorded speed; 0 is 100
	Scale     int64  // replay_scale: offsets are divided by it; 0 is 1
	Align     int64  // replay_align, a power of two; 0: none
	Redirect  string // replay_redirect: all I/O goes to this file; empty: to the recorded ones
	Skip      job.DirSet
	ReadOnly  bool                     // no writes and no trims
	Name      func(name string) string // makes a recorded name the path to open; nil: as it is
	Device    func(major, minor uint32) (string, error)
}

// ReplayConfig is the configuration that the job's options ask for.
func ReplayConfig(j *job.Job, readOnly bool) ReadConfig {
	c := ReadConfig{NoStall: j.ReplayNoStall, TimeScale: j.ReplayTimeScale, Scale: int64(j.ReplayScale),
		Align: int64(j.ReplayAlign), Redirect: j.ReplayRedirect, Skip: j.ReplaySkip, ReadOnly: readOnly, Device: FindDevice}
	if dirs := job.SplitNames(j.Directory); len(dirs) > 0 {
		dir := dirs[j.SubJob%len(dirs)]
		c.Name = func(name string) string {
			if filepath.IsAbs(name) {
				return name
			}
			return dir + "/" + name
		}
	}
	return c
}

// ReplayPath is the log that the job replays: the entry of read_iolog's list that falls to the clone.
func ReplayPath(j *job.Job) string {
	names := job.SplitNames(j.ReadIolog)
	if len(names) == 0 {
		return j.ReadIolog
	}
	return names[j.SubJob%len(names)]
}

// Totals is what a log held, as far as it has been read.
type Totals struct {
	Reads, Writes, Trims, Syncs, Waits uint64
	MaxLen                             job.PerDir[uint64] // longest I/O, bytes
	Bytes                              uint64
	Depth                              int // blktrace: most I/Os in flight of one direction, 1 to 1024
}

// Replay reads a log for its replay: an iolog of version 2 or 3, or the binary output of blktrace. One goroutine uses it.
type Replay struct {
	cfg    ReadConfig
	path   string
	in     *bufio.Reader
	src    source
	binary bool

	last   uint64 // time of the last record in units of the log; 0: none yet, as in fio
	files  []string
	byName map[string]int32
	open   []int // how often each file is open: several recorded files may be one by Redirect
	totals Totals
	notes  []string
	counts map[string]int // by what was left out
}

// source gives the entries of one format.
type source interface {
	next(e *Entry) error // io.EOF behind the last
	ready() bool         // next need not wait for input, unless the log ends in the middle of a record
}

const (
	header2 = "fio version 2 iolog"
	header3 = "fio version 3 iolog"
)

// maxLine bounds a line of a log: a path of 4096 bytes and numbers fit many times over.
const maxLine = 64 << 10

// NewReplay finds out what kind of log in is and reads its header. path is for messages.
func NewReplay(path string, in io.Reader, cfg ReadConfig) (*Replay, error) {
	r := &Replay{cfg: cfg, path: path, in: bufio.NewReaderSize(in, maxLine), byName: map[string]int32{}, counts: map[string]int{}}
	if cfg.Align < 0 || cfg.Align&(cfg.Align-1) != 0 {
		return nil, fmt.Errorf("replay_align=%d: want a power of two", cfg.Align)
	}
	if cfg.Scale < 0 || cfg.TimeScale < 0 {
		return nil, fmt.Errorf("read_iolog: replay_scale=%d and replay_time_scale=%d: want positive numbers", cfg.Scale, cfg.TimeScale)
	}
	magic, err := r.in.Peek(4)
	if len(magic) == 0 {
		if err == io.EOF {
			err = errors.New("it is empty")
		}
		return nil, r.wrap(err)
	}
	if order := traceOrder(magic); order != nil {
		r.binary = true
		r.src = &traceSource{r: r, order: order, device: map[uint32]int32{}}
		return r, nil
	}
	t := &textSource{r: r}
	if err := t.header(); err != nil {
		return nil, err
	}
	r.src = t
	return r, nil
}

// Binary reports whether the log is of blktrace.
func (r *Replay) Binary() bool { return r.binary }

// Files lists the paths of the files met so far.
func (r *Replay) Files() []string { return r.files }

// Totals is what was read so far.
func (r *Replay) Totals() Totals {
	t := r.totals
	if s, ok := r.src.(*traceSource); ok {
		t.Depth = s.depth(&t)
	}
	return t
}

// Notes are remarks on what was left out, for the user.
func (r *Replay) Notes() []string {
	notes := r.notes
	for _, k := range leftOut {
		if n := r.counts[k]; n > 0 {
			notes = append(notes, fmt.Sprintf("read_iolog %s: %d %s", r.path, n, k))
		}
	}
	return notes
}

// What Notes may say was left out.
const (
	leftReadOnly = "writes and trims are skipped by --readonly"
	leftWait     = "lines say wait, which a log of version 3 has no use for: skipped"
	leftUnknown  = "sync_file_range and syncfs are skipped: they cannot be replayed"
	leftEmpty    = "traces are of 0 bytes: skipped"
)

var leftOut = [...]string{leftReadOnly, leftWait, leftUnknown, leftEmpty}

// Append appends up to most more entries to list. It returns fewer when the input has no more at hand, so that a log can
// be replayed while it is written, but at least one. The error is io.EOF behind the last, alone.
func (r *Replay) Append(list []Entry, most int) ([]Entry, error) {
	for n := 0; n < most; n++ {
		if n > 0 && !r.src.ready() {
			break
		}
		var e Entry
		if err := r.src.next(&e); err != nil {
			if err == io.EOF && n > 0 {
				break // found again by the next call
			}
			return list, err
		}
		r.count(&e)
		list = append(list, e)
	}
	return list, nil
}

// All reads the whole log.
func (r *Replay) All() ([]Entry, error) {
	var list []Entry
	for {
		var err error
		if list, err = r.Append(list, 1<<16); err == io.EOF {
			return list, r.Check()
		} else if err != nil {
			return nil, err
		}
	}
}

// Check reports a log that holds nothing to replay, once it has been read.
func (r *Replay) Check() error {
	t := &r.totals
	if t.Reads+t.Writes+t.Trims+t.Waits > 0 || r.binary && t.Syncs > 0 {
		return nil
	}
	return r.wrap(errors.New("it holds no I/O to replay"))
}

func (r *Replay) count(e *Entry) {
	t := &r.totals
	switch {
	case e.Kind == EntryWait:
		t.Waits++
	case e.Kind != EntryIO:
	case e.Op > OpTrim:
		t.Syncs++
	default:
		*[...]*uint64{&t.Reads, &t.Writes, &t.Trims}[e.Op]++
		t.MaxLen[e.Op] = max(t.MaxLen[e.Op], uint64(e.Len))
		t.Bytes += uint64(e.Len)
	}
}

// delay is how long after the record before one of time now is due, in the log's unit.
func (r *Replay) delay(now uint64) uint64 {
	last := r.last
	r.last = now
	switch {
	case last == 0 || r.cfg.NoStall || now < last:
		return 0
	case r.cfg.TimeScale == 0 || r.cfg.TimeScale == 100:
		return now - last
	}
	scaled := float64(now-last) * (100 / float64(r.cfg.TimeScale))
	return uint64(min(scaled, math.MaxInt64/1e6))
}

// micros makes a duration of n microseconds, bounded.
func micros(n uint64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/1000)) * time.Microsecond
}

// place applies replay_scale and replay_align to an offset.
func (r *Replay) place(offset uint64) (int64, error) {
	if r.cfg.Scale > 1 {
		offset /= uint64(r.cfg.Scale)
	}
	if r.cfg.Align > 0 {
		offset &^= uint64(r.cfg.Align) - 1
	}
	if offset > math.MaxInt64 {
		return 0, fmt.Errorf("offset %d: too large", offset)
	}
	return int64(offset), nil
}

// span checks that an I/O ends within what a file offset can say.
func span(offset, length int64) error {
	if offset > math.MaxInt64-length {
		return fmt.Errorf("offset %d and length %d: too large", offset, length)
	}
	return nil
}

// skipped reports whether replay_skip or --readonly leave the operation out.
func (r *Replay) skipped(op Op) bool {
	if op < OpDataSync && r.cfg.Skip[op] { // fio leaves datasync alone
		return true
	}
	if r.cfg.ReadOnly && (op == OpWrite || op == OpTrim) {
		r.counts[leftReadOnly]++
		return true
	}
	return false
}

// add makes name one of the files, or finds it there.
func (r *Replay) add(name string) int32 {
	if r.cfg.Redirect != "" {
		name = r.cfg.Redirect
	}
	if r.cfg.Name != nil {
		name = r.cfg.Name(name)
	}
	if i, ok := r.byName[name]; ok {
		return i
	}
	i := int32(len(r.files))
	r.byName[name] = i
	r.files = append(r.files, name)
	r.open = append(r.open, 0)
	return i
}

// wrap says which log an error is about.
func (r *Replay) wrap(err error) error { return fmt.Errorf("read_iolog %s: %w", r.path, err) }

// OpenLog opens a log: a file, a pipe, a Unix domain socket that a program listens on, or standard input for "-". whole
// tells that it is a regular file, which can be read twice.
func OpenLog(path string) (in io.ReadCloser, whole bool, err error) {
	if path == "-" {
		return io.NopCloser(os.Stdin), false, nil
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, false, fmt.Errorf("read_iolog: %w", err)
	}
	if st.Mode().Type() == os.ModeSocket {
		c, err := net.Dial("unix", path)
		if err != nil {
			return nil, false, fmt.Errorf("read_iolog: %w", err)
		}
		return c, false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, fmt.Errorf("read_iolog: %w", err)
	}
	return f, st.Mode().IsRegular(), nil
}
