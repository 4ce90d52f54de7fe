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
	prio     uint16
	rwFlags  [2]uint32

	outside    [engines.Syncfs + 1]bool // operations done by plain system call
	iovecs     queue.Memory[ring.Iovec]
	pi         *integrity // nil: no metadata
	prios      *cmdprio.Picker
	rangeFlags uint32
	trimKnown  bool // a trim has gone through the ring
	notice     func(format string, args ...any)
	taker      func([]*engines.IO) (int, error) // drain, made once
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
	for i, u := range ios[:room] {
		if e.outside[u.Op] || !e.entry(e.R.SQE(uint32(i)), u) {
			return uint32(i)
		}
	}
	return room
}

// entry writes all of the entry for u. It reports false for one that cannot go through the ring.
func (e *engine) entry(s *ring.SQE, u *engines.IO) bool {
	fd, flags := int32(u.File.Fd), uint8(0)
	if e.Files {
		if !e.Has(u.File) && !e.Refill(u.File) {
			return false
		}
		fd, flags = int32(u.File.Index), ring.IOSQE_FIXED_FILE
	}
	flags |= e.Async()
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
	where, n := queue.Addr(u.Buf), uint32(min(len(u.Buf), maxTransfer))
	var buf uint16
	switch {
	case e.Fixed:
		buf = e.BufIndex[u.Index]
	case e.vectored:
		e.iovecs.All[u.Index] = ring.Iovec{Base: where, Len: uint64(n)}
		where, n = e.iovecs.At(u.Index), 1
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
	if e.pi != nil {
		e.pi.attach(s, u)
	}
	return true
}

// Reap takes what is ready, and sleeps in the kernel only for what is missing to min.
func (e *engine) Reap(done []*engines.IO, min int, wait time.Duration) (int, error) {
	return e.Reaper(done, min, wait, e.taker)
}

// drain stores ready completions, as many as done has room for, and gives their places back with one store.
func (e *engine) drain(done []*engines.IO) (int, error) {
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
