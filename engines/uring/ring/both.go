package ring

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SubmitAndWait enters once: it hands all published entries over and, with n above 0, stays in the same call until n
// completions are ready. n must not be above the number of requests in flight. sleeps tells whether that can take time, so
// that the runtime is told; it is false for requests that end while they are handed over. With n 0 it does not look for completions
// that wait for an enter, which Stalled tells of. A nil error does not mean that all is done: a signal or an entry that
// the kernel could not take ends the call early, as Pending and Ready tell. ErrBusy is as with Submit. Not for a ring
// with IORING_SETUP_SQPOLL.
func (r *Ring) SubmitAndWait(n uint32, sleeps bool) error {
	todo := r.tail - r.sent
	var got int
	var errno syscall.Errno
	r.enters++
	switch {
	case n == 0:
		got, errno = r.enterNow(todo, 0, r.enterFlags)
	case sleeps:
		got, errno = r.k.Enter(r.enterFd, todo, n, r.enterFlags|IORING_ENTER_GETEVENTS, nil, 0)
	default:
		got, errno = r.enterNow(todo, n, r.enterFlags|IORING_ENTER_GETEVENTS)
	}
	if errno == 0 && uint32(got) == todo {
		r.sent += todo
		return nil
	}
	r.sent = r.kHead.Load()
	switch errno {
	case 0, syscall.EINTR, syscall.ETIME:
		return nil
	case syscall.EAGAIN, syscall.EBUSY:
		return ErrBusy
	case syscall.EBADR:
		return ErrLost
	}
	return fmt.Errorf("io_uring_enter: submitting %d entries: %w", todo, errno)
}

// enterNow enters without telling the runtime. The real kernel is called by its name: that touches less memory than a call
// through Kernel, which can be felt where a system call costs what the processor had remembered of the page tables.
func (r *Ring) enterNow(todo, n, flags uint32) (int, syscall.Errno) {
	if r.k != Linux {
		return r.k.EnterNow(r.enterFd, todo, n, flags)
	}
	got, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.enterFd), uintptr(todo), uintptr(n), uintptr(flags), 0, 0)
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
