// Package queue is the ring of one worker as the io_uring engines use it: how many requests may be in it, what happens
// when the kernel takes no more, when Reap looks and when it sleeps, and the registered files and buffers.
//
// It owns no mapping of operations to entries, which is what its engines differ in, and must not know how I/O is
// scheduled or measured.
package queue

import (
	"fmt"
	"syscall"
	"time"

	"fiord/engines"
	"fiord/engines/uring/ring"
)

const (
	// spinLimit is how long Reap looks for completions of a submission thread before it sleeps. fio never sleeps there;
	// a Go thread that never does would hold up the collector.
	spinLimit = time.Millisecond
	// stallLimit is how long the kernel may refuse entries while nothing is in flight, which it does when it is short of memory.
	stallLimit = 30 * time.Second
	stallPause = time.Millisecond
)

// Queue is one worker's ring. All methods belong to the worker's thread. An engine embeds it, writes entries into R and
// reads completions from it.
type Queue struct {
	R      *ring.Ring
	Depth  uint32 // most requests in the ring
	Flight uint32 // requests in the ring

	Files    bool          // entries name files by their place in the table
	Slots    []int32       // descriptor in each place
	SlotErr  syscall.Errno // why the last file could not be registered
	Fixed    bool          // entries name registered buffers
	BufIndex []uint16      // by IO.Index

	Quick bool          // Ring.Push and Ring.Sleep may be used
	Ended []*engines.IO // done outside the ring, waiting for Reap

	sleeps   bool // CanSleep may say so
	sqThread bool
	polled   bool          // waits poll the device
	minWait  time.Duration // how long a wait gathers completions before it is content with one; 0: for ever
	maxWait  time.Duration // most one wait may take before it is begun again; 0: no limit
	asyncOf  int           // one request of so many runs asynchronously; 0: none
	prepared int           // requests since the last such one
}

// Room is how many of n requests can be written now.
func (q *Queue) Room(n int) uint32 { return min(q.Depth-q.Flight, q.R.Space(), uint32(n)) }

// Async is the flag that makes the next request run asynchronously, when it is its turn by force_async.
func (q *Queue) Async() uint8 {
	if q.asyncOf > 0 {
		if q.prepared++; q.prepared == q.asyncOf {
			q.prepared = 0
			return ring.IOSQE_ASYNC
		}
	}
	return 0
}

// HandOver publishes n entries and submits them. It reports how many the kernel took.
func (q *Queue) HandOver(n uint32) (uint32, error) {
	q.R.Publish(n)
	q.Flight += n
	if err := q.R.Submit(); err != nil {
		return q.refused(n, err)
	}
	return n, nil
}

// Again submits the entry that Ring.Push could not hand over, after Flight has counted it.
func (q *Queue) Again() (int, error) {
	if err := q.R.Submit(); err != nil {
		n, err := q.refused(1, err)
		return int(n), err
	}
	return 1, nil
}

// refused goes on after an error of Submit, which had n entries to hand over. What a busy kernel has no room for goes back to the
// worker, who reaps before it comes again; with nothing to reap, it is offered until the kernel takes it.
func (q *Queue) refused(n uint32, err error) (uint32, error) {
	for start := time.Now(); err == ring.ErrBusy; err = q.R.Submit() { //nolint:errorlint // never wrapped
		back := q.takeBack()
		n -= back
		if q.Flight > 0 || len(q.Ended) > 0 || n > 0 {
			return n, nil
		}
		if time.Since(start) > stallLimit {
			return 0, fmt.Errorf("io_uring: the kernel refuses requests although none is in flight: %w", syscall.EAGAIN)
		}
		time.Sleep(stallPause)
		q.R.Publish(back)
		q.Flight += back
		n += back
	}
	if err != nil && !q.sqThread { // what the kernel did not take will never complete, so Close must not wait for it
		n -= q.takeBack()
	}
	return n, err
}

// takeBack withdraws the entries that the kernel has not taken, and tells how many. They stay written.
func (q *Queue) takeBack() uint32 {
	back := q.R.Withdraw()
	q.Flight -= back
	return back
}

// Ready is how many completions can be taken now, room at most.
func (q *Queue) Ready(room int) uint32 { return min(q.R.Ready(), uint32(room)) }

// Taken gives n completions that were read back to the kernel.
func (q *Queue) Taken(n uint32) {
	q.R.Advance(n)
	q.Flight -= n
}

// await makes completions show, after Ready told of too few: want more of them than the got that were taken, with room for
// as many as room. It sleeps for at most wait (negative: no limit). The caller then takes what is Ready; again tells that
// it has to come back for the rest.
func (q *Queue) await(want, room, got int, wait time.Duration) (again bool, err error) {
	want = min(want, room, int(q.Flight))
	if q.Flight == 0 {
		return false, nil
	}
	if err := q.R.Lost(); err != nil {
		return false, err
	}
	if want <= 0 || wait == 0 {
		if q.R.Stalled() {
			return false, q.R.Flush()
		}
		return false, nil
	}
	if q.polled {
		// While completions lie in the ring unread, the kernel does not poll for more.
		return want > 1, q.R.Wait(1, wait)
	}
	n := min(uint32(want), q.R.Params().CQEntries) // no more can be ready at once
	again = uint32(want) > n
	if q.sqThread && q.spin(n, wait) {
		return again, nil
	}
	if got > 0 && q.minWait > 0 { // content with those, once the least wait is over
		if wait < 0 || wait > q.minWait {
			wait = q.minWait
		}
		return false, q.R.Wait(n, wait)
	}
	if err := q.wait(n, wait); err != nil {
		return false, err
	}
	if q.R.Ready() < n {
		return false, q.R.Lost()
	}
	return again, nil
}

// A Drainer stores ready completions, as many as done has room for, and tells the ring of it by Taken. It checks no stack
// (nosplit) before they have a stamp, lest the thread yields there.
type Drainer interface {
	Drain(done []*engines.IO) (int, error)
}

// Reaper keeps the rules of Reap for an engine.
func (q *Queue) Reaper(done []*engines.IO, least int, wait time.Duration, from Drainer) (int, error) {
	got := 0
	if len(q.Ended) > 0 {
		got = q.TakeEnded(done)
	}
	n, err := from.Drain(done[got:])
	got += n
	if err != nil || got >= least && got > 0 || got == len(done) {
		return got, err
	}
	return q.Rest(done, got, least, wait, from)
}

// CanSleep reports whether Ring.Sleep is all there is to do for the first min completions, when got were ready. Rest does the
// same in more calls, from which the thread has to return once it has slept; it also knows when a look needs no system call.
func (q *Queue) CanSleep(got, min int, wait time.Duration) bool {
	return q.sleeps && got == 0 && wait < 0 && min > 0 && min <= int(q.Flight) && q.R.Lost() == nil
}

// Rest is Reaper once got completions were taken, which are not enough.
func (q *Queue) Rest(done []*engines.IO, got, least int, wait time.Duration, from Drainer) (int, error) {
	var start time.Time
	if wait > 0 {
		start = time.Now()
	}
	for left := wait; ; left = max(wait-time.Since(start), 0) {
		if wait < 0 {
			left = wait
		}
		again, err := q.await(least-got, len(done)-got, got, left)
		if err != nil {
			return got, err
		}
		n, err := from.Drain(done[got:])
		got += n
		if err != nil || !again || got >= least || got == len(done) {
			return got, err
		}
	}
}

// wait sleeps for n completions, by the job's own wishes where it has some.
func (q *Queue) wait(n uint32, limit time.Duration) error {
	if q.minWait == 0 && (q.maxWait == 0 || limit >= 0) {
		return q.R.Wait(n, limit)
	}
	if limit >= 0 {
		return q.R.WaitMin(n, limit, q.minWait)
	}
	least := n
	if q.minWait > 0 {
		least = 1
	}
	for q.R.Ready() < least {
		most := q.maxWait
		if most == 0 {
			most = time.Minute
		}
		if err := q.R.WaitMin(n, most, q.minWait); err != nil {
			return err
		}
		if err := q.R.Lost(); err != nil {
			return err
		}
	}
	return nil
}

// spin looks for n completions without a system call: with a submission thread the point is to make none.
func (q *Queue) spin(n uint32, wait time.Duration) bool {
	limit := spinLimit
	if wait >= 0 {
		limit = min(limit, wait)
	}
	for start := time.Now(); ; {
		for range 256 {
			if q.R.Ready() >= n {
				return true
			}
		}
		if time.Since(start) >= limit {
			return false
		}
	}
}

// TakeEnded stores what was done outside the ring, as much as done has room for.
func (q *Queue) TakeEnded(done []*engines.IO) int {
	n := copy(done, q.Ended)
	rest := copy(q.Ended, q.Ended[n:])
	q.Ended = q.Ended[:rest]
	return n
}

// Calls counts the system calls of the ring.
func (q *Queue) Calls() (submits, reaps uint64) { return q.R.Enters() }

// Close waits for what is in flight, then releases the ring.
func (q *Queue) Close() error {
	var first error
	for q.Flight > 0 && first == nil {
		if first = q.R.Lost(); first == nil {
			first = q.R.Wait(1, -1)
		}
		q.Taken(q.R.Ready())
	}
	if err := q.R.Close(); first == nil {
		first = err
	}
	return first
}
