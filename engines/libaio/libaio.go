// Package libaio is the engine on the kernel's native asynchronous I/O, by its system calls; it needs no library.
//
// It owns the context, its control blocks and its ring. It must not know how I/O is scheduled.
package libaio

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"fiord/engines"
	"fiord/engines/cmdprio"
	"fiord/engines/fileop"
	"fiord/internal/sys"
	"fiord/job"
)

// Driver is the libaio engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:    "libaio",
		Doc:     "Uses the kernel's native asynchronous I/O; queues only with direct=1 on most file systems.",
		Traits:  job.Traits{Atomic: true},
		Options: func() any { return &Options{} },
		Open: func(w *engines.Worker, options any) (engines.Engine, error) {
			return open(w, *options.(*Options))
		},
	}
}

type engine struct {
	ios    []*engines.IO
	ctx    uintptr
	ring   *ring // nil unless completions are taken from the ring
	depth  int
	flight int // accepted by the kernel and not reaped

	mem    *sys.Arena
	iocbs  []iocb    // by IO.Index; the fields that never change are set once
	list   []uintptr // addresses of iocbs to submit
	iovecs []syscall.Iovec
	events []ioEvent

	done []*engines.IO // ended in Submit, waiting for Reap

	vectored       bool
	readFlags      uint32
	writeFlags     uint32
	rangeFlags     uint32
	prios          *cmdprio.Picker
	submits, reaps uint64
	stalled        time.Time // since when the kernel refuses with nothing in flight
}

// stallLimit is how long the kernel may refuse I/O while none is in flight, as in fio.
const stallLimit = 30 * time.Second

func open(w *engines.Worker, o Options) (engines.Engine, error) {
	prios, err := cmdprio.New(o.Options, w.Job)
	if err != nil {
		return nil, err
	}
	n := len(w.IOs)
	e := &engine{ios: w.IOs, depth: max(w.Depth, 1), vectored: o.LibaioVectored, prios: prios,
		rangeFlags: w.Job.SyncFileRange.Flags, done: make([]*engines.IO, 0, n)}
	if o.Nowait {
		e.readFlags |= unix.RWF_NOWAIT
		e.writeFlags |= unix.RWF_NOWAIT
	}
	if w.Job.Atomic {
		e.writeFlags |= unix.RWF_ATOMIC
	}
	if err := e.allocate(n); err != nil {
		return nil, err
	}
	if errno := ioSetup(e.depth, &e.ctx); errno != 0 {
		_ = e.mem.Close()
		return nil, setupError(e.depth, errno)
	}
	if o.UserspaceReap {
		if r := mapped(&e.ctx); r.magic == ringMagic && r.incompat == 0 {
			e.ring = r
		} else {
			w.Notice("userspace_reap: the kernel's ring has another layout, so completions are reaped by system call")
		}
	}
	return e, nil
}

func setupError(depth int, errno syscall.Errno) error {
	switch {
	case errors.Is(errno, syscall.EAGAIN):
		limit, _ := os.ReadFile("/proc/sys/fs/aio-max-nr")
		return fmt.Errorf("io_setup with iodepth %d: %w: the system's aio-max-nr of %s is used up", depth, errno,
			trimNewline(limit))
	case errors.Is(errno, syscall.ENOSYS):
		return fmt.Errorf("io_setup: %w: %w: the kernel has no native AIO", errno, engines.ErrUnsupported)
	}
	return fmt.Errorf("io_setup with iodepth %d: %w", depth, errno)
}

func trimNewline(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return b
}

// allocate lays out in one arena what the kernel reads and writes by address.
func (e *engine) allocate(n int) error {
	const perIO = unsafe.Sizeof(iocb{}) + unsafe.Sizeof(ioEvent{}) + unsafe.Sizeof(syscall.Iovec{}) + unsafe.Sizeof(uintptr(0))
	var err error
	if e.mem, err = sys.NewArena("malloc", max(n, 1)*int(perIO), 0, 0, ""); err != nil {
		return err
	}
	at := unsafe.Pointer(unsafe.SliceData(e.mem.Mem))
	e.iocbs = unsafe.Slice((*iocb)(at), n)
	at = unsafe.Add(at, n*int(unsafe.Sizeof(iocb{})))
	e.events = unsafe.Slice((*ioEvent)(at), n)
	at = unsafe.Add(at, n*int(unsafe.Sizeof(ioEvent{})))
	e.iovecs = unsafe.Slice((*syscall.Iovec)(at), n)
	at = unsafe.Add(at, n*int(unsafe.Sizeof(syscall.Iovec{})))
	e.list = unsafe.Slice((*uintptr)(at), n)
	return nil
}

// prepare writes the control block of u, the whole of it.
func (e *engine) prepare(u *engines.IO) *iocb {
	c := &e.iocbs[u.Index]
	*c = iocb{data: uint64(u.Index), fd: uint32(u.File.Fd)}
	switch u.Op {
	case engines.Read:
		c.opcode, c.rwFlags = iocbCmdPread, e.readFlags
	case engines.Write:
		c.opcode, c.rwFlags = iocbCmdPwrite, e.writeFlags
	case engines.DataSync:
		// fio differs: it sends an fsync for an fdatasync, too.
		c.opcode = iocbCmdFdsync
		return c
	default:
		c.opcode = iocbCmdFsync
		return c
	}
	c.offset = u.Offset
	if e.vectored {
		v := &e.iovecs[u.Index]
		v.Base = unsafe.SliceData(u.Buf)
		v.SetLen(len(u.Buf))
		c.opcode += iocbCmdPreadv - iocbCmdPread
		c.buf, c.nbytes = uint64(uintptr(unsafe.Pointer(v))), 1
	} else {
		c.buf, c.nbytes = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(u.Buf)))), uint64(len(u.Buf))
	}
	if e.prios != nil && e.prios.Pick(u) || u.Prio != 0 {
		c.reqprio = u.Prio
		c.flags = iocbFlagIOPrio
	}
	return c
}

// inline reports whether the kernel's AIO lacks the operation, so that Submit does it itself. fio sends an fsync where a
// sync_file_range was asked for; here it is one.
func inline(op engines.Op) bool {
	return op == engines.Trim || op == engines.Syncfs || op == engines.SyncFileRange
}

// Submit hands ios to the kernel, up to one that must be done here.
func (e *engine) Submit(ios []*engines.IO) (int, error) {
	taken := 0
	for taken < len(ios) && e.flight+len(e.done) < e.depth {
		if u := ios[taken]; inline(u.Op) {
			fileop.Op(u, e.rangeFlags)
			u.Inline = true
			e.done = append(e.done, u)
			taken++
			continue
		}
		run := ios[taken:]
		run = run[:min(len(run), e.depth-e.flight-len(e.done))]
		n := 0
		for n < len(run) && !inline(run[n].Op) {
			e.list[n] = uintptr(unsafe.Pointer(e.prepare(run[n])))
			n++
		}
		got, err := e.enter(run[:n])
		taken += got
		if err != nil || got < n {
			return taken, err
		}
	}
	return taken, nil
}

// enter submits the first control blocks of the list, which are those of run.
func (e *engine) enter(run []*engines.IO) (int, error) {
	taken := 0
	for taken < len(run) {
		n, errno := ioSubmit(e.ctx, &e.list[taken], len(run)-taken)
		e.submits++
		switch errno {
		case 0:
			taken += n
			e.flight += n
			e.stalled = time.Time{}
		case syscall.EINTR:
		case syscall.EAGAIN, syscall.ENOMEM:
			if taken > 0 || e.flight > 0 || len(e.done) > 0 {
				return taken, nil // full: there is something to reap first
			}
			if err := e.stall(errno); err != nil {
				return taken, err
			}
		default:
			// The kernel refuses the first of the list, such as one of a bad descriptor. That ends this I/O alone.
			u := run[taken]
			u.Done, u.Errno, u.Inline = 0, errno, true
			e.done = append(e.done, u)
			taken++
		}
	}
	return taken, nil
}

// stall waits a moment for the kernel to take I/O again.
func (e *engine) stall(errno syscall.Errno) error {
	if e.stalled.IsZero() {
		e.stalled = time.Now()
	} else if time.Since(e.stalled) > stallLimit || errno == syscall.ENOMEM {
		return fmt.Errorf("io_submit: %w: the kernel takes no I/O although none is in flight", errno)
	}
	time.Sleep(10 * time.Microsecond)
	return nil
}

// Reap returns what ended in Submit first, then what the kernel has finished.
func (e *engine) Reap(done []*engines.IO, least int, wait time.Duration) (int, error) {
	n := copy(done, e.done)
	if n > 0 {
		rest := copy(e.done, e.done[n:])
		e.done = e.done[:rest]
	}
	least = min(least, n+e.flight, len(done))
	if e.flight == 0 || n == len(done) {
		return n, nil
	}
	if e.ring != nil {
		n += e.deliver(done[n:], e.ring.take(e.room(done[n:])))
		if n >= least {
			return n, nil
		}
	}
	var timeout *syscall.Timespec
	var ts syscall.Timespec
	var end time.Time
	if least > n && wait >= 0 {
		end = time.Now().Add(wait)
		ts = syscall.NsecToTimespec(int64(wait))
		timeout = &ts
	}
	for {
		got, errno := ioGetEvents(e.ctx, max(least-n, 0), e.room(done[n:]), timeout)
		switch errno {
		case 0:
			e.reaps++
			n += e.deliver(done[n:], got)
		case syscall.EINTR:
		default:
			return n, fmt.Errorf("io_getevents: %w", errno)
		}
		if n >= least && errno == 0 {
			return n, nil
		}
		if timeout != nil {
			left := time.Until(end)
			if left <= 0 {
				return n, nil
			}
			ts = syscall.NsecToTimespec(int64(left))
		}
	}
}

// room is as many events as both the kernel can have and done can hold.
func (e *engine) room(done []*engines.IO) []ioEvent {
	return e.events[:min(len(done), e.flight)]
}

// deliver turns the first n events into results.
func (e *engine) deliver(done []*engines.IO, n int) int {
	for i := range e.events[:n] {
		ev := &e.events[i]
		u := e.ios[ev.data]
		if ev.res < 0 {
			u.Done, u.Errno = 0, syscall.Errno(-ev.res)
		} else {
			u.Done, u.Errno = int(ev.res), 0
		}
		done[i] = u
	}
	e.flight -= n
	return n
}

// Calls counts io_submit and io_getevents.
func (e *engine) Calls() (submits, reaps uint64) { return e.submits, e.reaps }

// Priorities is every I/O priority that I/Os of direction d can get, that of the job first; nil when all get the same.
func (e *engine) Priorities(d job.Dir) []uint16 {
	if e.prios == nil {
		return nil
	}
	return e.prios.Values(d)
}

// Features names what was really on.
func (e *engine) Features() []string {
	if e.ring != nil {
		return []string{"userspace_reap"}
	}
	return nil
}

// Close waits for I/O in flight and frees the context.
func (e *engine) Close() error {
	if e.mem == nil {
		return nil
	}
	var failed error
	for e.flight > 0 {
		n, errno := ioGetEvents(e.ctx, e.flight, e.events[:e.flight], nil)
		if errno == 0 {
			e.flight -= n
		} else if errno != syscall.EINTR {
			failed = fmt.Errorf("io_getevents: %w", errno)
			break
		}
	}
	if errno := ioDestroy(e.ctx); errno != 0 && failed == nil {
		failed = fmt.Errorf("io_destroy: %w", errno)
	}
	if err := e.mem.Close(); err != nil && failed == nil {
		failed = err
	}
	e.mem, e.ring, e.ctx = nil, nil, 0
	return failed
}
