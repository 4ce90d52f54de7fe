package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ReadHighPriority is the flag of ReadVector by which completions of direct I/O are polled for (RWF_HIPRI, Linux 4.6).
const ReadHighPriority = unix.RWF_HIPRI

// Vector makes the one-entry list of buffers that ReadVector takes. p must not be memory of the Go heap.
func Vector(p []byte) syscall.Iovec {
	v := syscall.Iovec{Base: unsafe.SliceData(p)}
	v.SetLen(len(p))
	return v
}

// ReadVector reads into v at offset off (preadv2), on a 64-bit machine. The caller retries EINTR: without a loop this is
// compiled into its place. The thread keeps its processor of the Go runtime meanwhile.
func ReadVector(fd int, v *syscall.Iovec, off, flags uintptr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(v)), 1, off, 0, flags)
	return int(n), errno
}
