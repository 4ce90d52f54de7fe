package iolog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"fiord/job"
)

// MergeTraces merges the blktrace files of the job's read_iolog by time into its merge_blktrace_file. Of each record that
// queues a read, write or discard only the fixed part is kept. merge_blktrace_scalars stretches the times of each trace, in
// percent; merge_blktrace_iters says how often each is repeated.
func MergeTraces(j *job.Job) error {
	if err := mergeTraces(j); err != nil {
		return fmt.Errorf("merge_blktrace_file %s: %w", j.MergeBlktraceFile, err)
	}
	return nil
}

func mergeTraces(j *job.Job) (err error) {
	names := job.SplitNames(j.ReadIolog)
	if len(names) == 0 {
		return errors.New("read_iolog names no trace to merge")
	}
	scalars, err := perTrace("merge_blktrace_scalars", j.MergeBlktraceScalars, len(names), 100)
	if err != nil {
		return err
	}
	iters, err := perTrace("merge_blktrace_iters", j.MergeBlktraceIters, len(names), 1)
	if err != nil {
		return err
	}
	var cursors []*cursor
	defer func() {
		for _, c := range cursors {
			err = errors.Join(err, c.f.Close())
		}
	}()
	for i, name := range names {
		if same(name, j.MergeBlktraceFile) {
			return fmt.Errorf("%s is one of the traces to merge", name)
		}
		c, err := openCursor(name, scalars[i], iters[i])
		if err != nil {
			return err
		}
		cursors = append(cursors, c)
	}
	return writeMerged(j.MergeBlktraceFile, append([]*cursor(nil), cursors...))
}

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// perTrace is a list of whole numbers with one for each of n traces; without a list each is def.
func perTrace(option string, values []float64, n int, def uint64) ([]uint64, error) {
	list := make([]uint64, n)
	if len(values) > 0 && len(values) != n {
		return nil, fmt.Errorf("%s has %d numbers for %d traces", option, len(values), n)
	}
	for i := range list {
		list[i] = def
		if len(values) > 0 {
			if values[i] < 1 || values[i] > 1e9 {
				return nil, fmt.Errorf("%s=%g: want 1 to 1000000000", option, values[i])
			}
			list[i] = uint64(values[i])
		}
	}
	return list, nil
}

// cursor is where the merge stands in one trace.
type cursor struct {
	f      *os.File
	in     *bufio.Reader
	order  binary.ByteOrder
	name   string
	rec    traceRecord // the record to be merged next
	scalar uint64
	iter   uint64 // rounds done
	iters  uint64
	length uint64 // time of the last record, found in the first round
	seen   uint64
	any    bool // a round has given a record
}

func openCursor(name string, scalar, iters uint64) (*cursor, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	c := &cursor{f: f, in: bufio.NewReaderSize(f, maxLine), name: name, scalar: scalar, iters: iters}
	magic, err := c.in.Peek(4)
	if err != nil && err != io.EOF {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	if c.order = traceOrder(magic); c.order == nil {
		return nil, errors.Join(fmt.Errorf("%s is no blktrace file", name), f.Close())
	}
	return c, nil
}

// next finds the next record to be merged, in the next round if there is one. It returns io.EOF when all are done.
func (c *cursor) next() error {
	for {
		err := readTrace(c.in, c.order, &c.rec)
		if err == io.EOF {
			if err := c.rewind(); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			err = skipPayload(c.in, &c.rec)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		c.seen = c.rec.Time
		if _, ok := c.rec.dir(); !ok || c.rec.Action&0xffff != traceQueued {
			continue
		}
		c.any = true
		// As in fio, the length of a trace is the time of its last record as it was merged, if it was.
		c.rec.Time = (c.rec.Time + c.iter*c.length) * c.scalar / 100
		c.seen = c.rec.Time
		return nil
	}
}

// rewind starts the next round.
func (c *cursor) rewind() error {
	if c.length == 0 {
		c.length = c.seen
	}
	c.iter++
	if c.iter >= c.iters || !c.any {
		return io.EOF
	}
	if _, err := c.f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.in.Reset(c.f)
	return nil
}

// writeMerged writes the records of all cursors by time. Where times are equal the trace that is first in the list goes
// first; one that ends gives its place to the last, as in fio.
func writeMerged(path string, cursors []*cursor) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := bufio.NewWriterSize(out, 128<<10)
	for i := 0; i < len(cursors); {
		switch err := cursors[i].next(); err {
		case nil:
			i++
		case io.EOF:
			cursors = append(cursors[:i], cursors[i+1:]...)
		default:
			return err
		}
	}
	var buf []byte
	for len(cursors) > 0 {
		first := 0
		for i, c := range cursors {
			if c.rec.Time < cursors[first].rec.Time {
				first = i
			}
		}
		buf = cursors[first].rec.append(buf[:0])
		if _, err := w.Write(buf); err != nil {
			return err
		}
		if err := cursors[first].next(); err == io.EOF {
			cursors[first] = cursors[len(cursors)-1]
			cursors = cursors[:len(cursors)-1]
		} else if err != nil {
			return err
		}
	}
	return w.Flush()
}
