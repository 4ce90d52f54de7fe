package psync

import (
	"syscall"
	"time"
	"unsafe"

	"fiord/engines"
	"fiord/engines/fileop"
)

// maxVector is the kernel's limit of one vector, IOV_MAX.
const maxVector = 1024

// vsync gathers I/Os of one direction that follow each other in one file, and issues them in one readv or writev.
//
// Though its calls wait, it is no synchronous engine to the worker: it needs a queue to gather from, and reaches its depth.
//
// One vector is in flight at most: until it is reaped the engine is full, as fio's is.
type vsync struct {
	rangeFlags     uint32
	depth          int
	iov            []syscall.Iovec
	done           []*engines.IO // issued, waiting for Reap
	head           int
	submits, reaps uint64
}

func openVsync(w *engines.Worker, _ any) (engines.Engine, error) {
	depth := min(max(w.Depth, 1), maxVector)
	return &vsync{rangeFlags: w.Job.SyncFileRange.Flags, depth: depth, iov: make([]syscall.Iovec, depth),
		done: make([]*engines.IO, 0, depth)}, nil
}

// follows reports whether u can join a vector that ends with last.
func follows(last, u *engines.IO) bool {
	return u.Op == last.Op && u.File == last.File && u.Offset == last.Offset+int64(len(last.Buf))
}

func (v *vsync) Submit(ios []*engines.IO) (int, error) {
	if len(v.done) > 0 || len(ios) == 0 {
		return 0, nil
	}
	first := ios[0]
	if first.Op > engines.Write {
		fileop.Op(first, v.rangeFlags)
		first.Inline = true
		v.done = append(v.done, first)
		return 1, nil
	}
	n := 1
	for n < len(ios) && n < v.depth && follows(ios[n-1], ios[n]) {
		n++
	}
	v.submits++
	v.transfer(ios[:n])
	v.done = append(v.done, ios[:n]...)
	return n, nil
}

func (v *vsync) transfer(ios []*engines.IO) {
	for i, u := range ios {
		setIovec(&v.iov[i], u)
	}
	first := ios[0]
	fd := uintptr(first.File.Fd)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_LSEEK, fd, uintptr(first.Offset), 0); errno != 0 {
		share(ios, 0, errno)
		return
	}
	call := uintptr(syscall.SYS_READV)
	if first.Op == engines.Write {
		call = syscall.SYS_WRITEV
	}
	for {
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&v.iov[0])), uintptr(len(ios)))
		if errno == syscall.EINTR {
			continue
		}
		share(ios, n, errno)
		return
	}
}

// share gives each I/O its part of the bytes that one call moved, from the front.
func share(ios []*engines.IO, moved uintptr, errno syscall.Errno) {
	for _, u := range ios {
		part := min(moved, uintptr(len(u.Buf)))
		finish(u, part, errno)
		u.Inline = true
		moved -= part
	}
}

func (v *vsync) Reap(done []*engines.IO, _ int, _ time.Duration) (int, error) {
	n := copy(done, v.done[v.head:])
	v.head += n
	if v.head == len(v.done) {
		v.done, v.head = v.done[:0], 0
	}
	if n > 0 {
		v.reaps++
	}
	return n, nil
}

// Calls counts vectors and reaps.
func (v *vsync) Calls() (submits, reaps uint64) { return v.submits, v.reaps }

func (v *vsync) Close() error { return nil }
