package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ReadHighPriority is the flag of ReadVector by which completions of direct I/O are polled for (RWF_HIPRI, Linux 4.6).
const ReadHighPriority = unix.RWF_HIPRI

// Vector makes the one-entry list of buffers that ReadVector takes. p must not be memory of the Go heap.
func Vector(p []byte) *syscall.Iovec {
	v := &syscall.Iovec{Base: unsafe.SliceData(p)}
	v.SetLen(len(p))
	return v
}

// ReadVector reads into v at offset off (preadv2). EINTR is retried. The thread keeps its processor of the Go runtime meanwhile.
func ReadVector(fd int, v *syscall.Iovec, off int64, flags int) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(v)), 1,
			uintptr(off), uintptr(off>>32), uintptr(flags))
		if errno != syscall.EINTR {
			return int(n), errno
		}
	}
}
