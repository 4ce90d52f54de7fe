package sys

import (
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BlockPreemption keeps from this thread the signal by which the Go runtime asks it every 10 ms to yield (SIGURG): it would
// end waits in the kernel early. The thread yields at its next function call instead.
func BlockPreemption() error {
	set := preemption()
	return unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil)
}

// StartProgram is c.Start for this thread: the program inherits what the thread is, but not that the signal is blocked.
func StartProgram(c *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set := preemption()
	var before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_UNBLOCK, &set, &before); err != nil {
		return err
	}
	err := c.Start()
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) // it fails for bad arguments alone
	return err
}

// preemption is the set of the one signal.
func preemption() (set unix.Sigset_t) {
	bits := 8 * uint(unsafe.Sizeof(set.Val[0]))
	signal := uint(unix.SIGURG) - 1
	set.Val[signal/bits] |= 1 << (signal % bits)
	return set
}
