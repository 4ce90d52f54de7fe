package uringcmd

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"fiord/engines"
	"fiord/engines/fileop"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/scsi"
)

// request is what the kernel reads of an I/O besides its data, and where the disk's sense data go.
type request struct {
	cdb   scsi.CDB
	sense [scsi.SenseSize]byte
	unmap [scsi.UnmapSize]byte
	_     [8]byte
}

// disks is the engine of cmd_type=bsg: SCSI commands to /dev/bsg. All methods belong to the worker's thread.
type disks struct {
	queue.Queue
	sys    *system
	w      *engines.Worker
	o      *Options
	ios    []*engines.IO // by Index
	known  []*disk       // by File.Index; nil: not asked yet
	length int           // of command blocks; 0: as short as may be
	read   scsi.Op
	write  scsi.Op
	bytchk int
	flags  [2]uint8 // of reads and writes

	requests queue.Memory[request] // by Index
	sensed   []bool                // a failed I/O left sense data, by Index
	reasons  []error               // why an IO failed, by Index, where its errno does not tell
}

// openDisks makes the engine of w, on the thread that will use it.
func openDisks(s *system, w *engines.Worker, o *Options) (*disks, error) {
	e := &disks{sys: s, w: w, o: o, ios: w.IOs, sensed: make([]bool, len(w.IOs)), reasons: make([]error, len(w.IOs))}
	if err := o.check(w.Job); err != nil {
		return nil, err
	}
	e.commands()
	for _, f := range w.Files {
		if _, err := e.disk(f); err != nil {
			return nil, err
		}
	}
	var err error
	e.Queue, err = queue.New(s.ring, w, queue.Config{Hipri: o.Hipri, SqthreadPoll: o.SqthreadPoll, SqthreadPollCPU: o.SqthreadPollCPU,
		Registerfiles: o.Registerfiles, Fixedbufs: o.Fixedbufs && (w.Job.RW.Read || w.Job.RW.Write), ForceAsync: o.ForceAsync,
		Wide: true, Own: o.Own})
	if err != nil {
		return nil, err
	}
	if e.requests, err = queue.NewMemory[request](len(w.IOs)); err == nil {
		err = e.Register(w)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// commands turns options into what commands carry. Those of CdbLen and VerifyBytchk are numbers by their declaration.
func (e *disks) commands() {
	e.length = map[string]int{"10": 10, "16": 16, "32": 32}[e.o.CdbLen]
	e.bytchk = map[string]int{"1": 1, "3": 3}[e.o.VerifyBytchk]
	e.read, e.write = scsi.Read, scsi.Write
	if e.o.ReadMode == "prefetch" {
		e.read = scsi.Prefetch
	}
	if e.o.Readfua {
		e.flags[engines.Read] = scsi.FUA
	}
	if e.o.Writefua {
		e.flags[engines.Write] = scsi.FUA
	}
	if e.o.WriteMode == "verify" {
		e.write, e.flags[engines.Write] = scsi.Verify, scsi.Bytchk(e.bytchk)
	}
}

// Submit writes a run of entries in place, publishes it with one store and hands it over with one system call. What
// cannot be sent ends the run and is done at once, behind those before it.
func (e *disks) Submit(ios []*engines.IO) (int, error) {
	taken := 0
	for taken < len(ios) {
		n, refused := uint32(0), false
		for room := e.Room(len(ios) - taken); n < room && !refused; {
			if refused = !e.entry(e.R.SQE128(n), ios[taken+int(n)]); !refused {
				n++
			}
		}
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

// entry writes all of the entry for u. It reports false for one that cannot be sent.
func (e *disks) entry(s *ring.SQE128, u *engines.IO) bool {
	f := u.File
	if f.Index >= len(e.known) || e.known[f.Index] == nil {
		return false
	}
	*s = ring.SQE128{}
	s.Opcode, s.Fd, s.UserData = ring.IORING_OP_URING_CMD, int32(f.Fd), uint64(u.Index)
	if e.Files {
		if !e.Has(f) && !e.Refill(f) {
			return false
		}
		s.Fd, s.Flags = int32(f.Index), ring.IOSQE_FIXED_FILE
	}
	r := &e.requests.All[u.Index]
	c := scsi.At(s.Command())
	length := e.length
	if u.Op.IsData() {
		n := uint64(len(u.Buf))
		if u.Op == engines.Trim {
			n = uint64(u.Len)
		}
		d := e.known[f.Index]
		if !d.aligned(uint64(u.Offset), n) {
			return false
		}
		length = e.data(c, s, r, u, d.block(uint64(u.Offset)), d.block(n), d.size)
	} else if u.Op == engines.Sync || u.Op == engines.DataSync {
		length = r.cdb.SyncCache(max(length, 10))
	} else {
		return false
	}
	c.Request, c.RequestLen = e.requests.At(u.Index), uint32(length)
	c.Response, c.MaxResponseLen = c.Request+senseAt, scsi.SenseSize
	s.Flags |= e.Async()
	return true
}

// data sets the command of a data operation on n blocks from lba on, of size bytes each, and reports the length of its
// command block.
func (e *disks) data(c *scsi.Command, s *ring.SQE128, r *request, u *engines.IO, lba, n uint64, size uint32) int {
	if u.Op == engines.Trim {
		r.cdb.Unmap(&r.unmap, lba, uint32(n))
		c.DoutXferp, c.DoutXferLen = e.requests.At(u.Index)+unmapAt, scsi.UnmapSize
		return 10
	}
	length := e.length
	if length == 0 {
		length = scsi.Fit(lba, n)
	}
	op := e.read
	if u.Op == engines.Write {
		op = e.write
	}
	r.cdb.Blocks(op, length, lba, n, e.flags[u.Op])
	switch {
	case op == scsi.Read:
		c.DinXferp, c.DinXferLen = queue.Addr(u.Buf), uint32(len(u.Buf))
	case op == scsi.Write || op == scsi.Verify && e.bytchk == 1:
		c.DoutXferp, c.DoutXferLen = queue.Addr(u.Buf), uint32(len(u.Buf))
	case op == scsi.Verify && e.bytchk == 3: // one block, which all are compared with
		c.DoutXferp, c.DoutXferLen = queue.Addr(u.Buf), size
	default:
		return length
	}
	if e.Fixed {
		s.OpFlags, s.BufIndex = ring.IORING_URING_CMD_FIXED, e.BufIndex[u.Index]
	}
	return length
}

// doOutside ends u at once: what has no command, and what could not be sent.
func (e *disks) doOutside(u *engines.IO) {
	u.Done, u.Aux = 0, 0
	e.reasons[u.Index], e.sensed[u.Index] = nil, false
	f := u.File
	switch {
	case u.Op == engines.Syncfs:
		fileop.Op(u, 0)
	case f.Index >= len(e.known) || e.known[f.Index] == nil:
		u.Errno = syscall.EBADF
	case !u.Op.IsData():
		u.Errno = syscall.EOPNOTSUPP
	case e.Files && !e.Has(f):
		u.Errno = e.SlotErr
	default:
		u.Errno = syscall.EINVAL
		e.reasons[u.Index] = &alignError{e.known[f.Index].size}
	}
	u.Inline = true
	e.Ended = append(e.Ended, u)
}

// Reap takes what is ready, and sleeps in the kernel only for what is missing to min.
func (e *disks) Reap(done []*engines.IO, min int, wait time.Duration) (int, error) {
	return e.Reaper(done, min, wait, e)
}

// Drain stores ready completions, as many as done has room for, and gives their places back with one store.
//
//go:nosplit
func (e *disks) Drain(done []*engines.IO) (int, error) {
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
		status := scsi.Status(c.Big[0])
		if e.read == scsi.Prefetch && u.Op == engines.Read && status.Device() == scsi.Met {
			status &^= 0xff
		}
		if c.Res != 0 || status != 0 {
			e.failed(u, c.Res, status)
			continue
		}
		u.Errno, u.Aux, u.Done = 0, 0, 0
		if u.Op == engines.Trim {
			u.Done = u.Len
		} else if u.Op.IsData() {
			u.Done = len(u.Buf)
		}
	}
	e.Taken(n)
	return int(n), nil
}

// failed sets the result of a command that the kernel (res) or the disk (status) refused. As in fio, the error number of the
// latter is the status.
func (e *disks) failed(u *engines.IO, res int32, status scsi.Status) {
	u.Done, u.Aux = 0, 0
	e.reasons[u.Index], e.sensed[u.Index] = nil, false
	if res != 0 {
		u.Errno = syscall.Errno(max(res, -res))
		return
	}
	u.Errno, u.Aux, e.sensed[u.Index] = syscall.Errno(status), statusFlag|uint64(status), status.Device() == 0x02
}

// DecodeError says what the errno of u does not: the disk's status and sense data. Nil where the errno says it all.
func (e *disks) DecodeError(u *engines.IO) error {
	if u.Aux&statusFlag != 0 && u.Errno != 0 {
		var sense []byte
		if e.sensed[u.Index] {
			sense = e.requests.All[u.Index].sense[:]
		}
		return errors.New(scsi.Describe(scsi.Status(u.Aux), sense))
	}
	return e.reasons[u.Index]
}

// OpenFile opens a disk.
func (e *disks) OpenFile(f *engines.File, flags int) error {
	if _, err := e.disk(f); err != nil {
		return err
	}
	fd, err := e.sys.open(f.Name, flags&(syscall.O_RDONLY|syscall.O_WRONLY|syscall.O_RDWR), 0)
	if err != nil {
		return err
	}
	f.Fd = fd
	return nil
}

// CloseFile closes it.
func (e *disks) CloseFile(f *engines.File) error { return closeOn(e.sys, f) }

// Close waits for what is in flight, then releases the ring and the memory that commands pointed to.
func (e *disks) Close() error { return errors.Join(e.Queue.Close(), e.requests.Close()) }

// disk is what is known of f, which is found out on the first call.
func (e *disks) disk(f *engines.File) (*disk, error) {
	for f.Index >= len(e.known) {
		e.known = append(e.known, nil)
	}
	if e.known[f.Index] == nil {
		d, err := e.sys.disk(f, e.w.Job, e.o)
		if err != nil {
			return nil, err
		}
		if !d.aligned(uint64(f.Offset), uint64(d.size)) {
			return nil, fmt.Errorf("%s: offset %d: must be a multiple of the disk's %d bytes", f.Name, f.Offset, d.size)
		}
		e.known[f.Index] = d
	}
	return e.known[f.Index], nil
}
