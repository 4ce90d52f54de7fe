package uringcmd

import (
	"syscall"
	"time"

	"fiord/engines"
	"fiord/engines/fileop"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/sys"
	"fiord/workload"
)

// statusFlag in IO.Aux marks a completion that the drive refused: the low 16 bits are its nvme.Status then. Without it
// Aux is the result of the command.
const statusFlag = 1 << 63

// engine is the ring of one worker. All methods belong to the worker's thread.
type engine struct {
	queue.Queue
	sys     *system
	w       *engines.Worker
	o       *Options
	ios     []*engines.IO  // by Index
	one     [1]*engines.IO // room for SubmitOne
	devices []*device      // by File.Index; nil: not identified yet

	vectored  bool
	readFlags uint32 // dword 12 of reads
	writes    []share
	draw      *workload.Rand // which of writes is next; nil: there is one
	checks    nvme.Checks
	protect   bool      // commands carry protection information
	compare   bool      // reads with IO.Compare set are compared by the drive
	append    *appender // nil: writes are no zone appends
	place     *placer   // nil: writes are not placed
	plain     bool      // isPlain, once all is known

	iovecs  queue.Memory[ring.Iovec]
	ranges  queue.Memory[nvme.Range] // as many as a trim can have, for each IO
	most    int                      // ranges that a trim can have
	several []int                    // how many the next trim has, by Index; 0: one. nil: trims have one
	meta    *sys.Arena               // separate metadata, o.MdPerIOSize for each IO; nil: none
	reasons []error                  // why an IO failed, by Index, where its errno does not tell
}

// Submit writes a run of entries in place, publishes it with one store and hands it over with one system call. What
// cannot be sent ends the run and is done at once, behind those before it.
func (e *engine) Submit(ios []*engines.IO) (int, error) {
	taken := 0
	for taken < len(ios) {
		n, refused := e.write(ios[taken:])
		if n > 0 {
			got, err := e.HandOver(n)
			taken += int(got)
			if err != nil || got < n {
				return taken, err
			}
		}
		if !refused || len(e.Ended) == cap(e.Ended) {
			break
		}
		e.doOutside(ios[taken])
		taken++
	}
	return taken, nil
}

// SubmitOne is Submit for u alone: a plain read or write goes a short way.
func (e *engine) SubmitOne(u *engines.IO) (int, error) {
	e.one[0] = u
	if !e.plain || !e.Quick || e.Room(1) == 0 || e.writePlain(e.one[:]) == 0 {
		return e.Submit(e.one[:])
	}
	e.Flight++
	if e.R.Push() {
		return 1, nil
	}
	return e.Again()
}

// write fills entries for a prefix of ios: as many as there is room for, or up to the first that cannot be sent.
func (e *engine) write(ios []*engines.IO) (n uint32, refused bool) {
	room := e.Room(len(ios))
	if e.plain {
		n = uint32(e.writePlain(ios[:room]))
	}
	for ; n < room; n++ {
		if !e.entry(e.R.SQE128(n), ios[n]) {
			return n, true
		}
	}
	return room, false
}

// entry writes all of the entry for u. It reports false for one that cannot be sent.
func (e *engine) entry(s *ring.SQE128, u *engines.IO) bool {
	f := u.File
	if f.Index >= len(e.devices) || e.devices[f.Index] == nil {
		return false
	}
	d := e.devices[f.Index]
	*s = ring.SQE128{}
	s.Opcode = ring.IORING_OP_URING_CMD
	s.Fd = int32(f.Fd)
	if e.Files {
		if !e.Has(f) && !e.Refill(f) {
			return false
		}
		s.Fd, s.Flags = int32(f.Index), ring.IOSQE_FIXED_FILE
	}
	s.Off = nvme.NVME_URING_CMD_IO
	s.UserData = uint64(u.Index)
	c := nvme.At(s.Command())
	ok := true
	switch u.Op {
	case engines.Read:
		opcode := uint8(nvme.OpRead)
		if e.compare && u.Compare {
			opcode = nvme.OpCompare
		}
		ok = e.blocks(s, c, u, d, opcode, e.readFlags)
	case engines.Write:
		w := e.nextWrite()
		ok = e.blocks(s, c, u, d, w.opcode, w.flags)
		if e.append != nil && ok {
			e.append.direct(c, u, w.opcode)
		}
		if e.place != nil && ok {
			e.place.direct(c, u)
		}
	case engines.Trim:
		ok = e.trim(c, u, d)
	case engines.Sync, engines.DataSync:
		c.Flush(d.ns.NSID)
	default:
		return false
	}
	s.Flags |= e.Async()
	return ok
}

// nextWrite is the command that the next write becomes.
func (e *engine) nextWrite() *share {
	if e.draw == nil {
		return &e.writes[0]
	}
	n := int(e.draw.Between(0, 99))
	for i := range e.writes {
		if n -= e.writes[i].percent; n < 0 {
			return &e.writes[i]
		}
	}
	return &e.writes[len(e.writes)-1]
}

// blocks sets the command of a read, a write or their like.
func (e *engine) blocks(s *ring.SQE128, c *nvme.Command, u *engines.IO, d *device, opcode uint8, flags uint32) bool {
	n := uint64(len(u.Buf))
	if !d.fmt.Aligned(uint64(u.Offset), n) || n == 0 {
		return false
	}
	start := d.fmt.LBA(uint64(u.Offset))
	count := uint32(d.fmt.LBA(n))
	c.Blocks(opcode, d.ns.NSID, start, count, flags)
	if e.protect && opcode != nvme.OpWriteUncor {
		e.checks.Command(&d.fmt, c, start)
	}
	if !nvme.MovesData(opcode) {
		return true
	}
	c.Addr, c.DataLen = queue.Addr(u.Buf), uint32(n)
	switch {
	case e.Fixed:
		s.OpFlags, s.BufIndex = ring.IORING_URING_CMD_FIXED, e.BufIndex[u.Index]
	case e.vectored:
		e.iovecs.All[u.Index] = ring.Iovec{Base: c.Addr, Len: n}
		s.Off, c.Addr, c.DataLen = nvme.NVME_URING_CMD_IO_VEC, e.iovecs.At(u.Index), 1
	}
	meta := e.metaOf(u, d, count)
	if meta != nil {
		c.Metadata, c.MetadataLen = queue.Addr(meta), uint32(len(meta))
	}
	if opcode != nvme.OpRead && d.fmt.Host(&e.checks) {
		d.fmt.Generate(&e.checks, u.Buf, meta, start)
	}
	return true
}

// metaOf is the separate metadata of u's blocks, nil where the format has none.
func (e *engine) metaOf(u *engines.IO, d *device, blocks uint32) []byte {
	if d.fmt.Meta == 0 || d.fmt.Extended || e.meta == nil {
		return nil
	}
	return e.meta.Mem[int(u.Index)*e.o.MdPerIOSize:][:blocks*d.fmt.Meta]
}

// doOutside ends u at once: what has no command, and what could not be sent.
func (e *engine) doOutside(u *engines.IO) {
	u.Done, u.Aux = 0, 0
	e.reasons[u.Index] = nil
	e.ended(u)
	f := u.File
	switch {
	case u.Op == engines.Syncfs:
		fileop.Op(u, 0)
	case f.Index >= len(e.devices) || e.devices[f.Index] == nil:
		u.Errno = syscall.EBADF
	case u.Op > engines.Syncfs || u.Op == engines.SyncFileRange:
		u.Errno = syscall.EOPNOTSUPP
	case e.Files && !e.Has(f):
		u.Errno = e.SlotErr
	default:
		u.Errno = syscall.EINVAL
		e.reasons[u.Index] = &alignError{e.devices[f.Index].fmt.Block}
	}
	u.Inline = true
	e.Ended = append(e.Ended, u)
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
	for i := range done[:n] {
		c := e.R.CQE32(uint32(i))
		if c.UserData >= uint64(len(e.ios)) {
			return i, errForeign
		}
		u := e.ios[c.UserData]
		done[i] = u
		if c.Res != 0 {
			e.failed(u, c.Res)
			continue
		}
		u.Errno, u.Aux = 0, c.Big[0]
		switch u.Op {
		case engines.Read:
			u.Done = len(u.Buf)
			if e.protect {
				e.verify(u)
			}
		case engines.Write:
			u.Done = len(u.Buf)
			if e.place != nil {
				e.place.done(u)
			}
		case engines.Trim:
			u.Done = u.Len
			e.trimmed(u)
		default:
			u.Done = 0
		}
	}
	e.Taken(n)
	return int(n), nil
}

// failed sets the result of a command that the kernel (below 0) or the drive refused. As in fio, the error number of the
// latter is the drive's own status.
func (e *engine) failed(u *engines.IO, res int32) {
	u.Done = 0
	e.reasons[u.Index] = nil
	e.ended(u)
	if res < 0 {
		u.Errno, u.Aux = syscall.Errno(-res), 0
		return
	}
	u.Errno, u.Aux = syscall.Errno(res), statusFlag|uint64(uint16(res))
}

// verify checks the protection information that came with a read, where that is the host's part.
func (e *engine) verify(u *engines.IO) {
	d := e.devices[u.File.Index]
	if !d.fmt.Host(&e.checks) {
		return
	}
	n := uint32(d.fmt.LBA(uint64(len(u.Buf))))
	if err := d.fmt.Check(&e.checks, u.Buf, e.metaOf(u, d, n), d.fmt.LBA(uint64(u.Offset))); err != nil {
		u.Done, u.Errno = 0, syscall.EIO
		e.reasons[u.Index] = err
	}
}
