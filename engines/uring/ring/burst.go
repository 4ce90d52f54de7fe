package ring

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Burst does up to so many rounds of the same: it hands over the next n entries as they stand, in one call that stays until
// wait completions are ready, and takes n completions, whose results must all be want. It is for entries that need no
// writing between rounds, when nothing is in flight before. Where something else happens it ends early: what the last
// round handed over is in flight then, and its completions are there to be read; the error is as with SubmitAndWait. done
// counts whole rounds. n must be above 0 and not above the entries. Not for a ring with IORING_SETUP_SQPOLL,
// IORING_SETUP_SQE128 or IORING_SETUP_CQE32.
func (r *Ring) Burst(n, wait uint32, want int32, rounds int) (done int, err error) {
	if !fastBurst || r.fake {
		return r.burst(n, wait, want, rounds)
	}
	b := burst{fd: uint32(r.enterFd), n: n, wait: wait, flags: r.enterFlags, want: want, mask: r.cqMask, tail: r.tail,
		head: r.head, kTail: r.kTail, kCQTail: r.kCQTail, kCQHead: r.kCQHead, cqes: r.cqes, rounds: rounds}
	if wait > 0 {
		b.flags |= IORING_ENTER_GETEVENTS
	}
	runBurst(&b)
	done = rounds - b.rounds
	r.enters += uint64(done)
	r.tail, r.head, r.sent = b.tail, b.head, r.kHead.Load()
	if b.rounds > 0 {
		r.enters++
		err = submitError(n, syscall.Errno(max(-b.got, 0)))
	}
	return done, err
}

// burst is Burst by the methods for single steps.
func (r *Ring) burst(n, wait uint32, want int32, rounds int) (done int, err error) {
	for ; done < rounds; done++ {
		r.Publish(n)
		if err := r.SubmitAndWait(wait); err != nil || r.Pending() > 0 || r.Ready() != n {
			return done, err
		}
		for i := range n {
			if r.CQE(i).Res != want {
				return done, nil
			}
		}
		r.Advance(n)
	}
	return done, nil
}

// burst is what the fast loop of Burst keeps in registers, so that between two calls it touches its code and the shared
// ring, and nothing else: each further page is felt where a system call costs what the processor had remembered of the
// page tables.
type burst struct {
	fd, n, wait, flags uint32
	want               int32
	mask               uint32 // of the completions
	tail, head         uint32
	kTail              *atomic.Uint32
	kCQTail            *atomic.Uint32
	kCQHead            *atomic.Uint32
	cqes               unsafe.Pointer
	rounds             int   // still to be done
	got                int32 // what the last call returned
}
