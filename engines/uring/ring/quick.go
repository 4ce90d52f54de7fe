package ring

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The system calls here are made by the function that has to do with their result. Calls inside the kernel take the place of
// ours in the processor's list of return addresses, so that each return after a system call is guessed wrong: with five calls
// less, what follows a sleep in the kernel is done 0.2 us earlier.

// Quick reports whether Push and Sleep may be used: not with a kernel thread that submits, and not for another Kernel than
// Linux.
func (r *Ring) Quick() bool { return !r.fake && !r.sqThread }

// Push is Publish and Submit for one entry. It reports whether the kernel has taken it; if not, Submit tries again, or tells why.
func (r *Ring) Push() bool {
	r.tail++
	r.kTail.Store(r.tail)
	r.enters++
	got, _, _ := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.enterFd), 1, 0,
		uintptr(r.enterFlags|IORING_ENTER_GETEVENTS), 0, 0)
	if got != 1 {
		r.sent = r.kHead.Load()
		return false
	}
	r.sent++
	return true
}

// Sleep enters once to wait for n completions, and reports whether they are ready. If not, Wait goes on, or tells why. n is as
// with Wait.
func (r *Ring) Sleep(n uint32) bool {
	r.waits++
	_, _, _ = syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.enterFd), 0, uintptr(n),
		uintptr(r.enterFlags|IORING_ENTER_GETEVENTS), 0, 0)
	return r.Ready() >= n
}
