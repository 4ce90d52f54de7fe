package sys

import (
	"os/exec"
	"runtime"
	"unsafe" // also for go:linkname

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

// StayOn drops the runtime's request that this thread yield, if there is one: what the next function call would act on. A
// yield of a locked thread wakes another and waits to be woken by it, which an I/O of some 100 us feels. The runtime asks
// again every 10 ms, and every 100 us when it is to stop all goroutines, so who wants that must keep threads from StayOn.
// It checks no stack (nosplit), so it can follow a system call at once.
//
//go:nosplit
func StayOn() {
	procPin()
	checkStack()
	procUnpin()
}

// checkStack has the prologue that looks for a request to yield, and while the thread is pinned lets it pass.
//
//go:noinline
func checkStack() { pinned() }

//go:noinline
func pinned() {}

// procPin keeps the runtime from taking the thread's processor, and procUnpin ends that. Their names and types are promised
// to the packages that use them (go.dev/issue/67401).
//
//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
