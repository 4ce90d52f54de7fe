package ring

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SubmitAndWait enters once: it hands all published entries over and, with n above 0, stays in the same call until n
// completions are ready. n must not be above the number of requests in flight. With n 0 it does not look for completions
// that wait for an enter, which Stalled tells of. A nil error does not mean that all is done: a signal or an entry that
// the kernel could not take ends the call early, as Pending and Ready tell. ErrBusy is as with Submit. Not for a ring
// with IORING_SETUP_SQPOLL.
func (r *Ring) SubmitAndWait(n uint32) error {
	todo := r.tail - r.sent
	flags := r.enterFlags
	if n > 0 {
		flags |= IORING_ENTER_GETEVENTS
	}
	r.enters++
	got, errno := r.enter(todo, n, flags)
	if errno == 0 && uint32(got) == todo {
		r.sent += todo
		return nil
	}
	r.sent = r.kHead.Load()
	return submitError(todo, errno)
}

// submitError sorts the answers of an enter that was to hand n entries over.
func submitError(n uint32, errno syscall.Errno) error {
	switch errno {
	case 0, syscall.EINTR, syscall.ETIME:
		return nil // Pending and Ready tell whether to go on
	case syscall.EAGAIN, syscall.EBUSY:
		return ErrBusy
	case syscall.EBADR:
		return ErrLost
	}
	return fmt.Errorf("io_uring_enter: submitting %d entries: %w", n, errno)
}

// enter hands entries over and waits until so many completions are ready. The real kernel is called by its name: that touches
// less memory than a call through Kernel, which can be felt where a system call costs what the processor had remembered of
// the page tables.
func (r *Ring) enter(submit, complete, flags uint32) (int, syscall.Errno) {
	if r.fake {
		return r.k.Enter(r.enterFd, submit, complete, flags, nil, 0)
	}
	got, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.enterFd), uintptr(submit), uintptr(complete),
		uintptr(flags), 0, 0)
	return int(got), errno
}

// SQEs is the next n places that SQE gives one by one, in two pieces, since the ring may end between them. n must not be
// above Space. Not for a ring with IORING_SETUP_SQE128.
func (r *Ring) SQEs(n uint32) (first, rest []SQE) {
	at := r.tail & r.sqMask
	k := min(n, r.sqMask+1-at)
	return unsafe.Slice((*SQE)(unsafe.Add(r.sqes, uintptr(at)<<6)), k), unsafe.Slice((*SQE)(r.sqes), n-k)
}

// CQEs is the next n completions that CQE gives one by one, in two pieces. n must not be above Ready. Not for a ring with
// IORING_SETUP_CQE32.
func (r *Ring) CQEs(n uint32) (first, rest []CQE) {
	at := r.head & r.cqMask
	k := min(n, r.cqMask+1-at)
	return unsafe.Slice((*CQE)(unsafe.Add(r.cqes, uintptr(at)<<4)), k), unsafe.Slice((*CQE)(r.cqes), n-k)
}
