package sys

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ResetSignal gives a signal back the effect that the kernel gives it, such as the end of the process, where the Go runtime
// has an effect of its own: of SIGQUIT it prints all stacks. Package os/signal knows of none but the runtime's.
func ResetSignal(sig syscall.Signal) error {
	// The kernel's struct sigaction. All zeroes mean the default on every machine, whatever the order of the fields.
	var action [8]uint64
	const setSize = 8 // bytes of a signal set
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, setSize, 0, 0); e != 0 {
		return fmt.Errorf("reset signal %v: %w", sig, e)
	}
	return nil
}
