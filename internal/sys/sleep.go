package sys

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepFor is how long a sleep may be in which the thread keeps its processor of the Go runtime. Giving it up makes the
// runtime's monitor look around every 20 us for a while, each time with an interrupt on some CPU; keeping it makes a
// garbage collection wait.
const keepFor = 10 * time.Millisecond

// Sleep puts the calling thread to sleep for d, or less when a signal wakes it. Unlike time.Sleep it leaves the goroutine
// on its thread, so that the wake-up is as late as the kernel's timer slack and no later.
func Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	if d > keepFor {
		_ = unix.Nanosleep(&ts, nil) // EINTR only: the caller looks at the clock
		return
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
