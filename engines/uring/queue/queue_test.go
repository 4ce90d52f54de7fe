package queue

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/ring"
	"fiord/internal/feature"
	"fiord/job"
)

// reader is the least engine: it reads a file.
type reader struct {
	Queue
	ios []*engines.IO
}

func (r *reader) submit(t *testing.T, ios []*engines.IO) {
	t.Helper()
	for len(ios) > 0 {
		n := r.Room(len(ios))
		for i, u := range ios[:n] {
			*r.R.SQE(uint32(i)) = ring.SQE{Opcode: ring.IORING_OP_READ, Flags: r.Async(), Fd: int32(u.File.Fd),
				Addr: Addr(u.Buf), Len: uint32(len(u.Buf)), UserData: uint64(u.Index)}
		}
		if n == 0 {
			t.Fatal("no room")
		}
		got, err := r.HandOver(n)
		if err != nil {
			t.Fatal(err)
		}
		ios = ios[got:]
	}
}

func (r *reader) Drain(done []*engines.IO) (int, error) {
	n := r.Ready(len(done))
	for i := range n {
		c := r.R.CQE(i)
		done[i] = r.ios[c.UserData]
		done[i].Done = int(c.Res)
	}
	r.Taken(n)
	return int(n), nil
}

func openReader(t *testing.T, depth int, c Config) *reader {
	t.Helper()
	return openReaderOn(t, ring.Linux, depth, c)
}

func openReaderOn(t *testing.T, k *ring.Kernel, depth int, c Config) *reader {
	t.Helper()
	runtime.LockOSThread() // ends with the test's goroutine
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 512)), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	f := &engines.File{Name: path, Fd: fd}
	mem, err := NewMemory[[512]byte](depth)
	if err != nil {
		t.Fatal(err)
	}
	w := &engines.Worker{Job: &job.Job{}, Depth: depth, Files: []*engines.File{f}}
	for i := range depth {
		w.IOs = append(w.IOs, &engines.IO{Index: uint32(i), File: f, Op: engines.Read, Buf: mem.All[i][:]})
	}
	r := &reader{ios: w.IOs}
	if r.Queue, err = New(k, w, c); err != nil {
		_ = mem.Close()
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), mem.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestMoreThanTheRingHolds waits for more completions than there are places for them.
func TestMoreThanTheRingHolds(t *testing.T) {
	r := openReader(t, 64, Config{Own: Own{SQEntries: 4, CQEntries: 4}})
	done := make([]*engines.IO, 64)
	for range 5 {
		for i := 0; i < len(r.ios); i += 4 {
			r.submit(t, r.ios[i:i+4])
		}
		for _, u := range r.ios {
			u.Done = -1
		}
		n, err := r.Reaper(done, 64, -1, r)
		if n != 64 || err != nil || r.Flight != 0 {
			t.Fatalf("%d of 64, %v, %d in flight", n, err, r.Flight)
		}
		for _, u := range done {
			if u.Done != 512 {
				t.Errorf("I/O %d: %d", u.Index, u.Done)
			}
		}
	}
}

func TestOwnOptions(t *testing.T) {
	for _, c := range []struct {
		own   Own
		major int
		minor int
		on    string // feature that must be on
		off   string // or off
	}{
		{Own{}, 6, 1, "defer_taskrun", ""},
		{Own{DeferTaskrun: "0"}, 6, 1, "single_issuer", "defer_taskrun"},
		{Own{DeferTaskrun: "1"}, 6, 1, "defer_taskrun", ""},
		{Own{SingleIssuer: "0"}, 6, 1, "", "single_issuer"},
		{Own{CoopTaskrun: "0"}, 5, 19, "", "coop_taskrun"},
		{Own{NoSQArray: "1"}, 6, 6, "no_sqarray", ""},
		{Own{NoSQArray: "0"}, 6, 6, "", "no_sqarray"},
		{Own{RegisterRing: "1"}, 5, 18, "registered_ring", ""},
		{Own{RegisterRing: "0"}, 5, 18, "", "registered_ring"},
		{Own{RegisteredWait: "1"}, 6, 13, "registered_wait", ""},
		{Own{RegisteredWait: "0"}, 5, 1, "", "registered_wait"},
		{Own{MinWait: 100}, 6, 12, "min_wait", ""},
		{Own{WaitTimeout: 100}, 5, 1, "", "min_wait"},
	} {
		t.Run(strings.Join([]string{c.on, c.off}, "!"), func(t *testing.T) {
			if !feature.AtLeast(c.major, c.minor) {
				t.Skipf("since Linux %d.%d", c.major, c.minor)
			}
			r := openReader(t, 8, Config{Own: c.own})
			got := r.Features()
			if c.on != "" && !slices.Contains(got, c.on) || slices.Contains(got, c.off) {
				t.Errorf("%+v: %v", c.own, got)
			}
			done := make([]*engines.IO, 8)
			r.submit(t, r.ios)
			for left := 8; left > 0; {
				n, err := r.Reaper(done, left, -1, r)
				if err != nil {
					t.Fatal(err)
				}
				left -= n
			}
		})
	}
}

// TestWaits sleeps on a pipe that nothing is written to.
func TestWaits(t *testing.T) {
	for name, own := range map[string]Own{"registered": {}, "by argument": {RegisteredWait: "0"}, "again and again": {WaitTimeout: 500}} {
		t.Run(name, func(t *testing.T) {
			var flags uint32 // of all enters that slept
			k := *ring.Linux
			k.Enter = func(fd int, submit, complete, f uint32, arg unsafe.Pointer, size uintptr) (int, syscall.Errno) {
				flags |= f
				return ring.Linux.Enter(fd, submit, complete, f, arg, size)
			}
			r := openReaderOn(t, &k, 2, Config{Own: own})
			var fds [2]int
			if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Close(fds[0]) }()
			r.ios[0].File = &engines.File{Fd: fds[0]}
			r.submit(t, r.ios[:1])
			done := make([]*engines.IO, 2)
			start := time.Now()
			if n, err := r.Reaper(done, 1, 3*time.Millisecond, r); n != 0 || err != nil || time.Since(start) < 3*time.Millisecond {
				t.Errorf("%d, %v after %v", n, err, time.Since(start))
			}
			if got, want := flags&ring.IORING_ENTER_EXT_ARG_REG != 0, r.R.RegisteredWait(); got != want ||
				flags&(ring.IORING_ENTER_EXT_ARG|ring.IORING_ENTER_GETEVENTS) != ring.IORING_ENTER_EXT_ARG|ring.IORING_ENTER_GETEVENTS {
				t.Errorf("waited with flags %#x, registered wait %v", flags, want)
			}
			go func() { // while the wait without a limit sleeps, or before
				_, _ = syscall.Write(fds[1], []byte("x"))
				_ = syscall.Close(fds[1])
			}()
			if n, err := r.Reaper(done, 1, -1, r); n != 1 || err != nil || done[0].Done != 1 {
				t.Errorf("%d, %v, done %d", n, err, done[0].Done)
			}
		})
	}
}

// TestMinWait is content with one completion of two once the least wait is over.
func TestMinWait(t *testing.T) {
	r := openReader(t, 2, Config{Own: Own{MinWait: 1000}})
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fds[0]) }()
	r.ios[0].File = &engines.File{Fd: fds[0]}
	r.submit(t, r.ios)
	done := make([]*engines.IO, 2)
	if n, err := r.Reaper(done, 2, -1, r); n != 1 || err != nil || done[0] != r.ios[1] {
		t.Errorf("%d, %v", n, err)
	}
	if err := syscall.Close(fds[1]); err != nil { // ends the other read
		t.Fatal(err)
	}
	if n, err := r.Reaper(done, 1, -1, r); n != 1 || err != nil {
		t.Errorf("the other: %d, %v", n, err)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		c    Config
		want string
	}{
		{Config{Own: Own{DeferTaskrun: "1", SingleIssuer: "0"}}, "needs single_issuer"},
		{Config{SqthreadPoll: true, Own: Own{DeferTaskrun: "1"}}, "sqthread_poll"},
		{Config{Own: Own{HybridPoll: true}}, "needs hipri"},
		{Config{Own: Own{SQEntries: 64, CQEntries: 8}}, "cq_entries=8"},
	} {
		w := &engines.Worker{Job: &job.Job{}, Depth: 8}
		if _, err := New(ring.Linux, w, c.c); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.c, err, c.want)
		}
	}
	deep := &engines.Worker{Job: &job.Job{}, Depth: ring.MaxCQEntries + 1}
	if _, err := New(ring.Linux, deep, Config{}); err == nil || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("a queue deeper than the ring: %v", err)
	}
	var asked []uint32
	old := *ring.Linux
	old.Setup = func(n uint32, p *ring.Params) (int, syscall.Errno) {
		asked = append(asked, p.Flags)
		return -1, syscall.EINVAL
	}
	w := &engines.Worker{Job: &job.Job{}, Depth: 8}
	if _, err := New(&old, w, Config{Own: Own{DeferTaskrun: "1"}}); err == nil {
		t.Error("a ring of a kernel that refuses all")
	}
	for _, flags := range asked {
		if flags&ring.IORING_SETUP_DEFER_TASKRUN == 0 {
			t.Errorf("defer_taskrun=1 was given up: %#x", flags)
		}
	}
}
