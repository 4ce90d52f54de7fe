// Package psync holds the engines that do one I/O by one plain system call: sync, psync, vsync, pvsync and pvsync2.
//
// It owns these calls. It must not know how I/O is scheduled or which file comes next. The calls are raw ones: the thread
// keeps its processor of the Go runtime while it sleeps, as the package run explains.
package psync

import (
	"syscall"
	"unsafe"

	"fiord/engines"
	"fiord/engines/fileop"
	"fiord/job"
)

// Drivers are the engines of this package.
func Drivers() []*engines.Driver {
	traits := job.Traits{Sync: true}
	return []*engines.Driver{
		{Name: "sync", Doc: "Moves the file position with lseek, then calls read or write.", Traits: job.Traits{Sync: true, Seeks: true},
			Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
				return engines.Adapt(&seeker{base: newBase(w), files: make([]position, len(w.Files))}, w.Depth), nil
			}},
		{Name: "psync", Doc: "Calls pread or pwrite, one at a time; the default.", Traits: traits,
			Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
				b := newBase(w)
				return engines.Adapt(&b, w.Depth), nil
			}},
		{Name: "vsync", Doc: "Gathers neighbouring requests into one readv or writev.", Open: openVsync,
			Traits: job.Traits{ReapsAll: true, Seeks: true}},
		{Name: "pvsync", Doc: "Calls preadv or pwritev, one at a time.", Traits: traits,
			Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
				return engines.Adapt(&vector{base: newBase(w)}, w.Depth), nil
			}},
		pvsync2(),
	}
}

// base is psync, and what its relatives share.
type base struct {
	rangeFlags uint32
}

func newBase(w *engines.Worker) base { return base{rangeFlags: w.Job.SyncFileRange.Flags} }

func (b *base) Do(u *engines.IO) {
	switch u.Op {
	case engines.Read:
		transfer(u, syscall.SYS_PREAD64)
	case engines.Write:
		transfer(u, syscall.SYS_PWRITE64)
	default:
		fileop.Op(u, b.rangeFlags)
	}
}

func (b *base) Close() error { return nil }

// transfer makes one call of the shape of pread, again when a signal interrupted it: the runtime sends some itself.
func transfer(u *engines.IO, call uintptr) {
	for {
		n, _, errno := syscall.RawSyscall6(call, uintptr(u.File.Fd), address(u), uintptr(len(u.Buf)),
			uintptr(u.Offset), 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		finish(u, n, errno)
		return
	}
}

// address is where the buffer of u lies. Buffers are outside the Go heap, so it stays there as a number, too.
func address(u *engines.IO) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(u.Buf))) }

func finish(u *engines.IO, n uintptr, errno syscall.Errno) {
	u.Errno = errno
	u.Done = 0
	if errno == 0 {
		u.Done = int(n)
	}
}

// seeker is the sync engine. It leaves out the lseek where the file position is right already.
type seeker struct {
	base
	files []position // by File.Index
}

// position is where the kernel has the position of a file. File.Engine points to it, and whoever opens the file clears
// that pointer, so a position never outlives its descriptor.
type position struct {
	at    int64
	known bool
}

func (s *seeker) Do(u *engines.IO) {
	if !u.Op.IsData() {
		fileop.Sync(u, s.rangeFlags)
		return
	}
	p, ok := u.File.Engine.(*position)
	if !ok {
		p = &s.files[u.File.Index]
		p.known = false
		u.File.Engine = p
	}
	// fio seeks before a trim, too, though a trim has no use for it.
	if !p.known || p.at != u.Offset {
		p.known = false
		if _, _, errno := syscall.RawSyscall(syscall.SYS_LSEEK, uintptr(u.File.Fd), uintptr(u.Offset), 0); errno != 0 {
			finish(u, 0, errno)
			return
		}
	}
	switch u.Op {
	case engines.Read:
		transfer(u, syscall.SYS_READ)
	case engines.Write:
		transfer(u, syscall.SYS_WRITE)
	default:
		fileop.Trim(u)
	}
	p.known = u.Errno == 0 && u.Op != engines.Trim
	p.at = u.Offset + int64(u.Done)
}

// vector is the pvsync engine: psync with a vector of one.
type vector struct {
	base
	iov syscall.Iovec
}

func (v *vector) Do(u *engines.IO) {
	switch u.Op {
	case engines.Read:
		v.transfer(u, syscall.SYS_PREADV)
	case engines.Write:
		v.transfer(u, syscall.SYS_PWRITEV)
	default:
		fileop.Op(u, v.rangeFlags)
	}
}

func (v *vector) transfer(u *engines.IO, call uintptr) {
	setIovec(&v.iov, u)
	for {
		// The offset is in two halves; the high one counts on 32-bit machines only.
		n, _, errno := syscall.RawSyscall6(call, uintptr(u.File.Fd), uintptr(unsafe.Pointer(&v.iov)), 1,
			uintptr(u.Offset), uintptr(u.Offset>>32), 0)
		if errno == syscall.EINTR {
			continue
		}
		finish(u, n, errno)
		return
	}
}

func setIovec(v *syscall.Iovec, u *engines.IO) {
	v.Base = unsafe.SliceData(u.Buf)
	v.SetLen(len(u.Buf))
}
