package ring

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

// ErrBusy is Submit's answer when the kernel cannot take more at the moment, for want of memory or of room for
// completions. The entries it did not take stay published; reap and submit again, or Withdraw them.
var ErrBusy = errors.New("io_uring: the kernel takes no more entries at the moment")

// ErrLost says that the kernel dropped entries or completions, so that the count of I/O can no longer be right.
var ErrLost = errors.New("io_uring: the kernel lost entries or completions")

// Params is what the kernel answered at set-up: sizes, flags that are really on, features.
func (r *Ring) Params() *Params { return &r.params }

// RegisteredFd reports whether enters go by a registered descriptor.
func (r *Ring) RegisteredFd() bool { return r.registered }

// RegisteredWait reports whether waits with a time limit take their argument from registered memory.
func (r *Ring) RegisteredWait() bool { return r.regWait }

// Enters is how many system calls handed entries over or woke the kernel thread, and how many looked or waited for
// completions.
func (r *Ring) Enters() (submits, reaps uint64) { return r.enters, r.waits }

// Space is how many entries can be written and published.
func (r *Ring) Space() uint32 { return r.params.SQEntries - (r.tail - r.kHead.Load()) }

// SQE is the entry i places behind the last published one. i must be below Space. The entry holds old contents: write
// all of it.
func (r *Ring) SQE(i uint32) *SQE {
	return (*SQE)(unsafe.Add(r.sqes, uintptr((r.tail+i)&r.sqMask)<<r.sqShift))
}

// SQE128 is SQE for a ring with IORING_SETUP_SQE128.
func (r *Ring) SQE128(i uint32) *SQE128 { return (*SQE128)(unsafe.Pointer(r.SQE(i))) }

// Publish makes the next n entries visible to the kernel. The store releases them: whoever sees the new tail sees the
// entries whole.
func (r *Ring) Publish(n uint32) {
	r.tail += n
	r.kTail.Store(r.tail)
}

// Submit hands all published entries over, without waiting for any to complete. ErrBusy and other errors leave some
// with us, as Pending tells.
func (r *Ring) Submit() error {
	if r.sqThread {
		return r.wake()
	}
	for {
		n := r.tail - r.sent
		if n == 0 {
			return nil
		}
		r.enters++
		// GETEVENTS with nothing to wait for runs deferred task work, so that completions show without another enter.
		got, errno := r.enter(n, 0, r.enterFlags|IORING_ENTER_GETEVENTS)
		if errno == 0 && uint32(got) == n {
			r.sent += n
			return nil
		}
		// What was taken is told by the kernel's head alone, whatever interrupted the call.
		before := r.sent
		r.sent = r.kHead.Load()
		switch {
		case errno == syscall.EINTR:
		case errno == syscall.EAGAIN || errno == syscall.EBUSY:
			return ErrBusy
		case errno == syscall.EBADR:
			return ErrLost
		case errno != 0:
			return fmt.Errorf("io_uring_enter: submitting %d entries: %w", n, errno)
		case r.sent == before:
			return ErrBusy
		}
	}
}

// wake gets the kernel thread going where it sleeps. The atomic store of the tail before and the load here are in one
// total order, so either the thread sees the entries or we see that it sleeps.
func (r *Ring) wake() error {
	for r.kFlags.Load()&IORING_SQ_NEED_WAKEUP != 0 {
		r.enters++
		_, errno := r.enter(r.tail-r.kHead.Load(), 0, r.enterFlags|IORING_ENTER_SQ_WAKEUP)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return fmt.Errorf("io_uring_enter: waking the submission thread: %w", errno)
		}
	}
	return nil
}

// Pending is how many published entries the kernel has not taken.
func (r *Ring) Pending() uint32 { return r.tail - r.kHead.Load() }

// Withdraw takes back the entries that the kernel has not taken, the youngest ones, and tells how many. Not for a ring
// with IORING_SETUP_SQPOLL, whose thread may be reading them.
func (r *Ring) Withdraw() uint32 {
	n := r.tail - r.kHead.Load()
	r.tail -= n
	r.kTail.Store(r.tail)
	return n
}

// Ready is how many completions can be read. The load acquires them: each is whole.
func (r *Ring) Ready() uint32 { return r.kCQTail.Load() - r.head }

// CQE is the completion i places behind the last one given back. i must be below Ready.
func (r *Ring) CQE(i uint32) *CQE {
	return (*CQE)(unsafe.Add(r.cqes, uintptr((r.head+i)&r.cqMask)<<r.cqShift))
}

// CQE32 is CQE for a ring with IORING_SETUP_CQE32.
func (r *Ring) CQE32(i uint32) *CQE32 { return (*CQE32)(unsafe.Pointer(r.CQE(i))) }

// Advance gives n completions back to the kernel, which may overwrite them from then on.
func (r *Ring) Advance(n uint32) {
	r.head += n
	r.kCQHead.Store(r.head)
}

// Lost reports ErrLost when the kernel ever dropped an entry or a completion.
func (r *Ring) Lost() error {
	if r.kOverflow.Load() != 0 || r.kDropped.Load() != 0 {
		return ErrLost
	}
	return nil
}

// Stalled reports whether completions may be waiting for an enter to show them: deferred task work, an overflow list,
// or a device that has to be polled.
func (r *Ring) Stalled() bool {
	return r.polled || r.mute || r.kFlags.Load()&(IORING_SQ_TASKRUN|IORING_SQ_CQ_OVERFLOW) != 0
}

// Flush enters the kernel once without sleeping, so that Ready shows all there is.
func (r *Ring) Flush() error {
	r.waits++
	_, errno := r.enter(0, 0, r.enterFlags|IORING_ENTER_GETEVENTS)
	return waitError(errno)
}

// Wait sleeps until n completions are ready or the limit has passed; a negative limit is none. It returns nil in
// either case, Ready tells. n must not be above the number of requests in flight, nor above the completion entries.
func (r *Ring) Wait(n uint32, limit time.Duration) error {
	var deadline time.Time
	if limit >= 0 {
		deadline = time.Now().Add(limit)
	}
	for r.Ready() < n {
		if limit < 0 {
			r.waits++
			_, errno := r.enter(0, n, r.enterFlags|IORING_ENTER_GETEVENTS)
			if err := waitError(errno); err != nil {
				return err
			}
			continue
		}
		rest := time.Until(deadline)
		if rest <= 0 {
			return r.Flush()
		}
		if err := r.waitFor(n, rest, 0); err != nil {
			return err
		}
	}
	return nil
}

// WaitMin enters once: it sleeps until n completions are ready, or least has passed and there is one, or the limit has
// passed. It needs Config.MinWait unless least is 0. Ready tells what came.
func (r *Ring) WaitMin(n uint32, limit, least time.Duration) error {
	if r.Ready() >= n {
		return nil
	}
	return r.waitFor(n, limit, least)
}

// waitFor enters once and sleeps for at most the limit.
func (r *Ring) waitFor(n uint32, limit, least time.Duration) error {
	r.waits++
	ts := Timespec{Sec: int64(limit / time.Second), Nsec: int64(limit % time.Second)}
	flags := r.enterFlags | IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG
	var errno syscall.Errno
	switch w := r.wait; {
	case r.regWait:
		// The argument is an offset into the registered region, and the page begins with it.
		w.reg.Timeout, w.reg.Flags, w.reg.MinWaitUsec = ts, IORING_REG_WAIT_TS, uint32(least/time.Microsecond)
		_, errno = r.k.Enter(r.enterFd, 0, n, flags|IORING_ENTER_EXT_ARG_REG, nil, unsafe.Sizeof(w.reg))
	case r.params.Features&IORING_FEAT_EXT_ARG != 0:
		w.ts = ts
		w.arg = getEventsArg{Timeout: uint64(uintptr(unsafe.Pointer(&w.ts))), MinWaitUsec: uint32(least / time.Microsecond)}
		_, errno = r.k.Enter(r.enterFd, 0, n, flags, unsafe.Pointer(&w.arg), unsafe.Sizeof(w.arg))
	default:
		// Before Linux 5.11 enter has no time limit: look, and sleep in small steps.
		_, errno = r.enter(0, 0, r.enterFlags|IORING_ENTER_GETEVENTS)
		if r.Ready() < n {
			time.Sleep(min(limit, 50*time.Microsecond))
		}
	}
	return waitError(errno)
}

// waitError sorts the answers of an enter that looked or waited for completions.
//
//go:nosplit
func waitError(errno syscall.Errno) error {
	switch errno {
	case 0, syscall.EINTR, syscall.ETIME, syscall.EAGAIN, syscall.EBUSY:
		return nil // Ready tells whether to go on
	case syscall.EBADR:
		return ErrLost
	}
	return fmt.Errorf("io_uring_enter: waiting for completions: %w", errno)
}
