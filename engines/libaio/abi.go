package libaio

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The kernel's structures, as include/uapi/linux/aio_abi.h has them on little-endian machines.

type iocb struct {
	data     uint64 // handed back in the event: the IO's index
	key      uint32
	rwFlags  uint32 // RWF_*
	opcode   uint16
	reqprio  uint16
	fd       uint32
	buf      uint64
	nbytes   uint64
	offset   int64
	reserved uint64
	flags    uint32 // iocbFlag*
	resfd    uint32
}

type ioEvent struct {
	data uint64
	obj  uint64
	res  int64 // bytes, or an errno below 0
	res2 int64
}

// ring is the head of the mapping that a context is: the kernel writes events behind it and moves tail, and who reaps
// moves head.
type ring struct {
	id, nr     uint32
	head, tail uint32
	magic      uint32
	compat     uint32
	incompat   uint32
	headerLen  uint32
}

var (
	_ [64]byte = [unsafe.Sizeof(iocb{})]byte{}
	_ [32]byte = [unsafe.Sizeof(ioEvent{})]byte{}
	_ [32]byte = [unsafe.Sizeof(ring{})]byte{}
)

const (
	iocbCmdPread  = 0
	iocbCmdPwrite = 1
	iocbCmdFsync  = 2
	iocbCmdFdsync = 3
	iocbCmdPreadv = 7
	iocbCmdPwritv = 8

	iocbFlagIOPrio = 1 << 1 // since Linux 4.18

	ringMagic = 0xa10a10a1
)

func ioSetup(depth int, ctx *uintptr) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IO_SETUP, uintptr(depth), uintptr(unsafe.Pointer(ctx)), 0)
	return errno
}

func ioDestroy(ctx uintptr) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IO_DESTROY, ctx, 0, 0)
	return errno
}

// ioSubmit may sleep: where the file system cannot do the I/O at once, the kernel does it inside the call.
func ioSubmit(ctx uintptr, list *uintptr, n int) (int, syscall.Errno) {
	got, _, errno := syscall.RawSyscall(syscall.SYS_IO_SUBMIT, ctx, uintptr(n), uintptr(unsafe.Pointer(list)))
	return int(got), errno
}

// ioGetEvents sleeps only when least is above 0.
func ioGetEvents(ctx uintptr, least int, events []ioEvent, timeout *syscall.Timespec) (int, syscall.Errno) {
	got, _, errno := syscall.RawSyscall6(syscall.SYS_IO_GETEVENTS, ctx, uintptr(least), uintptr(len(events)),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(unsafe.Pointer(timeout)), 0)
	return int(got), errno
}

// mapped turns the number that io_setup returned, which is the address of the ring, into a pointer to it. The detour
// through the address of the number keeps go vet's rule on integers turned into pointers; the memory is not Go's.
func mapped(ctx *uintptr) *ring { return *(**ring)(unsafe.Pointer(ctx)) }

// take moves finished events out of the ring without a system call.
func (r *ring) take(events []ioEvent) int {
	size := r.nr
	first := (*ioEvent)(unsafe.Add(unsafe.Pointer(r), r.headerLen))
	ready := unsafe.Slice(first, size)
	head := r.head // only this thread moves it
	tail := atomic.LoadUint32(&r.tail)
	n := 0
	for head != tail && n < len(events) {
		events[n] = ready[head]
		n++
		if head++; head == size {
			head = 0
		}
	}
	if n > 0 {
		atomic.StoreUint32(&r.head, head)
	}
	return n
}
