// Package fileop does what every file engine does the same way: syncs and trims by plain system call.
//
// It owns the mapping of operations to system calls and to IO results. It must not know any engine.
package fileop

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"fiord/engines"
)

// Op does the operation of u, any but Read and Write, and sets its result. rangeFlags are the SYNC_FILE_RANGE_* bits
// of the job's sync_file_range.
func Op(u *engines.IO, rangeFlags uint32) {
	if u.Op == engines.Trim {
		Trim(u)
		return
	}
	Sync(u, rangeFlags)
}

// Sync does the sync operation of u. As in fio, a sync_file_range with nothing written since the last one succeeds
// without a system call.
func Sync(u *engines.IO, rangeFlags uint32) {
	f := u.File
	u.Done = 0
	for {
		switch u.Op {
		case engines.Sync:
			_, _, u.Errno = syscall.RawSyscall(syscall.SYS_FSYNC, uintptr(f.Fd), 0, 0)
		case engines.DataSync:
			_, _, u.Errno = syscall.RawSyscall(syscall.SYS_FDATASYNC, uintptr(f.Fd), 0, 0)
		case engines.SyncFileRange:
			u.Errno = 0
			if f.SyncFrom >= 0 && f.SyncTo > f.SyncFrom { // else nothing was written
				u.Errno = errnoOf(unix.SyncFileRange(f.Fd, f.SyncFrom, f.SyncTo-f.SyncFrom, int(rangeFlags)))
			}
		case engines.Syncfs:
			_, _, u.Errno = syscall.RawSyscall(unix.SYS_SYNCFS, uintptr(f.Fd), 0, 0)
		default:
			u.Errno = syscall.EINVAL
		}
		if u.Errno != syscall.EINTR {
			return
		}
	}
}

// Trim discards the range of u, Len bytes long, on a block device. On anything else it fails as fio's does: with ENOTTY on a regular file.
func Trim(u *engines.IO) {
	span := [2]uint64{uint64(u.Offset), uint64(u.Len)}
	for {
		_, _, u.Errno = syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(u.File.Fd), unix.BLKDISCARD,
			uintptr(unsafe.Pointer(&span[0])))
		if u.Errno != syscall.EINTR {
			break
		}
	}
	u.Done = 0
	if u.Errno == 0 {
		u.Done = u.Len
	}
}

func errnoOf(err error) syscall.Errno {
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	return 0
}
