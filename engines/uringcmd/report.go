package uringcmd

import (
	"fmt"
	"syscall"

	"fiord/engines"
	"fiord/engines/uringcmd/nvme"
)

// alignError is an I/O that is not made of whole blocks.
type alignError struct{ block uint32 }

func (e *alignError) Error() string {
	return fmt.Sprintf("offset and length must be multiples of the drive's %d bytes", e.block)
}

// DecodeError says what the errno of u does not: the drive's status by name, or which check failed. Nil where the errno
// says it all.
func (e *engine) DecodeError(u *engines.IO) error {
	if u.Aux&statusFlag != 0 && u.Errno != 0 {
		return fmt.Errorf("NVMe status: %v", nvme.Status(u.Aux))
	}
	if int(u.Index) < len(e.reasons) && e.reasons[u.Index] != nil {
		return e.reasons[u.Index]
	}
	if u.Errno == syscall.EINTR {
		return fmt.Errorf("%w: the kernel gave the command up, because it timed out or its controller was reset", u.Errno)
	}
	if u.Errno == syscall.EINVAL && u.Op <= engines.Write && len(u.Buf) > 128<<10 {
		return fmt.Errorf("%w: the buffer may lie in more pieces of memory than the drive takes; huge pages (mem=mmaphuge) or a smaller bs help",
			u.Errno)
	}
	return nil
}

// Features names what of io_uring is really on.
func (e *engine) Features() []string {
	names := e.Queue.Features()
	if e.vectored {
		names = append(names, "vectored")
	}
	if e.o.CmdType == "null" {
		names = append(names, "null_device")
	}
	return names
}
