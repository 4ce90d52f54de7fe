// Package splice is the engine that moves data between file and memory through a pipe, without copying where the kernel
// can.
//
// It owns the pipe. It must not know how I/O is scheduled.
package splice

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"fiord/engines"
	"fiord/engines/fileop"
	"fiord/job"
)

// Driver is the splice engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:   "splice",
		Doc:    "Moves data through a pipe with splice and vmsplice.",
		Traits: job.Traits{Sync: true, Pipe: true},
		Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
			e := &engine{rangeFlags: w.Job.SyncFileRange.Flags}
			if err := e.openPipe(); err != nil {
				return nil, err
			}
			return engines.Adapt(e, w.Depth), nil
		},
	}
}

// chunk is what a pipe holds unless told otherwise, in bytes.
const chunk = 64 << 10

type engine struct {
	rangeFlags uint32
	pipe       [2]int // read end, write end
	off        int64
	iov        syscall.Iovec
}

func (e *engine) openPipe() error {
	if err := syscall.Pipe2(e.pipe[:], syscall.O_CLOEXEC); err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	return nil
}

func (e *engine) closePipe() {
	_ = syscall.Close(e.pipe[0])
	_ = syscall.Close(e.pipe[1])
}

// Do moves one block. After an error the pipe may hold bytes that belong to nobody, so it is made anew.
func (e *engine) Do(u *engines.IO) {
	switch u.Op {
	case engines.Read:
		u.Done, u.Errno = e.read(u)
	case engines.Write:
		u.Done, u.Errno = e.write(u)
	default:
		fileop.Op(u, e.rangeFlags)
		return
	}
	if u.Errno != 0 {
		u.Done = 0
		e.closePipe()
		if err := e.openPipe(); err != nil {
			e.pipe = [2]int{-1, -1} // the next I/O fails with EBADF
		}
	}
}

func (e *engine) read(u *engines.IO) (int, syscall.Errno) {
	e.off = u.Offset
	done := 0
	for done < len(u.Buf) {
		want := min(len(u.Buf)-done, chunk)
		n, errno := splice(u.File.Fd, &e.off, e.pipe[1], nil, want)
		if errno != 0 {
			return done, errno
		}
		if n == 0 {
			return done, 0 // end of file; fio would try for ever
		}
		for n > 0 {
			got, errno := e.vmsplice(e.pipe[0], u.Buf[done:done+n])
			if errno != 0 {
				return done, errno
			}
			if got == 0 {
				return done, syscall.ENODATA
			}
			n -= got
			done += got
		}
	}
	return done, 0
}

func (e *engine) write(u *engines.IO) (int, syscall.Errno) {
	e.off = u.Offset
	done := 0
	for done < len(u.Buf) {
		// The pipe is empty here, so a block of its size does not make the call sleep.
		n, errno := e.vmsplice(e.pipe[1], u.Buf[done:min(done+chunk, len(u.Buf))])
		if errno != 0 {
			return done, errno
		}
		for n > 0 {
			put, errno := splice(e.pipe[0], nil, u.File.Fd, &e.off, n)
			if errno != 0 {
				return done, errno
			}
			n -= put
			done += put
		}
	}
	return done, 0
}

// vmsplice moves memory into the pipe, or from it, by the end that fd is.
func (e *engine) vmsplice(fd int, mem []byte) (int, syscall.Errno) {
	e.iov.Base = unsafe.SliceData(mem)
	e.iov.SetLen(len(mem))
	for {
		// Not blocking: a full pipe takes a part, which is enough.
		n, _, errno := syscall.RawSyscall6(unix.SYS_VMSPLICE, uintptr(fd), uintptr(unsafe.Pointer(&e.iov)), 1,
			unix.SPLICE_F_NONBLOCK, 0, 0)
		if errno != syscall.EINTR {
			return int(n), errno
		}
	}
}

func splice(from int, fromOff *int64, to int, toOff *int64, n int) (int, syscall.Errno) {
	for {
		got, _, errno := syscall.RawSyscall6(syscall.SYS_SPLICE, uintptr(from), uintptr(unsafe.Pointer(fromOff)), uintptr(to),
			uintptr(unsafe.Pointer(toOff)), uintptr(n), 0)
		if errno != syscall.EINTR && errno != syscall.EAGAIN {
			return int(got), errno
		}
	}
}

func (e *engine) Close() error {
	e.closePipe()
	return nil
}
