package iolog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// textSource reads iologs. A line is, after the time in microseconds that only version 3 has, a file name and an action,
// with an offset and a length when the action is an I/O.
type textSource struct {
	r       *Replay
	version int
	line    int
	opened  map[string]bool // recorded names that are open
	added   map[string]int32
}

func (t *textSource) header() error {
	t.opened, t.added = map[string]bool{}, map[string]int32{}
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
	for len(f) < cap(f) {
		line = bytes.TrimLeft(line, " \t\r\v\f")
		if len(line) == 0 {
			break
		}
		n := bytes.IndexAny(line, " \t\r\v\f")
		if n < 0 {
			n = len(line)
		}
		f = append(f, line[:n])
		line = line[n:]
	}
	return f
}

var errFields = errors.New("want a file name and add, open or close, or a file name, an operation, an offset and a length")

// parse turns the words of a line into an entry. It reports false for a line that asks for nothing.
func (t *textSource) parse(e *Entry, f [][]byte) (bool, error) {
	delay := uint64(0)
	if t.version == 3 {
		at, err := strconv.ParseUint(string(f[0]), 10, 64)
		if err != nil {
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
	if action == "add" {
		e.Kind = EntryNothing
		t.added[name] = t.r.add(name)
		return true, nil
	}
	i, ok := t.added[name]
	if !ok {
		return false, fmt.Errorf("%s of file %q, which was not added before", action, name)
	}
	e.File = i
	switch action {
	case "open":
		e.Kind = EntryOpen
		if t.opened[name] {
			return false, fmt.Errorf("open of file %q, which is open", name)
		}
		t.opened[name] = true
		if t.r.open[i]++; t.r.open[i] > 1 {
			e.Kind = EntryNothing
		}
		return true, nil
	case "close":
		e.Kind = EntryClose
		if !t.opened[name] {
			return false, fmt.Errorf("close of file %q, which is not open", name)
		}
		t.opened[name] = false
		if t.r.open[i]--; t.r.open[i] > 0 {
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
	action := string(f[1])
	switch action {
	case "wait":
		return t.wait(e, offset)
	case "sync_file_range", "syncfs":
		t.r.counts[leftUnknown]++
		return false, nil
	}
	op, ok := textOps[action]
	if !ok {
		return false, fmt.Errorf("operation %.30q: want read, write, trim, sync, datasync or wait", action)
	}
	name := string(f[0])
	i, ok := t.added[name]
	if !ok || !t.opened[name] {
		return false, fmt.Errorf("%s of file %q, which is not open", action, name)
	}
	if t.r.skipped(op) {
		return false, nil
	}
	e.Kind, e.Op, e.File, e.Len = EntryIO, op, i, int64(length)
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
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("%s %.30q: want a number from 0 to %d", what, strings.ToValidUTF8(string(text), "?"), most)
	}
	return n, nil
}
