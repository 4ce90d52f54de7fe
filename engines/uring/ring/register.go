package ring

import (
	"fmt"
	"syscall"
	"unsafe"

	"fiord/internal/feature"
)

// Ops is the set of operations a kernel has.
type Ops [256]bool

// Probe asks the kernel for its operations. Before Linux 5.6 it cannot be asked and has those of 5.1.
func (r *Ring) Probe() (Ops, error) {
	var ops Ops
	var table probeTable
	_, errno := r.k.Register(r.fd, IORING_REGISTER_PROBE, unsafe.Pointer(&table), uint32(len(table.Ops)))
	switch errno {
	case 0:
	case syscall.EINVAL:
		for op := IORING_OP_NOP; op <= IORING_OP_WRITE_FIXED; op++ {
			ops[op] = true
		}
		return ops, nil
	default:
		return ops, fmt.Errorf("io_uring: probing operations: %w", errno)
	}
	for _, o := range table.Ops[:table.OpsLen] {
		ops[o.Op] = o.Flags&IO_URING_OP_SUPPORTED != 0
	}
	return ops, nil
}

// RegisterBuffers pins memory, so that the fixed operations need not look it up. At most MaxBuffers of MaxBufferSize.
func (r *Ring) RegisterBuffers(bufs []Iovec) error {
	if len(bufs) == 0 {
		return nil
	}
	_, errno := r.k.Register(r.fd, IORING_REGISTER_BUFFERS, unsafe.Pointer(&bufs[0]), uint32(len(bufs)))
	switch errno {
	case 0:
		return nil
	case syscall.ENOMEM:
		return fmt.Errorf("io_uring: registering %d buffers: %w (the limit on locked memory, ulimit -l, may be too low)",
			len(bufs), errno)
	default:
		return fmt.Errorf("io_uring: registering %d buffers: %w", len(bufs), errno)
	}
}

// RegisterFiles makes a table of descriptors; -1 leaves a slot empty (Linux 5.5).
func (r *Ring) RegisterFiles(fds []int32) error {
	if len(fds) == 0 {
		return nil
	}
	_, errno := r.k.Register(r.fd, IORING_REGISTER_FILES, unsafe.Pointer(&fds[0]), uint32(len(fds)))
	switch errno {
	case 0:
		return nil
	case syscall.EMFILE:
		return fmt.Errorf("io_uring: registering %d files: %w (the limit on open files, ulimit -n, may be too low)",
			len(fds), errno)
	default:
		return fmt.Errorf("io_uring: registering %d files: %w", len(fds), errno)
	}
}

// UpdateFile puts another descriptor, or -1, into a slot of the table.
func (r *Ring) UpdateFile(slot uint32, fd int32) error {
	r.wait.file = fd
	up := rsrcUpdate{Offset: slot, Data: uint64(uintptr(unsafe.Pointer(&r.wait.file)))}
	_, errno := r.k.Register(r.fd, IORING_REGISTER_FILES_UPDATE, unsafe.Pointer(&up), 1)
	switch errno {
	case 0:
		return nil
	case syscall.EINVAL:
		if !feature.AtLeast(5, 5) {
			return &feature.Error{Name: "changing io_uring's registered files", Since: "5.5", Err: errno}
		}
	}
	return fmt.Errorf("io_uring: registering descriptor %d in slot %d: %w", fd, slot, errno)
}
