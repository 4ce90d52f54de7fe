package sys

import (
	"time"

	"golang.org/x/sys/unix"
)

// Sleep puts the calling thread to sleep for d, or less when a signal wakes it. Unlike time.Sleep it leaves the goroutine
// on its thread, so that the wake-up is as late as the kernel's timer slack and no later.
func Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // EINTR only: the caller looks at the clock
}
