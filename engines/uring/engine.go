package uring

import (
	"errors"
	"fmt"
	"time"

	"fiord/engines"
	"fiord/engines/cmdprio"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
)

// maxTransfer is the most the kernel moves in one request (MAX_RW_COUNT for 4 KiB pages).
const maxTransfer = 0x7ffff000

// engine is the ring of one worker. All methods belong to the worker's thread.
type engine struct {
	queue.Queue
	ios []*engines.IO // by Index

	opcodes  [2]uint8
	vectored bool
	plain    bool // reads and writes need nothing that adorn adds
	prio     uint16
	rwFlags  [2]uint32

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

// write fills entries for a prefix of ios and reports its length: up to the first that is not for the ring, and as
// many as there is room for.
func (e *engine) write(ios []*engines.IO) uint32 {
	room := e.Room(len(ios))
	var at target
	for i, u := range ios[:room] {
		if u.File != at.file && !e.aim(&at, u.File) || e.outside[u.Op] {
			return uint32(i)
		}
		s := e.R.SQE(uint32(i))
		if u.Op > engines.Write {
			if !e.otherEntry(s, u, at.fd, at.flags|e.Async()) {
				return uint32(i)
			}
			continue
		}
		e.transfer(s, u, &at)
	}
	return room
}

// A target is a file as entries name it.
type target struct {
	file  *engines.File
	fd    int32
	flags uint8
}

// aim makes f the target. It reports false when f cannot be used through the ring.
func (e *engine) aim(at *target, f *engines.File) bool {
	*at = target{file: f, fd: int32(f.Fd)}
	if e.Files {
		if !e.Has(f) && !e.Refill(f) {
			return false
		}
		at.fd, at.flags = int32(f.Index), ring.IOSQE_FIXED_FILE
	}
	return true
}

// transfer writes all of the entry for a read or write. What only some jobs have comes after what all have.
func (e *engine) transfer(s *ring.SQE, u *engines.IO, at *target) {
	s.Opcode = e.opcodes[u.Op&1]
	s.Flags = at.flags
	s.Ioprio = e.prio
	s.Fd = at.fd
	s.Off = uint64(u.Offset)
	s.Addr = queue.Addr(u.Buf)
	s.Len = uint32(min(len(u.Buf), maxTransfer))
	s.OpFlags = e.rwFlags[u.Op&1]
	s.UserData = uint64(u.Index)
	s.BufIndex = 0
	s.Personality = 0
	s.FileIndex = 0
	s.Addr3 = 0
	s.AttrMask = 0
	if !e.plain {
		e.adorn(s, u)
	}
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

// Reap takes what is ready, and sleeps in the kernel only for what is missing to min.
func (e *engine) Reap(done []*engines.IO, min int, wait time.Duration) (int, error) {
	return e.Reaper(done, min, wait, e)
}

// Drain stores ready completions, as many as done has room for, and gives their places back with one store.
//
//go:nosplit
func (e *engine) Drain(done []*engines.IO) (int, error) {
	n := e.Ready(len(done))
	if n == 0 {
		return 0, nil
	}
	for i := range done[:n] {
		c := e.R.CQE(uint32(i))
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
		if e.pi != nil && u.Op == engines.Read {
			e.pi.verify(u)
		}
	}
	e.Taken(n)
	return int(n), nil
}

// Close waits for what is in flight, then releases the ring.
func (e *engine) Close() error {
	return errors.Join(e.Queue.Close(), e.iovecs.Close(), e.pi.close())
}
