package ring

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kernel is the system calls that a Ring makes, so that a test can play the other side of the shared memory.
// An errno of 0 is success.
type Kernel struct {
	Setup func(entries uint32, p *Params) (fd int, errno syscall.Errno)
	// Enter may sleep, and the thread keeps its processor of the Go runtime meanwhile.
	Enter    func(fd int, submit, complete, flags uint32, arg unsafe.Pointer, size uintptr) (n int, errno syscall.Errno)
	Register func(fd int, op uint32, arg unsafe.Pointer, n uint32) (ret int, errno syscall.Errno)
	// Map maps n bytes of the ring at offset; with fd -1 it maps n bytes of fresh memory.
	Map   func(fd int, offset int64, n uintptr) (unsafe.Pointer, error)
	Unmap func(p unsafe.Pointer, n uintptr) error
	Close func(fd int) error
}

// Linux is the real kernel.
var Linux = &Kernel{
	Setup: func(entries uint32, p *Params) (int, syscall.Errno) {
		fd, _, errno := syscall.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(p)), 0)
		return int(fd), errno
	},
	Enter: func(fd int, submit, complete, flags uint32, arg unsafe.Pointer, size uintptr) (int, syscall.Errno) {
		n, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(fd), uintptr(submit), uintptr(complete),
			uintptr(flags), uintptr(arg), size)
		return int(n), errno
	},
	Register: func(fd int, op uint32, arg unsafe.Pointer, n uint32) (int, syscall.Errno) {
		ret, _, errno := syscall.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(fd), uintptr(op), uintptr(arg),
			uintptr(n), 0, 0)
		return int(ret), errno
	},
	Map: func(fd int, offset int64, n uintptr) (unsafe.Pointer, error) {
		flags := unix.MAP_SHARED | unix.MAP_POPULATE
		if fd < 0 {
			flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_POPULATE
		}
		return unix.MmapPtr(fd, offset, nil, n, unix.PROT_READ|unix.PROT_WRITE, flags)
	},
	Unmap: unix.MunmapPtr,
	Close: unix.Close,
}
