package iolog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// textSource reads iologs. A line is, after the time in microseconds that only version 3 has, a file name and an action,
// with an offset and a length when the action is an I/O.
type textSource struct {
	r       *Replay
	version int
	line    int
	files   map[string]*textFile // by recorded name
}

// textFile is a file that the log has added.
type textFile struct {
	index int32
	open  bool
}

func (t *textSource) header() error {
	t.files = map[string]*textFile{}
	line, err := t.readLine()
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.HasPrefix(line, []byte(header2)):
		t.version = 2
	case bytes.HasPrefix(line, []byte(header3)):
		t.version = 3
	default:
		return t.wrap(fmt.Errorf("want %q or %q, or a blktrace file, got %.40q", header2, header3, line))
	}
	return nil
}

// readLine reads the next line without its end. The slice is good until the next call.
func (t *textSource) readLine() ([]byte, error) {
	line, err := t.r.in.ReadSlice('\n')
	if len(line) > 0 {
		t.line++
	}
	switch {
	case err == bufio.ErrBufferFull:
		return nil, t.wrap(fmt.Errorf("line of more than %d bytes", maxLine))
	case err == io.EOF && len(line) > 0:
		return line, nil
	case err == io.EOF:
		return nil, err
	case err != nil:
		return nil, t.r.wrap(err)
	}
	return line[:len(line)-1], nil
}

// wrap says which line an error is about.
func (t *textSource) wrap(err error) error {
	return t.r.wrap(fmt.Errorf("line %d: %w", t.line, err))
}

func (t *textSource) ready() bool {
	b, _ := t.r.in.Peek(t.r.in.Buffered()) // it is buffered: there is no error
	return bytes.IndexByte(b, '\n') >= 0
}

// next finds the next line that asks for something.
func (t *textSource) next(e *Entry) error {
	for {
		line, err := t.readLine()
		if err != nil {
			return err
		}
		var buf [6][]byte
		f := fields(buf[:0], line)
		if len(f) == 0 || t.isHeader(line) {
			continue
		}
		ok, err := t.parse(e, f)
		if err != nil {
			return t.wrap(err)
		}
		if ok {
			return nil
		}
	}
}

// isHeader reports whether line is a header of the same version: jobs that write one log each begin with theirs.
func (t *textSource) isHeader(line []byte) bool {
	return t.version == 2 && string(line) == header2 || t.version == 3 && string(line) == header3
}

// fields appends to f the words of a line, at most one more than a line can have.
func fields(f [][]byte, line []byte) [][]byte {
	for i := 0; len(f) < cap(f); {
		for i < len(line) && blank(line[i]) {
			i++
		}
		if i == len(line) {
			break
		}
		from := i
		for i < len(line) && !blank(line[i]) {
			i++
		}
		f = append(f, line[from:i])
	}
	return f
}

func blank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

var errFields = errors.New("want a file name and add, open or close, or a file name, an operation, an offset and a length")

// parse turns the words of a line into an entry. It reports false for a line that asks for nothing.
func (t *textSource) parse(e *Entry, f [][]byte) (bool, error) {
	delay := uint64(0)
	if t.version == 3 {
		at, ok := decimal(f[0])
		if !ok {
			return false, fmt.Errorf("time %.30q: want microseconds", f[0])
		}
		delay = t.r.delay(at)
		f = f[1:]
	}
	*e = Entry{Delay: micros(delay)}
	switch len(f) {
	case 2:
		return t.fileAction(e, string(f[0]), string(f[1]))
	case 4:
		return t.ioAction(e, f)
	}
	return false, errFields
}

func (t *textSource) fileAction(e *Entry, name, action string) (bool, error) {
	file := t.files[name]
	if action == "add" {
		e.Kind = EntryNothing
		if file == nil {
			t.files[name] = &textFile{index: t.r.add(name)}
		}
		return true, nil
	}
	if file == nil {
		return false, fmt.Errorf("%s of file %q, which was not added before", action, name)
	}
	e.File = file.index
	users := &t.r.open[file.index]
	switch {
	case action == "open" && file.open:
		return false, fmt.Errorf("open of file %q, which is open", name)
	case action == "open":
		e.Kind, file.open = EntryOpen, true
		if *users++; *users > 1 {
			e.Kind = EntryNothing
		}
		return true, nil
	case action == "close" && !file.open:
		return false, fmt.Errorf("close of file %q, which is not open", name)
	case action == "close":
		e.Kind, file.open = EntryClose, false
		if *users--; *users > 0 {
			e.Kind = EntryNothing
		}
		return true, nil
	}
	return false, fmt.Errorf("action %.30q: want add, open or close", action)
}

var textOps = map[string]Op{"read": OpRead, "write": OpWrite, "trim": OpTrim, "sync": OpSync, "datasync": OpDataSync}

func (t *textSource) ioAction(e *Entry, f [][]byte) (bool, error) {
	offset, err := amount(f[2], "offset", math.MaxUint64)
	if err != nil {
		return false, err
	}
	length, err := amount(f[3], "length", math.MaxInt64)
	if err != nil {
		return false, err
	}
	op, ok := textOps[string(f[1])]
	switch {
	case ok:
	case string(f[1]) == "wait":
		return t.wait(e, offset)
	case string(f[1]) == "sync_file_range" || string(f[1]) == "syncfs":
		t.r.counts[leftUnknown]++
		return false, nil
	default:
		return false, fmt.Errorf("operation %.30q: want read, write, trim, sync, datasync or wait", f[1])
	}
	file := t.files[string(f[0])]
	if file == nil || !file.open {
		return false, fmt.Errorf("%s of file %q, which is not open", f[1], f[0])
	}
	if t.r.skipped(op) {
		return false, nil
	}
	e.Kind, e.Op, e.File, e.Len = EntryIO, op, file.index, int64(length)
	if e.Offset, err = t.r.place(offset); err != nil {
		return false, err
	}
	return true, checkLength(op, e)
}

// maxData bounds a read or write: the kernel's own limit is 2 GiB less a page.
const maxData = 1 << 31

func checkLength(op Op, e *Entry) error {
	switch {
	case op <= OpTrim && e.Len == 0:
		return errors.New("an I/O of 0 bytes")
	case op < OpTrim && e.Len > maxData:
		return fmt.Errorf("an I/O of %d bytes: at most %d are possible", e.Len, maxData)
	}
	return span(e.Offset, e.Len)
}

// wait takes a wait of version 2: milliseconds after the start of the run.
func (t *textSource) wait(e *Entry, ms uint64) (bool, error) {
	if t.version == 3 {
		t.r.counts[leftWait]++
		return false, nil
	}
	e.Kind = EntryWait
	e.Delay = time.Duration(min(ms, math.MaxInt64/1_000_000)) * time.Millisecond
	return !t.r.cfg.NoStall, nil
}

// amount reads a number that is at most most.
func amount(text []byte, what string, most uint64) (uint64, error) {
	n, ok := decimal(text)
	if !ok || n > most {
		return 0, fmt.Errorf("%s %.30q: want a number from 0 to %d", what, text, most)
	}
	return n, nil
}

// decimal is strconv.ParseUint without its copy of the text.
func decimal(text []byte) (n uint64, ok bool) {
	for _, c := range text {
		d := uint64(c - '0')
		if c < '0' || c > '9' || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, len(text) > 0
}
