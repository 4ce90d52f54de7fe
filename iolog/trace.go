package iolog

import (
	"fmt"
	"os"
	"strconv"

	"fiord/clock"
)

// Trace writes an iolog of version 3 (write_iolog): which I/Os a job issued, on which files, in which order and when.
// It is used by one goroutine.
type Trace struct {
	f     *os.File
	buf   []byte
	start int64 // clock value that times count from, ns
	err   error // first error; nothing is written after it
}

const traceHeader = "fio version 3 iolog\n"

// traceBuffer is how much is collected for one write. Lines are never cut: with O_APPEND the lines of jobs that write
// the same file stay whole.
const traceBuffer = 64 << 10

// NewTrace starts the iolog that write_iolog names; clones of a job write to the same. An existing file is added to, with a
// header of its own, as with fio.
func NewTrace(path string) (*Trace, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("write_iolog: %w", err)
	}
	t := &Trace{f: f, buf: make([]byte, 0, traceBuffer), start: clock.Now()}
	t.buf = append(t.buf, traceHeader...)
	return t, nil
}

// Add tells of a file that the job uses.
func (t *Trace) Add(name string) { t.file(name, " add\n") }

// Open tells that the job opened a file.
func (t *Trace) Open(name string) { t.file(name, " open\n") }

// Close tells that the job closed a file.
func (t *Trace) Close(name string) { t.file(name, " close\n") }

func (t *Trace) file(name, action string) {
	t.reserve(len(name))
	t.time(clock.Now())
	t.buf = append(t.buf, name...)
	t.buf = append(t.buf, action...)
}

// IO tells of an I/O at now, a clock.Now value. op is fio's name of the operation: read, write, trim, sync, datasync,
// sync_file_range, syncfs or wait.
func (t *Trace) IO(now int64, name, op string, offset int64, length int) {
	t.reserve(len(name))
	t.time(now)
	t.buf = append(t.buf, name...)
	t.buf = append(t.buf, ' ')
	t.buf = append(t.buf, op...)
	t.buf = append(t.buf, ' ')
	t.buf = strconv.AppendUint(t.buf, uint64(offset), 10)
	t.buf = append(t.buf, ' ')
	t.buf = strconv.AppendUint(t.buf, uint64(length), 10)
	t.buf = append(t.buf, '\n')
}

// time begins a line with microseconds since the start.
func (t *Trace) time(now int64) {
	t.buf = strconv.AppendInt(t.buf, max(now-t.start, 0)/1e3, 10)
	t.buf = append(t.buf, ' ')
}

// reserve makes room for a line with a name of n bytes.
func (t *Trace) reserve(n int) {
	const rest = 100 // three numbers, the longest operation and spaces
	if len(t.buf)+n+rest > cap(t.buf) {
		t.flush()
	}
}

func (t *Trace) flush() {
	if t.err == nil && len(t.buf) > 0 {
		if _, err := t.f.Write(t.buf); err != nil {
			t.err = fmt.Errorf("write_iolog: %w", err)
		}
	}
	t.buf = t.buf[:0]
}

// Finish writes what is left and closes the file. Its error is the first that any write met; the file then ends before
// what could not be written.
func (t *Trace) Finish() error {
	t.flush()
	if err := t.f.Close(); err != nil && t.err == nil {
		t.err = fmt.Errorf("write_iolog: %w", err)
	}
	return t.err
}
