// Package engines is the contract between the job runner and what issues I/O.
//
// It owns the IO, File, Worker, Engine and Driver types and the adapter for synchronous engines. It must not know how
// jobs are scheduled, what is measured or how it is reported.
package engines

import (
	"errors"
	"syscall"
	"time"

	"fiord/job"
)

// ErrUnsupported is wrapped by the error of a Probe or Open whose feature this machine's kernel lacks.
var ErrUnsupported = errors.New("not supported here")

// Op is what an IO does. The first three equal job.Read, job.Write and job.Trim.
type Op uint8

// The operations.
const (
	Read Op = iota
	Write
	Trim
	Sync          // fsync
	DataSync      // fdatasync
	SyncFileRange // sync_file_range of the whole range written so far
	Syncfs
)

// IsData reports whether the operation moves or trims data and so counts in the statistics of a direction.
func (o Op) IsData() bool { return o <= Trim }

// Dir is the direction of a data operation.
func (o Op) Dir() job.Dir { return job.Dir(o) }

// String is fio's name of the operation in I/O logs.
func (o Op) String() string {
	return [...]string{"read", "write", "trim", "sync", "datasync", "sync_file_range", "syncfs"}[o]
}

// IO is one transfer. The worker owns it except from Submit accepting it until Reap returns it. It fills two cache lines,
// and what is needed to issue the I/O lies in the first.
type IO struct {
	Buf       []byte // aligned arena memory, never the Go heap; its length is the transfer's, but for a trim: see Len
	File      *File
	Offset    int64
	Index     uint32 // place in the worker's table, fixed for life; travels as user_data
	FileIndex int32  // the worker's own; engines leave it alone
	Prio      uint16 // I/O priority (class<<13 | hint<<3 | level) when not 0
	Op        Op
	Compare   bool // of a read: the buffer holds what the device is to compare with its own; an error if they differ
	// Inline is set by an asynchronous engine that has done the I/O within Submit, so that its time is no submission
	// latency. The worker clears it.
	Inline bool
	User   uint8 // the worker's own; engines leave it alone

	// Set by the engine.
	Done  int           // bytes moved
	Errno syscall.Errno // 0 on success
	Aux   uint64        // a word of the engine's own, e.g. the NVMe completion result

	// Stamped by the worker: clock.Now values, ns.
	Start, Issued int64

	Len int // full length of the transfer asked for, while Buf may be a rest after a short one, or nil for a trim
	_   [24]byte
}

// FileKind says what a File is.
type FileKind uint8

// The kinds of file.
const (
	Regular FileKind = iota
	Block
	Char
	PipeFile
)

// File is one file or device of a worker. Layout makes it; the engine reads it.
type File struct {
	Name             string // path as opened
	Fd               int    // -1 while closed
	Kind             FileKind
	Index            int   // place in the worker's file list
	Size             int64 // size of the file or device in bytes (fio's real_file_size)
	Offset           int64 // where the job's range starts (fio's file_offset)
	Length           int64 // length of the job's range (fio's io_size)
	Engine           any   // the engine's own state for this file; whoever opens or closes it sets nil
	SyncFrom, SyncTo int64 // range written since the last sync_file_range
}

// Worker is what an engine may know of the worker that opens it.
type Worker struct {
	Job      *job.Job
	Depth    int    // number of IOs that can be in flight
	MaxBatch int    // most IOs in one Submit
	IOs      []*IO  // all IOs by Index; buffers set before Open
	Arena    []byte // the memory all buffers lie in; nil when the engine needs none
	Files    []*File
	Notice   func(format string, args ...any) // a note for the report
}

// Engine issues the IO of one worker, on that worker's thread only.
type Engine interface {
	// Submit takes a prefix of ios and reports its length. Fewer than len(ios) with a nil error means full: reap, then
	// offer the rest. An error ends the worker.
	Submit(ios []*IO) (int, error)
	// Reap stores finished IOs in done and reports how many: at least min, unless wait elapses (negative: no limit).
	// With min 0 it never blocks. EINTR is the engine's business.
	Reap(done []*IO, min int, wait time.Duration) (int, error)
	// Close waits for IO in flight, then releases everything.
	Close() error
}

// SingleSubmitter is an Engine with a shorter way to submit one IO. SubmitOne is Submit for u alone.
type SingleSubmitter interface {
	SubmitOne(u *IO) (int, error)
}

// SyncEngine is for engines whose IO ends inside Do; Adapt makes it an Engine. The worker knows it by the Sync trait and
// may call Do directly.
type SyncEngine interface {
	Do(u *IO)
	Close() error
}

// FileOpener is an Engine or SyncEngine that opens and closes its files itself; others get f.Fd from the layout.
type FileOpener interface {
	OpenFile(f *File, flags int) error
	CloseFile(f *File) error
}

// FileSizer tells a file's size where stat does not (fio's get_file_size).
type FileSizer interface{ FileSize(f *File) (int64, error) }

// ErrorDecoder turns an engine's status word into an error with more to say than the errno.
type ErrorDecoder interface{ DecodeError(u *IO) error }

// Features tells which optional kernel features were really on, for the report.
type Features interface{ Features() []string }

// Calls counts system calls for the report: submits and reaps, and how many IOs they carried.
type Calls interface {
	Calls() (submits, reaps uint64)
}

// Priorities tells every I/O priority that I/Os of direction d can get by the engine's own options, that of the job first;
// nil when all get the same. The engine sets IO.Prio in Submit.
type Priorities interface {
	Priorities(d job.Dir) []uint16
}

// Driver is one I/O engine. It is stateless. Options returns a fresh struct to decode into; Open gets it back.
type Driver struct {
	Name, Doc string
	Aliases   []string
	Traits    job.Traits
	Options   func() any                   // a struct whose tagged fields are the engine's options; nil: none
	Probe     func() error                 // nil: usable everywhere; else wraps ErrUnsupported
	Sizer     func(j *job.Job) FileSizer   // sizes before there is an Engine, with the options in j.Engine; nil: stat tells
	Zones     func(j *job.Job) ZoneManager // zones of its devices, with the options in j.Engine; nil: the block layer tells
	Appends   func(j *job.Job) bool        // whether the job's writes are zone appends; nil: never
	Label     func(j *job.Job) string      // what every report must say of the job's numbers; empty: nothing. nil: never anything
	Banner    func(j *job.Job) string      // a line that is printed when the engine is opened, with the options in j.Engine; nil: none
	Open      func(w *Worker, options any) (Engine, error)
	Missing   string // not empty: declared for its options only, and why it cannot run
	External  bool   // Missing, and no part of a default fio build either
}

// Decl is what package job needs of the driver.
func (d *Driver) Decl() job.EngineDecl {
	return job.EngineDecl{Name: d.Name, Doc: d.Doc, Aliases: d.Aliases, Options: d.Options, Missing: d.Missing,
		External: d.External, Traits: d.Traits}
}

// Range is a part of a file, in bytes.
type Range struct{ Offset, Len int64 }

// RangeTrimmer is an Engine whose trims can have several ranges, as its MultiRange trait says. SetRanges gives those of u,
// which is not in flight, for its next trim; the engine copies them.
type RangeTrimmer interface{ SetRanges(u *IO, ranges []Range) }

// Comparer is an Engine that, when Compares says so, has the device compare reads with IO.Compare set.
type Comparer interface{ Compares() bool }

// PassStarter is an Engine with random choices of its own that start anew in each pass of a job that repeats its random
// numbers. NextPass comes before every pass but the first, with nothing in flight.
type PassStarter interface{ NextPass() }

// Adapt makes an Engine of a SyncEngine: Submit does each IO at once, Reap hands them back in order.
func Adapt(s SyncEngine, depth int) Engine { return &adapter{s: s, done: make([]*IO, 0, depth)} }

type adapter struct {
	s    SyncEngine
	done []*IO
}

// Inner returns the synchronous engine behind an adapted Engine, or nil.
func Inner(e Engine) SyncEngine {
	if a, ok := e.(*adapter); ok {
		return a.s
	}
	return nil
}

func (a *adapter) Submit(ios []*IO) (int, error) {
	n := min(len(ios), cap(a.done)-len(a.done))
	for _, u := range ios[:n] {
		a.s.Do(u)
		u.Inline = true
		a.done = append(a.done, u)
	}
	return n, nil
}

func (a *adapter) Reap(done []*IO, _ int, _ time.Duration) (int, error) {
	n := copy(done, a.done)
	rest := copy(a.done, a.done[n:])
	a.done = a.done[:rest]
	return n, nil
}

func (a *adapter) Close() error { return a.s.Close() }
