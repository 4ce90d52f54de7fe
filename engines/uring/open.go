package uring

import (
	"fmt"

	"fiord/engines"
	"fiord/engines/cmdprio"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/internal/feature"
	"fiord/internal/sys"
)

// open makes the engine of w, on the thread that will use it.
func open(k *ring.Kernel, ask asks, w *engines.Worker, o *Options) (*engine, error) {
	e := &engine{ios: w.IOs, notice: w.Notice, rangeFlags: w.Job.SyncFileRange.Flags}
	j := w.Job
	if j.IsSet("prio") || j.IsSet("prioclass") || j.IsSet("priohint") {
		// Entries carry the priority: a submission thread does not inherit that of the worker.
		prio := sys.IOPrioValue(j.PrioClass, j.Prio, j.PrioHint)
		e.models[engines.Read].Ioprio, e.models[engines.Write].Ioprio = prio, prio
	}
	var err error
	if e.prios, err = cmdprio.New(o.Options, j); err != nil {
		return nil, err
	}
	if err := e.setFlags(w, o); err != nil {
		return nil, err
	}
	if e.pi, err = newIntegrity(w, o, ask); err != nil {
		return nil, err
	}
	e.Queue, err = queue.New(k, w, queue.Config{Hipri: o.Hipri, SqthreadPoll: o.SqthreadPoll,
		SqthreadPollCPU: o.SqthreadPollCPU, Registerfiles: o.Registerfiles, Fixedbufs: o.Fixedbufs,
		ForceAsync: o.ForceAsync, Own: o.Own})
	if err != nil {
		return nil, err
	}
	if err := e.prepare(w, o); err != nil {
		_ = e.Close()
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
	e.models[engines.Read].OpFlags, e.models[engines.Write].OpFlags = flags, flags
	if w.Job.Atomic {
		if !feature.AtLeast(6, 11) {
			return &feature.Error{Name: "atomic", Since: "6.11"}
		}
		e.models[engines.Write].OpFlags |= ring.RWF_ATOMIC
	}
	return nil
}

func (e *engine) setOps(read, write uint8) {
	e.models[engines.Read].Opcode, e.models[engines.Write].Opcode = read, write
}

// prepare registers what is to be registered and chooses the operations.
func (e *engine) prepare(w *engines.Worker, o *Options) error {
	ops, err := e.R.Probe()
	if err != nil {
		return err
	}
	plain := ops[ring.IORING_OP_READ] && ops[ring.IORING_OP_WRITE]
	switch {
	case o.Fixedbufs:
		e.setOps(ring.IORING_OP_READ_FIXED, ring.IORING_OP_WRITE_FIXED)
	case o.Nonvectored == 0 || o.Nonvectored < 0 && !plain:
		e.vectored = true
		e.setOps(ring.IORING_OP_READV, ring.IORING_OP_WRITEV)
	case !plain:
		return &feature.Error{Name: "nonvectored", Since: "5.6"}
	default:
		e.setOps(ring.IORING_OP_READ, ring.IORING_OP_WRITE)
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
	if o.ForceAsync > 0 && !plain { // both came with 5.6
		return &feature.Error{Name: "force_async", Since: "5.6"}
	}
	if e.vectored {
		if e.iovecs, err = queue.NewMemory[ring.Iovec](len(w.IOs)); err != nil {
			return fmt.Errorf("memory for iovecs: %w", err)
		}
	}
	if e.pi != nil {
		if e.R.Params().Features&ring.IORING_FEAT_RW_ATTR == 0 {
			return &feature.Error{Name: "md_per_io_size with ioengine=io_uring", Since: "6.14"}
		}
		if err := e.pi.prepare(len(w.IOs)); err != nil {
			return err
		}
	}
	e.plain = o.ForceAsync <= 0 && e.prios == nil && !o.Fixedbufs && !e.vectored && e.pi == nil
	return e.Register(w)
}
