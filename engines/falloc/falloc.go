// Package falloc holds the engines that change the size of files in place of moving data: falloc and ftruncate.
//
// It owns these calls. It must not know how I/O is scheduled.
package falloc

import (
	"syscall"

	"golang.org/x/sys/unix"

	"fiord/engines"
	"fiord/engines/fileop"
	"fiord/job"
)

// Drivers are the engines of this package.
func Drivers() []*engines.Driver {
	return []*engines.Driver{
		{
			Name:   "falloc",
			Doc:    "Allocates file space in place of reading and writing, and punches holes in place of trimming.",
			Traits: job.Traits{Sync: true},
			Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
				return engines.Adapt(&allocator{rangeFlags: w.Job.SyncFileRange.Flags}, w.Depth), nil
			},
		},
		{
			Name:   "ftruncate",
			Doc:    "Truncates the file at the offset of each write.",
			Traits: job.Traits{Sync: true, FakeIO: true},
			Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
				return engines.Adapt(&truncator{rangeFlags: w.Job.SyncFileRange.Flags}, w.Depth), nil
			},
		},
	}
}

// allocator is falloc. A read allocates inside of the file's size, a write extends it, a trim punches a hole.
type allocator struct{ rangeFlags uint32 }

// OpenFile opens the file for writing whatever the job does, for even a read of this engine changes the file.
func (a *allocator) OpenFile(f *engines.File, _ int) error {
	if f.Kind != engines.Regular && f.Kind != engines.Block {
		return syscall.EINVAL
	}
	fd, err := syscall.Open(f.Name, syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f.Fd = fd
	return nil
}

// CloseFile closes it.
func (a *allocator) CloseFile(f *engines.File) error {
	fd := f.Fd
	f.Fd = -1
	return syscall.Close(fd)
}

func (a *allocator) Do(u *engines.IO) {
	mode := 0
	switch u.Op {
	case engines.Read:
		mode = unix.FALLOC_FL_KEEP_SIZE
	case engines.Write:
	case engines.Trim:
		mode = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE
	default:
		fileop.Sync(u, a.rangeFlags)
		return
	}
	for {
		_, _, errno := syscall.RawSyscall6(syscall.SYS_FALLOCATE, uintptr(u.File.Fd), uintptr(mode), uintptr(u.Offset),
			uintptr(length(u)), 0, 0)
		if errno != syscall.EINTR {
			finish(u, errno)
			return
		}
	}
}

func (a *allocator) Close() error { return nil }

// truncator is ftruncate. It only writes.
type truncator struct{ rangeFlags uint32 }

func (c *truncator) Do(u *engines.IO) {
	switch u.Op {
	case engines.Write:
		for {
			_, _, errno := syscall.Syscall(syscall.SYS_FTRUNCATE, uintptr(u.File.Fd), uintptr(u.Offset), 0)
			if errno != syscall.EINTR {
				finish(u, errno)
				return
			}
		}
	case engines.Read, engines.Trim:
		finish(u, syscall.EINVAL)
	default:
		fileop.Sync(u, c.rangeFlags)
	}
}

func (c *truncator) Close() error { return nil }

func length(u *engines.IO) int {
	if u.Op == engines.Trim {
		return u.Len
	}
	return len(u.Buf)
}

func finish(u *engines.IO, errno syscall.Errno) {
	u.Errno = errno
	u.Done = 0
	if errno == 0 {
		u.Done = length(u)
	}
}
