package uring

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"fiord/engines"
	"fiord/engines/cmdprio"
	"fiord/engines/uring/ring"
)

const (
	// maxTransfer is the most the kernel moves in one request (MAX_RW_COUNT for 4 KiB pages).
	maxTransfer = 0x7ffff000
	// spinLimit is how long Reap looks for completions of a submission thread before it sleeps. fio never sleeps there;
	// a Go thread that never does would hold up the collector.
	spinLimit = time.Millisecond
	// stallLimit is how long the kernel may refuse entries while nothing is in flight.
	stallLimit = 30 * time.Second
)

// engine is the ring of one worker. All methods belong to the worker's thread.
type engine struct {
	r   *ring.Ring
	ios []*engines.IO // by Index

	depth    uint32 // most I/Os in the ring
	flight   uint32 // I/Os in the ring
	opcodes  [2]uint8
	files    bool // by registered index
	fixed    bool // registered buffers
	vectored bool
	polled   bool
	sqThread bool
	prio     uint16
	rwFlags  [2]uint32

	asyncEvery int // one request of so many runs asynchronously; 0: none
	prepared   int // requests since the last such one

	outside    [engines.Syncfs + 1]bool // operations done by plain system call
	slots      []int32                  // descriptor in each slot of the file table
	slotErrno  syscall.Errno            // why the last file could not be registered
	bufIndex   []uint16
	iovecs     iovecs
	prios      *cmdprio.Picker
	rangeFlags uint32
	ended      []*engines.IO // done outside the ring, waiting for Reap
	stalled    time.Time     // since when the kernel refuses with nothing in flight
	trimKnown  bool          // a trim has gone through the ring
	notice     func(format string, args ...any)
}

// Submit writes a run of entries in place, publishes it with one store and hands it over with one system call. An
// operation the ring cannot do ends the run and is done at once, behind those before it.
func (e *engine) Submit(ios []*engines.IO) (int, error) {
	taken := 0
	for taken < len(ios) {
		n := e.write(ios[taken:])
		if n > 0 {
			got, err := e.handOver(n)
			taken += int(got)
			if err != nil || got < n {
				return taken, err
			}
		}
		if taken == len(ios) || !e.isOutside(ios[taken]) {
			break // all taken, or full
		}
		if len(e.ended) == cap(e.ended) {
			break
		}
		e.doOutside(ios[taken])
		taken++
	}
	return taken, nil
}

// write fills entries for a prefix of ios and reports its length: up to the first that is not for the ring, and as
// many as there is room for.
func (e *engine) write(ios []*engines.IO) uint32 {
	room := min(e.depth-e.flight, e.r.Space(), uint32(len(ios)))
	for i, u := range ios[:room] {
		if e.outside[u.Op] || !e.entry(e.r.SQE(uint32(i)), u) {
			return uint32(i)
		}
	}
	return room
}

// entry writes all of the entry for u. It reports false for one that cannot go through the ring.
func (e *engine) entry(s *ring.SQE, u *engines.IO) bool {
	fd, flags := int32(u.File.Fd), uint8(0)
	if e.files {
		if e.slots[u.File.Index] != fd && !e.refill(u.File) {
			return false
		}
		fd, flags = int32(u.File.Index), ring.IOSQE_FIXED_FILE
	}
	if e.asyncEvery > 0 {
		if e.prepared++; e.prepared == e.asyncEvery {
			e.prepared = 0
			flags |= ring.IOSQE_ASYNC
		}
	}
	if u.Op > engines.Write {
		return e.otherEntry(s, u, fd, flags)
	}
	if e.prios != nil {
		e.prios.Pick(u)
	}
	prio := u.Prio
	if prio == 0 {
		prio = e.prio
	}
	where, n := addr(u.Buf), uint32(min(len(u.Buf), maxTransfer))
	var buf uint16
	switch {
	case e.fixed:
		buf = e.bufIndex[u.Index]
	case e.vectored:
		v := &e.iovecs.all[u.Index]
		v.Base, v.Len = where, uint64(n)
		where, n = uint64(uintptr(unsafe.Pointer(v))), 1
	}
	s.Opcode = e.opcodes[u.Op]
	s.Flags = flags
	s.Ioprio = prio
	s.Fd = fd
	s.Off = uint64(u.Offset)
	s.Addr = where
	s.Len = n
	s.OpFlags = e.rwFlags[u.Op]
	s.UserData = uint64(u.Index)
	s.BufIndex = buf
	s.Personality = 0
	s.FileIndex = 0
	s.Addr3 = 0
	s.AttrMask = 0
	return true
}

// handOver publishes n entries and submits them. It reports how many the kernel took.
func (e *engine) handOver(n uint32) (uint32, error) {
	e.r.Publish(n)
	e.flight += n
	err := e.r.Submit()
	if err == nil {
		return n, nil
	}
	if err != ring.ErrBusy { //nolint:errorlint // never wrapped
		return n, err
	}
	// What the kernel has no room for goes back to the worker, who reaps before it comes again.
	back := e.r.Withdraw()
	e.flight -= back
	n -= back
	if e.flight > 0 || len(e.ended) > 0 || n > 0 {
		e.stalled = time.Time{}
		return n, nil
	}
	if e.stalled.IsZero() {
		e.stalled = time.Now()
	} else if time.Since(e.stalled) > stallLimit {
		return 0, fmt.Errorf("io_uring: the kernel refuses requests although none is in flight: %w", syscall.EAGAIN)
	}
	time.Sleep(time.Millisecond) // short of memory, and nothing to reap meanwhile
	return 0, nil
}

// Reap takes what is ready, and sleeps in the kernel only for what is missing to min.
func (e *engine) Reap(done []*engines.IO, min int, wait time.Duration) (int, error) {
	got := 0
	if len(e.ended) > 0 {
		got = e.takeEnded(done)
	}
	n, err := e.drain(done[got:])
	got += n
	if err != nil || got >= min && got > 0 || got == len(done) {
		return got, err
	}
	n, err = e.reapMore(done[got:], min-got, wait)
	return got + n, err
}

// reapMore is Reap after what was ready at once was not enough.
func (e *engine) reapMore(done []*engines.IO, want int, wait time.Duration) (int, error) {
	want = min(want, len(done), int(e.flight))
	if e.flight == 0 {
		return 0, nil
	}
	if err := e.r.Lost(); err != nil {
		return 0, err
	}
	if want <= 0 || wait == 0 {
		if e.r.Stalled() {
			if err := e.r.Flush(); err != nil {
				return 0, err
			}
		}
		return e.drain(done)
	}
	if e.sqThread && e.spin(uint32(want), wait) {
		return e.drain(done)
	}
	if err := e.r.Wait(uint32(want), wait); err != nil {
		return 0, err
	}
	n, err := e.drain(done)
	if err == nil && n < want {
		err = e.r.Lost()
	}
	return n, err
}

// spin looks for n completions without a system call: with a submission thread the point is to make none.
func (e *engine) spin(n uint32, wait time.Duration) bool {
	limit := spinLimit
	if wait >= 0 {
		limit = min(limit, wait)
	}
	for start := time.Now(); ; {
		for range 256 {
			if e.r.Ready() >= n {
				return true
			}
		}
		if time.Since(start) >= limit {
			return false
		}
	}
}

// drain stores ready completions, as many as done has room for, and gives their places back with one store.
func (e *engine) drain(done []*engines.IO) (int, error) {
	n := min(e.r.Ready(), uint32(len(done)))
	if n == 0 {
		return 0, nil
	}
	for i := range done[:n] {
		c := e.r.CQE(uint32(i))
		if c.UserData >= uint64(len(e.ios)) {
			return i, fmt.Errorf("io_uring: the kernel completed a request that was never made: %#x", c.UserData)
		}
		u := e.ios[c.UserData]
		done[i] = u
		if c.Res < 0 || u.Op > engines.Write {
			e.unusual(u, c.Res)
			continue
		}
		u.Done, u.Errno = int(c.Res), 0
	}
	e.r.Advance(n)
	e.flight -= n
	return int(n), nil
}

func (e *engine) takeEnded(done []*engines.IO) int {
	n := copy(done, e.ended)
	rest := copy(e.ended, e.ended[n:])
	e.ended = e.ended[:rest]
	return n
}

// Close waits for what is in flight, then releases the ring.
func (e *engine) Close() error {
	var first error
	for e.flight > 0 && first == nil {
		if first = e.r.Lost(); first == nil {
			first = e.r.Wait(1, -1)
		}
		n := e.r.Ready()
		e.r.Advance(n)
		e.flight -= n
	}
	if err := e.r.Close(); first == nil {
		first = err
	}
	if err := e.iovecs.close(); first == nil {
		first = err
	}
	return first
}
