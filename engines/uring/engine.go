package uring

import (
	"errors"
	"time"

	"fiord/engines"
	"fiord/engines/cmdprio"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
)

// maxTransfer is the most the kernel moves in one request (MAX_RW_COUNT for 4 KiB pages).
const maxTransfer = 0x7ffff000

// errForeign is a fault of the kernel.
var errForeign = errors.New("io_uring: the kernel completed a request that was never made")

// engine is the ring of one worker. All methods belong to the worker's thread.
type engine struct {
	queue.Queue
	ios []*engines.IO // by Index

	models   [2]ring.SQE   // reads and writes of file at, but for the place and the buffer
	at       *engines.File // nil: none
	atFd     int           // its descriptor
	vectored bool
	one      [1]*engines.IO // room for SubmitOne
	plain    bool           // reads and writes need nothing that adorn adds

	outside    [engines.Syncfs + 1]bool // operations done by plain system call
	iovecs     queue.Memory[ring.Iovec]
	pi         *integrity // nil: no metadata
	prios      *cmdprio.Picker
	rangeFlags uint32
	trimKnown  bool // a trim has gone through the ring
	notice     func(format string, args ...any)
}

// Submit writes a run of entries in place, publishes it with one store and hands it over with one system call. An
// operation the ring cannot do ends the run and is done at once, behind those before it.
func (e *engine) Submit(ios []*engines.IO) (int, error) {
	taken := 0
	for taken < len(ios) {
		n := e.write(ios[taken:])
		if n > 0 {
			got, err := e.HandOver(n)
			taken += int(got)
			if err != nil || got < n {
				return taken, err
			}
		}
		if taken == len(ios) || !e.isOutside(ios[taken]) {
			break // all taken, or full
		}
		if len(e.Ended) == cap(e.Ended) {
			break
		}
		e.doOutside(ios[taken])
		taken++
	}
	return taken, nil
}

// SubmitOne is Submit for u alone: a read or write of the file that the models are for goes a short way.
func (e *engine) SubmitOne(u *engines.IO) (int, error) {
	f := e.at
	if !e.Quick || u.Op > engines.Write || u.File != f || f.Fd != e.atFd || e.Files && !queue.Current(f) || e.Room(1) == 0 {
		e.one[0] = u
		return e.Submit(e.one[:])
	}
	s := e.R.SQE(0)
	e.transfer(s, u)
	if !e.plain {
		e.adorn(s, u)
	}
	e.Flight++
	if e.R.Push() {
		return 1, nil
	}
	return e.Again()
}

// write fills entries for a prefix of ios and reports its length: up to the first that is not for the ring, and as
// many as there is room for.
func (e *engine) write(ios []*engines.IO) uint32 {
	if f := e.at; f != nil && (!e.Files || f.Fd != e.atFd || !queue.Current(f)) {
		e.at = nil // its descriptor may be another one by now
	}
	first, rest := e.R.SQEs(e.Room(len(ios)))
	n := e.fill(first, ios)
	if n == len(first) {
		n += e.fill(rest, ios[n:])
	}
	return uint32(n)
}

// fill writes entries for a prefix of ios as long as the entries, or shorter if there is one not for the ring.
func (e *engine) fill(entries []ring.SQE, ios []*engines.IO) int {
	for i := range entries {
		s, u := &entries[i], ios[i]
		if u.File != e.at && !e.aim(u.File) {
			return i
		}
		if u.Op > engines.Write {
			if e.outside[u.Op] || !e.otherEntry(s, u, e.models[0].Fd, e.models[0].Flags|e.Async()) {
				return i
			}
			continue
		}
		e.transfer(s, u)
		if !e.plain {
			e.adorn(s, u)
		}
	}
	return len(entries)
}

// transfer writes the entry of a plain read or write of the file that the models are for.
func (e *engine) transfer(s *ring.SQE, u *engines.IO) {
	*s = e.models[u.Op&1]
	s.Off = uint64(u.Offset)
	s.Addr = queue.Addr(u.Buf)
	s.Len = uint32(min(len(u.Buf), maxTransfer))
	s.UserData = uint64(u.Index)
}

// aim makes the models those of f. It reports false when f cannot be used through the ring.
func (e *engine) aim(f *engines.File) bool {
	fd, flags := int32(f.Fd), uint8(0)
	if e.Files {
		if !e.Has(f) && !e.Refill(f) {
			return false
		}
		fd, flags = int32(f.Index), ring.IOSQE_FIXED_FILE
	}
	for op := range e.models {
		e.models[op].Fd, e.models[op].Flags = fd, flags
	}
	e.at, e.atFd = f, f.Fd
	return true
}

// adorn adds to the entry of a read or write what the options of some jobs ask for.
func (e *engine) adorn(s *ring.SQE, u *engines.IO) {
	s.Flags |= e.Async()
	if e.prios != nil {
		e.prios.Pick(u)
	}
	if u.Prio != 0 {
		s.Ioprio = u.Prio
	}
	switch {
	case e.Fixed:
		s.BufIndex = e.BufIndex[u.Index]
	case e.vectored:
		e.iovecs.All[u.Index] = ring.Iovec{Base: s.Addr, Len: uint64(s.Len)}
		s.Addr, s.Len = e.iovecs.At(u.Index), 1
	}
	if e.pi != nil {
		e.pi.attach(s, u)
	}
}

// Reap takes what is ready, and sleeps in the kernel only for what is missing to min. What is ready is mostly enough, so the
// beginning of Reaper stands here, without its calls through an interface.
func (e *engine) Reap(done []*engines.IO, min int, wait time.Duration) (int, error) {
	if len(e.Ended) > 0 {
		return e.Reaper(done, min, wait, e)
	}
	n, err := 0, error(nil)
	if e.R.Ready() > 0 {
		n, err = e.Drain(done)
	}
	if err != nil || n >= min && n > 0 || n == len(done) {
		return n, err
	}
	if e.CanSleep(n, min, wait) && e.R.Sleep(uint32(min)) {
		return e.Drain(done)
	}
	return e.Rest(done, n, min, wait, e)
}

// Drain stores ready completions, as many as done has room for, and gives their places back with one store.
//
//go:nosplit
func (e *engine) Drain(done []*engines.IO) (int, error) {
	n := e.Ready(len(done))
	if n == 0 {
		return 0, nil
	}
	first, rest := e.R.CQEs(n)
	if !e.take(first, done) || !e.take(rest, done[len(first):]) {
		return 0, errForeign
	}
	e.Taken(n)
	return int(n), nil
}

// take stores the I/Os of completions in done, with their results.
//
//go:nosplit
func (e *engine) take(completions []ring.CQE, done []*engines.IO) bool {
	for i := range completions {
		c := &completions[i]
		if c.UserData >= uint64(len(e.ios)) {
			return false
		}
		u := e.ios[c.UserData]
		done[i] = u
		if c.Res < 0 || u.Op > engines.Write {
			e.unusual(u, c.Res)
			continue
		}
		u.Done, u.Errno = int(c.Res), 0
		if e.pi != nil && u.Op == engines.Read {
			e.pi.verify(u)
		}
	}
	return true
}

// Close waits for what is in flight, then releases the ring.
func (e *engine) Close() error {
	return errors.Join(e.Queue.Close(), e.iovecs.Close(), e.pi.close())
}
