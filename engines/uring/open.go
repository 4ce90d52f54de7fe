package uring

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"fiord/engines"
	"fiord/engines/cmdprio"
	"fiord/engines/uring/ring"
	"fiord/internal/feature"
	"fiord/internal/sys"
)

// open makes the engine of w, on the thread that will use it.
func open(k *ring.Kernel, w *engines.Worker, o *Options) (*engine, error) {
	e := &engine{
		ios:        w.IOs,
		notice:     w.Notice,
		depth:      uint32(min(max(w.Depth, 1), ring.MaxCQEntries)),
		files:      o.Registerfiles || o.SqthreadPoll, // as in fio, a submission thread gets registered files
		fixed:      o.Fixedbufs,
		polled:     o.Hipri,
		sqThread:   o.SqthreadPoll,
		asyncEvery: max(o.ForceAsync, 0),
		rangeFlags: w.Job.SyncFileRange.Flags,
		ended:      make([]*engines.IO, 0, len(w.IOs)),
	}
	j := w.Job
	if j.IsSet("prio") || j.IsSet("prioclass") || j.IsSet("priohint") {
		// Entries carry the priority: a submission thread does not inherit that of the worker.
		e.prio = sys.IOPrioValue(j.PrioClass, j.Prio, j.PrioHint)
	}
	var err error
	if e.prios, err = cmdprio.New(o.Options, j); err != nil {
		return nil, err
	}
	if e.files && j.OpenFiles > 0 && j.OpenFiles < len(w.Files) {
		return nil, errors.New("registered files (registerfiles, sqthread_poll) stay open: openfiles must not be below nrfiles")
	}
	if err := e.setFlags(w, o); err != nil {
		return nil, err
	}
	if e.r, err = openRing(k, e.depth, w, o); err != nil {
		return nil, err
	}
	if err := e.prepare(w, o); err != nil {
		_ = e.r.Close()
		_ = e.iovecs.close()
		return nil, err
	}
	return e, nil
}

// setFlags turns options into the flags that every read or write carries.
func (e *engine) setFlags(w *engines.Worker, o *Options) error {
	var flags uint32
	if o.Uncached != 0 && !w.Job.Direct {
		if !feature.AtLeast(6, 14) {
			return &feature.Error{Name: "uncached", Since: "6.14"}
		}
		flags |= ring.RWF_DONTCACHE
	}
	if o.Nowait {
		flags |= ring.RWF_NOWAIT
	}
	e.rwFlags = [2]uint32{flags, flags}
	if w.Job.Atomic {
		if !feature.AtLeast(6, 11) {
			return &feature.Error{Name: "atomic", Since: "6.11"}
		}
		e.rwFlags[engines.Write] |= ring.RWF_ATOMIC
	}
	return nil
}

// openRing asks for what the options name, and gives up the rest where the kernel is older.
func openRing(k *ring.Kernel, depth uint32, w *engines.Worker, o *Options) (*ring.Ring, error) {
	cq := uint32(1) << bits.Len32(depth-1)
	c := ring.Config{Entries: min(cq, ring.MaxEntries), CQEntries: cq, Optional: ring.Optional}
	if o.Hipri {
		c.Flags |= ring.IORING_SETUP_IOPOLL
	}
	if o.SqthreadPoll {
		// The thread issues when it gets there: a submission latency would measure nothing. fio does the same.
		w.Job.DisableSlat = true
		c.Flags |= ring.IORING_SETUP_SQPOLL
		c.Optional = []uint32{ring.IORING_SETUP_NO_SQARRAY, ring.IORING_SETUP_SINGLE_ISSUER,
			ring.IORING_SETUP_SUBMIT_ALL, ring.IORING_SETUP_R_DISABLED} // no task work to defer
		if w.Job.IsSet("sqthread_poll_cpu") || o.SqthreadPollCPU != 0 {
			c.Flags |= ring.IORING_SETUP_SQ_AFF
			c.SQThreadCPU = uint32(o.SqthreadPollCPU)
		}
	}
	r, err := ring.Open(k, c)
	if err != nil && c.Flags&ring.IORING_SETUP_SQ_AFF != 0 {
		return nil, fmt.Errorf("sqthread_poll_cpu=%d: no kernel thread can run there: %w", o.SqthreadPollCPU, err)
	}
	return r, err
}

// prepare registers what is to be registered and chooses the operations.
func (e *engine) prepare(w *engines.Worker, o *Options) error {
	ops, err := e.r.Probe()
	if err != nil {
		return err
	}
	plain := ops[ring.IORING_OP_READ] && ops[ring.IORING_OP_WRITE]
	switch {
	case o.Fixedbufs:
		e.opcodes = [2]uint8{ring.IORING_OP_READ_FIXED, ring.IORING_OP_WRITE_FIXED}
	case o.Nonvectored == 0 || o.Nonvectored < 0 && !plain:
		e.vectored = true
		e.opcodes = [2]uint8{ring.IORING_OP_READV, ring.IORING_OP_WRITEV}
	case !plain:
		return &feature.Error{Name: "nonvectored", Since: "5.6"}
	default:
		e.opcodes = [2]uint8{ring.IORING_OP_READ, ring.IORING_OP_WRITE}
	}
	for op := range e.outside {
		switch engines.Op(op) {
		case engines.Sync, engines.DataSync:
			e.outside[op] = o.Hipri
		case engines.SyncFileRange:
			e.outside[op] = o.Hipri || !ops[ring.IORING_OP_SYNC_FILE_RANGE]
		case engines.Syncfs:
			e.outside[op] = true
		case engines.Trim:
			e.outside[op] = !ops[ring.IORING_OP_URING_CMD]
		}
	}
	if e.asyncEvery > 0 && !plain { // both came with 5.6
		return &feature.Error{Name: "force_async", Since: "5.6"}
	}
	if e.iovecs, err = newIovecs(len(w.IOs), e.vectored); err != nil {
		return err
	}
	if e.fixed {
		if err := e.registerBuffers(w); err != nil {
			return err
		}
	}
	if e.files {
		return e.registerFiles(w)
	}
	return nil
}

// registerBuffers registers the memory that the buffers lie in: few large pieces rather than one an I/O, because a
// piece costs nothing to look into, and there is no limit of the number of I/Os then.
func (e *engine) registerBuffers(w *engines.Worker) error {
	e.bufIndex = make([]uint16, len(w.IOs))
	var pieces []ring.Iovec
	if len(w.Arena) > 0 && len(w.Arena) <= ring.MaxBufferSize {
		pieces = []ring.Iovec{{Base: addr(w.Arena), Len: uint64(len(w.Arena))}}
	}
	for i, u := range w.IOs {
		if len(u.Buf) == 0 {
			return errors.New("fixedbufs: the job has no buffers to register")
		}
		base, n := addr(u.Buf), uint64(len(u.Buf))
		last := len(pieces) - 1
		if last >= 0 && base >= pieces[last].Base && base+n-pieces[last].Base <= ring.MaxBufferSize &&
			inside(w.Arena, pieces[last].Base, base+n) {
			pieces[last].Len = max(pieces[last].Len, base+n-pieces[last].Base)
		} else {
			pieces = append(pieces, ring.Iovec{Base: base, Len: n})
			last++
		}
		if last >= ring.MaxBuffers {
			return fmt.Errorf("fixedbufs: more than %d buffers to register", ring.MaxBuffers)
		}
		e.bufIndex[i] = uint16(last)
	}
	return e.r.RegisterBuffers(pieces)
}

// addr is where b is, as the kernel is told.
func addr(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// inside reports whether the arena holds all of from to to, so that nothing unmapped can lie between.
func inside(arena []byte, from, to uint64) bool {
	base := addr(arena)
	return len(arena) > 0 && from >= base && to <= base+uint64(len(arena))
}

// registerFiles makes a table with a slot a file. A file that is not open yet gets its slot filled when it is used.
func (e *engine) registerFiles(w *engines.Worker) error {
	e.slots = make([]int32, len(w.Files))
	for i, f := range w.Files {
		e.slots[i] = int32(max(f.Fd, -1))
	}
	return e.r.RegisterFiles(e.slots)
}

// iovecs are the iovec of each I/O, in memory that does not move.
type iovecs struct {
	mem *sys.Arena
	all []ring.Iovec
}

func newIovecs(n int, wanted bool) (iovecs, error) {
	if !wanted {
		return iovecs{}, nil
	}
	mem, err := sys.NewArena("malloc", max(n, 1)*int(unsafe.Sizeof(ring.Iovec{})), 0, 0, "")
	if err != nil {
		return iovecs{}, fmt.Errorf("memory for iovecs: %w", err)
	}
	return iovecs{mem, unsafe.Slice((*ring.Iovec)(unsafe.Pointer(&mem.Mem[0])), n)}, nil
}

func (v *iovecs) close() error {
	if v.mem == nil {
		return nil
	}
	mem := v.mem
	v.mem, v.all = nil, nil
	return mem.Close()
}
