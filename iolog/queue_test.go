package iolog

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func number(b []byte, n *int) []byte { return append(strconv.AppendInt(b, int64(*n), 10), '\n') }

// newNumbers is a queue of numbers that become lines.
func newNumbers(f *file, size int) *queue[int] {
	return newQueue(f, size, newTextSink(f, size, 8, number))
}

// TestQueueOrder fills many chunks, so that most of them are written while records still come in.
func TestQueueOrder(t *testing.T) {
	for _, count := range []int{0, 1, 3, 4, 5, 1000} {
		path := filepath.Join(t.TempDir(), "log")
		q := newNumbers(newFile(t, path), 4)
		q.sink.(*textSink[int]).hold = 3
		var want []byte
		for i := range count {
			*q.next() = i
			want = number(want, &i)
		}
		if err := q.close(); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != string(want) {
			t.Errorf("%d records: file has %d bytes, want %d, or another order", count, len(got), len(want))
		}
	}
}

// TestQueueShared has two jobs in one file: what fits into memory is one block for each.
func TestQueueShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("from an earlier run\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	reg := NewRegistry()
	var queues []*queue[int]
	for range 2 {
		f, err := reg.open(path, true)
		if err != nil {
			t.Fatal(err)
		}
		queues = append(queues, newNumbers(f, 2))
	}
	for i := range 6 {
		*queues[i%2].next() = i
	}
	for _, q := range []*queue[int]{queues[1], queues[0]} {
		if err := q.close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := read(t, path), "from an earlier run\n1\n3\n5\n0\n2\n4\n"; got != want {
		t.Errorf("file has %q, want %q", got, want)
	}
	// The file was closed with its last user; a later job opens it again.
	f, err := reg.open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	q := newNumbers(f, 2)
	*q.next() = 6
	if err := q.close(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); !strings.HasSuffix(got, "4\n6\n") {
		t.Errorf("file has %q", got)
	}
}

// TestQueueRoom has a run's memory for logs used up by one log, so that another writes at once.
func TestQueueRoom(t *testing.T) {
	dir := t.TempDir()
	reg := NewRegistry()
	var queues []*queue[int]
	for i := range 2 {
		f, err := reg.open(filepath.Join(dir, strconv.Itoa(i)), false)
		if err != nil {
			t.Fatal(err)
		}
		queues = append(queues, newNumbers(f, 4))
	}
	reg.room.Store(3 * 32)
	var want []byte
	for i := range 1000 {
		*queues[i/500].next() = i
		if i >= 500 {
			want = number(want, &i)
		}
	}
	for _, q := range queues {
		if err := q.close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, filepath.Join(dir, "1")); got != string(want) {
		t.Errorf("file has %d bytes, want %d, or another order", len(got), len(want))
	}
	if left := reg.room.Load(); left != 3*32 {
		t.Errorf("%d bytes of room are left, want all 96", left)
	}
}

func TestQueueDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here:", err)
	}
	for _, count := range []int{1, 100} {
		f, err := openFile("/dev/full", 0)
		if err != nil {
			t.Fatal(err)
		}
		q := newNumbers(f, 4)
		q.sink.(*textSink[int]).hold = 2
		for i := range count {
			*q.next() = i
		}
		if err := q.close(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d records: error is %v, want ENOSPC", count, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "such", "folder", "log")
	for _, shared := range []bool{false, true} {
		if _, err := NewRegistry().open(path, shared); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("shared %v: error is %v, want one that names the file", shared, err)
		}
	}
}

// TestQueueAllocations counts allocations once the writer has started and holds all that it may hold.
func TestQueueAllocations(t *testing.T) {
	q := newNumbers(newFile(t, os.DevNull), 16)
	q.sink.(*textSink[int]).hold = 2
	for i := range 1000 {
		*q.next() = i
	}
	n := 0
	if got := testing.AllocsPerRun(1000, func() { n++; *q.next() = n }); got != 0 {
		t.Errorf("%v allocations a record", got)
	}
	if err := q.close(); err != nil {
		t.Fatal(err)
	}
}
