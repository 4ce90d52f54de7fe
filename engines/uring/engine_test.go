package uring

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"fiord/engines"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/internal/sys"
	"fiord/job"
)

// openOn opens the engine on a worker of its own, with depth I/Os of size bytes on files.
func openOn(t *testing.T, k *ring.Kernel, depth, size int, o *Options, j *job.Job, files ...*engines.File) (*engine, *engines.Worker) {
	t.Helper()
	return openAs(t, k, sys.BlockIntegrity, depth, size, o, j, files...)
}

// openAs is openOn on a machine that tells of metadata what ask says.
func openAs(t *testing.T, k *ring.Kernel, ask asks, depth, size int, o *Options, j *job.Job, files ...*engines.File) (*engine, *engines.Worker) {
	t.Helper()
	runtime.LockOSThread() // ends with the test's goroutine
	arena, err := sys.NewArena("malloc", depth*size, 4096, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		f.Index = i
	}
	w := &engines.Worker{Job: j, Depth: depth, MaxBatch: depth, Arena: arena.Mem, Files: files, Notice: t.Logf}
	for i := range depth {
		w.IOs = append(w.IOs, &engines.IO{Index: uint32(i), File: files[0], Len: size, Buf: arena.Mem[i*size : (i+1)*size]})
	}
	e, err := open(k, ask, w, o)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := arena.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, w
}

func openFile(t *testing.T, name, content string) *engines.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	return &engines.File{Name: path, Fd: fd, Size: int64(len(content))}
}

// all submits ios and reaps them all.
func all(t *testing.T, e *engine, ios []*engines.IO) {
	t.Helper()
	n, err := e.Submit(ios)
	if err != nil || n != len(ios) {
		t.Fatalf("Submit: %d of %d, %v", n, len(ios), err)
	}
	done := make([]*engines.IO, len(ios))
	if n, err = e.Reap(done, len(ios), -1); err != nil || n != len(ios) {
		t.Fatalf("Reap: %d of %d, %v", n, len(ios), err)
	}
}

// TestRegisteredFileIsTheOneThatIsOpen closes a file and opens others after the table was made.
func TestRegisteredFileIsTheOneThatIsOpen(t *testing.T) {
	a, b := openFile(t, "a", "aaaa"), openFile(t, "b", "bbbb")
	late := &engines.File{Name: b.Name, Fd: -1}
	e, w := openOn(t, ring.Linux, 2, 4, &Options{Nonvectored: -1, Registerfiles: true}, &job.Job{}, a, late)
	read := func(f *engines.File) (string, syscall.Errno) {
		u := w.IOs[1]
		u.File, u.Op, u.Done, u.Errno = f, engines.Read, 0, 0
		clear(u.Buf)
		all(t, e, w.IOs[1:])
		return string(u.Buf[:u.Done]), u.Errno
	}
	if got, errno := read(a); got != "aaaa" || errno != 0 {
		t.Errorf("open file: %q, %v", got, errno)
	}
	if got, errno := read(late); got != "" || errno != syscall.EBADF {
		t.Errorf("file not open: %q, %v", got, errno)
	}
	late.Fd = b.Fd
	if got, errno := read(late); got != "bbbb" || errno != 0 {
		t.Errorf("file opened later: %q, %v", got, errno)
	}
	a.Fd = b.Fd
	if got, errno := read(a); got != "bbbb" || errno != 0 {
		t.Errorf("file opened again as another: %q, %v", got, errno)
	}
}

// TestFixedBuffersCarryTheData uses buffers that end in the middle of the arena, and one that moved on after a short
// transfer.
func TestFixedBuffersCarryTheData(t *testing.T) {
	f := openFile(t, "f", "")
	e, w := openOn(t, ring.Linux, 16, 4096, &Options{Fixedbufs: true}, &job.Job{}, f)
	for i, u := range w.IOs {
		for j := range u.Buf {
			u.Buf[j] = byte(i*7 + j)
		}
		u.Op, u.Offset = engines.Write, int64(i)*4096
		if i%2 == 1 {
			u.Buf, u.Offset = u.Buf[1000:3000], u.Offset+1000
		}
	}
	all(t, e, w.IOs)
	got, err := os.ReadFile(f.Name)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range w.IOs {
		if u.Errno != 0 || u.Done != len(u.Buf) {
			t.Errorf("write %d: %d, %v", i, u.Done, u.Errno)
		} else if !bytes.Equal(got[u.Offset:][:len(u.Buf)], u.Buf) {
			t.Errorf("write %d: the file holds other data", i)
		}
	}
}

// TestBuffersTooLargeForOnePiece registers by parts where the arena is beyond what one registration may be.
func TestBuffersTooLargeForOnePiece(t *testing.T) {
	var got []ring.Iovec
	k := *ring.Linux
	k.Register = func(fd int, op uint32, arg unsafe.Pointer, n uint32) (int, syscall.Errno) {
		if op == ring.IORING_REGISTER_BUFFERS {
			got = append(got, unsafe.Slice((*ring.Iovec)(arg), n)...)
			return 0, 0
		}
		return ring.Linux.Register(fd, op, arg, n)
	}
	const size = 600 << 20 // never touched, so it takes no memory
	f := openFile(t, "f", "")
	e, w := openOn(t, &k, 3, size, &Options{Fixedbufs: true}, &job.Job{}, f)
	if len(got) != 3 {
		t.Fatalf("%d pieces, want 3", len(got))
	}
	for i, u := range w.IOs {
		p := got[e.BufIndex[i]]
		if base := queue.Addr(u.Buf); base < p.Base || base+size > p.Base+p.Len || p.Len > ring.MaxBufferSize {
			t.Errorf("buffer %d is not in piece %d, or that is too large", i, e.BufIndex[i])
		}
	}
}

func TestSyncFileRangeWithNothingWritten(t *testing.T) {
	f := openFile(t, "f", "data")
	e, w := openOn(t, ring.Linux, 1, 512, &Options{Nonvectored: -1}, &job.Job{}, f)
	u := w.IOs[0]
	u.Op = engines.SyncFileRange
	for _, span := range [][2]int64{{-1, 0}, {0, 0}, {4, 4}, {0, 4}, {0, maxTransfer + 1}} {
		f.SyncFrom, f.SyncTo = span[0], span[1]
		all(t, e, w.IOs)
		if u.Errno != 0 || u.Done != 0 {
			t.Errorf("range %v: done %d, %v", span, u.Done, u.Errno)
		}
	}
}

// TestTrimFallsBack trims what the ring cannot: the system call decides, and the next trim goes there at once.
func TestTrimFallsBack(t *testing.T) {
	f := openFile(t, "f", "data")
	e, w := openOn(t, ring.Linux, 1, 512, &Options{Nonvectored: -1}, &job.Job{}, f)
	w.IOs[0].Op = engines.Trim
	for range 2 {
		all(t, e, w.IOs)
		if u := w.IOs[0]; u.Errno != syscall.ENOTTY || u.Done != 0 {
			t.Errorf("done %d, %v; want 0, ENOTTY as from the system call", u.Done, u.Errno)
		}
		if !e.outside[engines.Trim] {
			t.Error("the engine would ask the ring again")
		}
	}
}

func TestReapKeepsItsLimits(t *testing.T) {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = syscall.Close(fds[0]), syscall.Close(fds[1]) }()
	f := &engines.File{Name: "pipe", Fd: fds[0], Kind: engines.PipeFile}
	e, w := openOn(t, ring.Linux, 2, 8, &Options{Nonvectored: -1}, &job.Job{}, f)
	if n, err := e.Submit(w.IOs); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := e.Submit(w.IOs[:1]); n != 0 || err != nil {
		t.Errorf("Submit above the depth: %d, %v", n, err)
	}
	done := make([]*engines.IO, 2)
	start := time.Now()
	if n, err := e.Reap(done, 0, -1); n != 0 || err != nil {
		t.Errorf("Reap of what is not there: %d, %v", n, err)
	}
	if n, err := e.Reap(done, 1, 2*time.Millisecond); n != 0 || err != nil || time.Since(start) < 2*time.Millisecond {
		t.Errorf("Reap for 2 ms: %d, %v after %v", n, err, time.Since(start))
	}
	if _, err := syscall.Write(fds[1], []byte("one")); err != nil {
		t.Fatal(err)
	}
	if n, err := e.Reap(done, 1, -1); n != 1 || err != nil || done[0].Done != 3 {
		t.Fatalf("Reap of one: %d, %v", n, err)
	}
	if _, err := syscall.Write(fds[1], []byte("two")); err != nil {
		t.Fatal(err)
	}
	// More than are in flight cannot come: the engine must not wait for them.
	if n, err := e.Reap(done, 2, -1); n != 1 || err != nil {
		t.Errorf("Reap of more than there are: %d, %v", n, err)
	}
}

// TestKernelThatRefusesForAWhile answers EBUSY and partial submissions: no I/O may be lost or done twice.
func TestKernelThatRefusesForAWhile(t *testing.T) {
	calls := 0
	k := *ring.Linux
	k.Enter = func(fd int, submit, complete, flags uint32, arg unsafe.Pointer, size uintptr) (int, syscall.Errno) {
		calls++
		switch {
		case submit > 0 && calls%3 == 0:
			return -1, syscall.EBUSY
		case submit > 1 && calls%3 == 1:
			return ring.Linux.Enter(fd, 1, complete, flags, arg, size)
		case calls%5 == 0:
			return -1, syscall.EINTR
		}
		return ring.Linux.Enter(fd, submit, complete, flags, arg, size)
	}
	f := openFile(t, "f", strings.Repeat("x", 4096))
	e, w := openOn(t, &k, 8, 512, &Options{Nonvectored: 0}, &job.Job{}, f)
	done := make([]*engines.IO, 8)
	for range 20 {
		seen := map[uint32]bool{}
		left := w.IOs
		for i, u := range left {
			u.Op, u.Offset = engines.Read, int64(i)*512
		}
		for len(seen) < len(w.IOs) {
			n, err := e.Submit(left)
			if err != nil {
				t.Fatal(err)
			}
			left = left[n:]
			n, err = e.Reap(done, 1, -1)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range done[:n] {
				if seen[u.Index] || u.Done != 512 || u.Errno != 0 {
					t.Fatalf("I/O %d: seen %v, done %d, %v", u.Index, seen[u.Index], u.Done, u.Errno)
				}
				seen[u.Index] = true
			}
		}
		if e.Flight != 0 {
			t.Fatalf("%d in flight after all were reaped", e.Flight)
		}
	}
}

// TestKernelShortOfMemory refuses everything for a while with nothing in flight: the worker must not be told that the engine takes
// nothing.
func TestKernelShortOfMemory(t *testing.T) {
	for _, one := range []bool{false, true} {
		refusals := 3
		k := *ring.Linux
		k.Enter = func(fd int, submit, complete, flags uint32, arg unsafe.Pointer, size uintptr) (int, syscall.Errno) {
			if submit > 0 && refusals > 0 {
				refusals--
				return -1, syscall.EAGAIN
			}
			return ring.Linux.Enter(fd, submit, complete, flags, arg, size)
		}
		e, w := openOn(t, &k, 2, 512, &Options{Nonvectored: -1}, &job.Job{}, openFile(t, "f", strings.Repeat("x", 1024)))
		want, submit := 2, func() (int, error) { return e.Submit(w.IOs) }
		if one {
			want, submit = 1, func() (int, error) { return e.SubmitOne(w.IOs[0]) }
		}
		if n, err := submit(); n != want || err != nil || refusals != 0 || e.Flight != uint32(want) {
			t.Fatalf("%d of %d taken, %d in flight, %v", n, want, e.Flight, err)
		}
		done := make([]*engines.IO, want)
		if n, err := e.Reap(done, want, -1); n != want || err != nil || done[0].Done != 512 || done[want-1].Done != 512 {
			t.Fatalf("%d of %d done, %v", n, want, err)
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	files := []*engines.File{{Fd: -1}, {Fd: -1}}
	j := &job.Job{}
	j.OpenFiles = 1
	w := &engines.Worker{Job: j, Depth: 1, IOs: []*engines.IO{{}}, Files: files, Notice: t.Logf}
	if _, err := open(ring.Linux, sys.BlockIntegrity, w, &Options{Registerfiles: true}); err == nil || !strings.Contains(err.Error(), "openfiles") {
		t.Errorf("registerfiles with fewer open files: %v", err)
	}
	old := *ring.Linux
	old.Register = func(fd int, op uint32, arg unsafe.Pointer, n uint32) (int, syscall.Errno) {
		if op == ring.IORING_REGISTER_PROBE {
			return -1, syscall.EINVAL // as before Linux 5.6
		}
		return ring.Linux.Register(fd, op, arg, n)
	}
	for _, o := range []*Options{{Nonvectored: 1}, {ForceAsync: 2}} {
		w.Job = &job.Job{}
		if _, err := open(&old, sys.BlockIntegrity, w, o); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%+v on a kernel without: %v", o, err)
		} else if !strings.Contains(err.Error(), "Linux 5.6") {
			t.Errorf("%v does not name the least kernel", err)
		}
	}
	e, err := open(&old, sys.BlockIntegrity, w, &Options{Nonvectored: -1})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil || !e.vectored {
		t.Fatalf("the default does not fall back to vectored requests: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestOptionsAreDeclaredRight(t *testing.T) {
	if _, err := job.Declare(Driver().Options()); err != nil {
		t.Error(err)
	}
}

// TestReopenedFileGetsItsSlotAnew: a file that is closed, made anew and opened again often gets the descriptor it had.
func TestReopenedFileGetsItsSlotAnew(t *testing.T) {
	f := openFile(t, "f", "before")
	e, w := openOn(t, ring.Linux, 1, 6, &Options{Nonvectored: -1, Registerfiles: true}, &job.Job{}, f)
	u := w.IOs[0]
	u.Op = engines.Read
	all(t, e, w.IOs)
	other, err := os.Create(filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if _, err := other.WriteString("after!"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Dup3(int(other.Fd()), f.Fd, 0); err != nil {
		t.Fatal(err)
	}
	f.Engine = nil // as whoever opens a file does
	all(t, e, w.IOs)
	if string(u.Buf) != "after!" {
		t.Errorf("read %q from the file that was open before", u.Buf)
	}
}

// TestSubmitFails: entries that the kernel did not take are not waited for.
func TestSubmitFails(t *testing.T) {
	k := *ring.Linux
	k.Enter = func(int, uint32, uint32, uint32, unsafe.Pointer, uintptr) (int, syscall.Errno) {
		return -1, syscall.EBADFD
	}
	f := openFile(t, "f", "data")
	e, w := openOn(t, &k, 4, 4, &Options{Nonvectored: -1}, &job.Job{}, f)
	if n, err := e.Submit(w.IOs); n != 0 || !errors.Is(err, syscall.EBADFD) || e.Flight != 0 {
		t.Errorf("%d taken, %d in flight, %v", n, e.Flight, err)
	}
}

// TestSubmitOneWhenFull has no room for another I/O until one is reaped.
func TestSubmitOneWhenFull(t *testing.T) {
	e, w := openOn(t, ring.Linux, 2, 4, &Options{Nonvectored: -1}, &job.Job{}, openFile(t, "a", "aaaa"))
	extra := *w.IOs[0]
	done := make([]*engines.IO, 2)
	for range 3 {
		for _, u := range w.IOs {
			if n, err := e.SubmitOne(u); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if n, err := e.SubmitOne(&extra); n != 0 || err != nil {
			t.Fatalf("with a full queue: %d, %v", n, err)
		}
		if n, err := e.Reap(done, 2, -1); n != 2 || err != nil {
			t.Fatal(n, err)
		}
	}
}

// TestReapNothing does not enter the kernel when nothing is in flight and none is wanted.
func TestReapNothing(t *testing.T) {
	e, _ := openOn(t, ring.Linux, 2, 4, &Options{Nonvectored: -1}, &job.Job{}, openFile(t, "a", "aaaa"))
	_, before := e.Calls()
	if n, err := e.Reap(make([]*engines.IO, 2), 0, -1); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if _, after := e.Calls(); after != before {
		t.Errorf("%d system calls", after-before)
	}
}

// TestSubmitOneFollowsTheFile writes to files in turns, and to one that was closed and opened anew.
func TestSubmitOneFollowsTheFile(t *testing.T) {
	for _, registered := range []bool{false, true} {
		a, b := openFile(t, "a", "...."), openFile(t, "b", "....")
		e, w := openOn(t, ring.Linux, 2, 4, &Options{Nonvectored: -1, Registerfiles: registered}, &job.Job{}, a, b)
		write := func(f *engines.File, text string) {
			u := w.IOs[0]
			u.File, u.Op = f, engines.Write
			copy(u.Buf, text)
			if n, err := e.SubmitOne(u); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			done := make([]*engines.IO, 1)
			if n, err := e.Reap(done, 1, -1); n != 1 || err != nil || u.Errno != 0 {
				t.Fatal(n, err, u.Errno)
			}
		}
		write(a, "aaaa")
		write(b, "bbbb")
		other := openFile(t, "c", "....")
		a.Name, a.Fd, a.Engine = other.Name, other.Fd, nil
		write(a, "cccc")
		write(a, "dddd")
		for name, want := range map[string]string{b.Name: "bbbb", other.Name: "dddd"} {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("registered %v: %q, %v; want %q", registered, got, err, want)
			}
		}
	}
}

// TestSubmitOneFails tells of an enter that the kernel refuses, and takes the I/O back.
func TestSubmitOneFails(t *testing.T) {
	e, w := openOn(t, ring.Linux, 2, 4, &Options{Nonvectored: -1, Own: queue.Own{RegisterRing: "0"}}, &job.Job{}, openFile(t, "a", "aaaa"))
	if n, err := e.SubmitOne(w.IOs[0]); n != 1 || err != nil { // the models are for the file from here on
		t.Fatal(n, err)
	}
	done := make([]*engines.IO, 1)
	if n, err := e.Reap(done, 1, -1); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	mend := exchange(t, "anon_inode:[io_uring]", "/dev/null")
	n, err := e.SubmitOne(w.IOs[1])
	mend()
	if n != 0 || !errors.Is(err, syscall.EOPNOTSUPP) || e.Flight != 0 {
		t.Errorf("with a descriptor of something else: %d taken, %d in flight, %v", n, e.Flight, err)
	}
	if n, err := e.SubmitOne(w.IOs[1]); n != 1 || err != nil {
		t.Errorf("after it: %d taken, %v", n, err)
	}
}

// exchange makes the one descriptor of what is one of the file, until mend is called.
func exchange(t *testing.T, what, file string) (mend func()) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, f := range fds {
		if link, _ := os.Readlink("/proc/self/fd/" + f.Name()); link == what {
			if at >= 0 {
				t.Fatalf("several descriptors of %s", what)
			}
			at, _ = strconv.Atoi(f.Name())
		}
	}
	saved, err := unix.FcntlInt(uintptr(max(at, 0)), unix.F_DUPFD_CLOEXEC, 0)
	if at < 0 || err != nil {
		t.Fatalf("descriptor %d of %s: %v", at, what, err)
	}
	other, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	set := func(fd int) {
		if err := unix.Dup3(fd, at, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
	}
	set(int(other.Fd()))
	return func() {
		set(saved)
		_ = unix.Close(saved)
	}
}
