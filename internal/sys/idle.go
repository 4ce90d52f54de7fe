package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SetIdleClass puts the calling thread into SCHED_IDLE: it runs only where no other thread wants to.
func SetIdleClass() error {
	attr := unix.SchedAttr{Size: uint32(unsafe.Sizeof(unix.SchedAttr{})), Policy: unix.SCHED_IDLE}
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		return fmt.Errorf("sched_setattr: %w", err)
	}
	return nil
}
