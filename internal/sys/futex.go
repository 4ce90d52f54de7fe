package sys

import (
	"math"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of futex(2) on a word that no other process sees.
const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// WaitWhile puts the thread to sleep while word holds value, until WakeAll wakes it or wait is over (0: no limit). It may
// return for no reason: the caller looks at the word. It reports false when it waited in vain for all of wait. The thread
// keeps its processor of the Go runtime meanwhile, so the runtime has nothing to do to let it go on.
func WaitWhile(word *atomic.Uint32, value uint32, wait time.Duration) bool {
	var ts *unix.Timespec
	if wait > 0 {
		limit := unix.NsecToTimespec(int64(wait))
		ts = &limit
	}
	_, _, errno := syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitPrivate, uintptr(value),
		uintptr(unsafe.Pointer(ts)), 0, 0)
	return errno != syscall.ETIMEDOUT
}

// WakeAll wakes every thread that WaitWhile has put to sleep on word.
func WakeAll(word *atomic.Uint32) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakePrivate, math.MaxInt32, 0, 0, 0)
}
