package libaio

import (
	"syscall"
	"unsafe"

	"fiord/internal/sys"
)

// Reads is a context for plain reads, for a user that is no engine. It belongs to one thread.
type Reads struct {
	ctx    uintptr
	mem    *sys.Arena
	iocbs  []iocb
	list   []uintptr
	events []ioEvent
}

// NewReads makes a context for at most depth reads in flight.
func NewReads(depth int) (*Reads, error) {
	const perIO = unsafe.Sizeof(iocb{}) + unsafe.Sizeof(ioEvent{}) + unsafe.Sizeof(uintptr(0))
	mem, err := sys.NewArena("malloc", depth*int(perIO), 0, 0, "")
	if err != nil {
		return nil, err
	}
	r := &Reads{mem: mem}
	at := unsafe.Pointer(unsafe.SliceData(mem.Mem))
	r.iocbs = unsafe.Slice((*iocb)(at), depth)
	at = unsafe.Add(at, depth*int(unsafe.Sizeof(iocb{})))
	r.events = unsafe.Slice((*ioEvent)(at), depth)
	at = unsafe.Add(at, depth*int(unsafe.Sizeof(ioEvent{})))
	r.list = unsafe.Slice((*uintptr)(at), depth)
	for i := range r.list {
		r.list[i] = uintptr(unsafe.Pointer(&r.iocbs[i]))
	}
	if errno := ioSetup(depth, &r.ctx); errno != 0 {
		_ = mem.Close()
		return nil, setupError(depth, errno)
	}
	return r, nil
}

// Set fills place i of the next batch: n bytes at off of fd go to addr, and data comes back with the event.
func (r *Reads) Set(i int, fd int32, addr uint64, n uint32, off int64, data uint64) {
	r.iocbs[i] = iocb{data: data, opcode: iocbCmdPread, fd: uint32(fd), buf: addr, nbytes: uint64(n), offset: off}
}

// Submit hands places from to to-1 of the batch to the kernel, and tells how many it took.
func (r *Reads) Submit(from, to int) (int, syscall.Errno) {
	if from == to {
		return 0, 0
	}
	n, errno := ioSubmit(r.ctx, &r.list[from], to-from)
	if errno != 0 {
		n = 0
	}
	return n, errno
}

// Wait takes ended reads, at most the depth, and sleeps until there are least of them. A signal ends it early, with
// EINTR or fewer events.
func (r *Reads) Wait(least int) (int, syscall.Errno) {
	n, errno := ioGetEvents(r.ctx, least, r.events, nil)
	if errno != 0 {
		n = 0
	}
	return n, errno
}

// Event is ended read i of the last Wait: its data, and its bytes or an errno below 0.
func (r *Reads) Event(i int) (data uint64, res int64) {
	return r.events[i].data, r.events[i].res
}

// Close waits for the reads in flight and gives the context back.
func (r *Reads) Close() error {
	errno := ioDestroy(r.ctx)
	if err := r.mem.Close(); err != nil {
		return err
	}
	if errno != 0 {
		return errno
	}
	return nil
}
