package queue

import (
	"errors"
	"fmt"
	"math/bits"
	"syscall"
	"time"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/ring"
	"fiord/internal/sys"
)

// Config is what the engine's options ask of the ring.
type Config struct {
	Hipri           bool // poll for completions
	SqthreadPoll    bool // a kernel thread submits
	SqthreadPollCPU int  // where it runs; only when the job sets it, or not 0
	Registerfiles   bool
	Fixedbufs       bool
	ForceAsync      int  // one request of so many runs asynchronously; 0: none
	Wide            bool // entries of 128 and completions of 32 bytes
	Own             Own
}

// New makes the ring of w, on the thread that will use it. Files and buffers are registered by Register.
func New(k *ring.Kernel, w *engines.Worker, c Config) (Queue, error) {
	if w.Depth > ring.MaxCQEntries {
		return Queue{}, fmt.Errorf("iodepth=%d: a ring holds at most %d I/Os", w.Depth, ring.MaxCQEntries)
	}
	q := Queue{
		Depth:    uint32(max(w.Depth, 1)),
		Files:    c.Registerfiles || c.SqthreadPoll, // as in fio, a submission thread gets registered files
		Fixed:    c.Fixedbufs,
		Ended:    make([]*engines.IO, 0, len(w.IOs)),
		sqThread: c.SqthreadPoll,
		polled:   c.Hipri && !c.SqthreadPoll,
		asyncOf:  max(c.ForceAsync, 0),
		minWait:  time.Duration(c.Own.MinWait) * time.Microsecond,
		maxWait:  time.Duration(c.Own.WaitTimeout) * time.Microsecond,
	}
	if q.Files && w.Job.OpenFiles > 0 && w.Job.OpenFiles < len(w.Files) {
		return q, errors.New("registered files (registerfiles, sqthread_poll) stay open: openfiles must not be below nrfiles")
	}
	rc, err := q.ringConfig(w, &c)
	if err != nil {
		return q, err
	}
	q.R, err = ring.Open(k, rc)
	if err != nil && rc.Flags&ring.IORING_SETUP_SQ_AFF != 0 {
		return q, fmt.Errorf("sqthread_poll_cpu=%d: no kernel thread can run there: %w", c.SqthreadPollCPU, err)
	}
	if err == nil {
		q.Quick = q.R.Quick()
		q.sleeps = q.Quick && !q.polled && q.minWait == 0 && q.maxWait == 0 && q.Depth <= q.R.Params().CQEntries
	}
	return q, err
}

// ringConfig asks for what the options name; the rest is given up where the kernel is older.
func (q *Queue) ringConfig(w *engines.Worker, c *Config) (ring.Config, error) {
	cq := uint32(1) << bits.Len32(q.Depth-1)
	rc := ring.Config{Entries: min(cq, ring.MaxEntries), CQEntries: cq, Optional: ring.Optional}
	if c.Hipri {
		rc.Flags |= ring.IORING_SETUP_IOPOLL
	}
	if c.Wide {
		rc.Flags |= ring.IORING_SETUP_SQE128 | ring.IORING_SETUP_CQE32
	}
	if c.SqthreadPoll {
		// The thread issues when it gets there: a submission latency would measure nothing. fio does the same.
		w.Job.DisableSlat = true
		rc.Flags |= ring.IORING_SETUP_SQPOLL
		rc.Optional = []uint32{ring.IORING_SETUP_NO_SQARRAY, ring.IORING_SETUP_SINGLE_ISSUER,
			ring.IORING_SETUP_SUBMIT_ALL, ring.IORING_SETUP_R_DISABLED} // no task work to defer
		if w.Job.IsSet("sqthread_poll_cpu") || c.SqthreadPollCPU != 0 {
			rc.Flags |= ring.IORING_SETUP_SQ_AFF
			rc.SQThreadCPU = uint32(c.SqthreadPollCPU)
		}
	}
	return rc, c.Own.apply(&rc, c)
}

// Register makes the tables of registered buffers and files that the options ask for.
func (q *Queue) Register(w *engines.Worker) error {
	if q.Fixed {
		if err := q.registerBuffers(w); err != nil {
			return err
		}
	}
	if q.Files {
		return q.registerFiles(w)
	}
	return nil
}

// registerBuffers registers the memory that the buffers lie in: few large pieces rather than one an I/O, because a
// piece costs nothing to look into, and there is no limit of the number of I/Os then.
func (q *Queue) registerBuffers(w *engines.Worker) error {
	q.BufIndex = make([]uint16, len(w.IOs))
	var pieces []ring.Iovec
	if len(w.Arena) > 0 && len(w.Arena) <= ring.MaxBufferSize {
		pieces = []ring.Iovec{{Base: Addr(w.Arena), Len: uint64(len(w.Arena))}}
	}
	for i, u := range w.IOs {
		if len(u.Buf) == 0 {
			return errors.New("fixedbufs: the job has no buffers to register")
		}
		base, n := Addr(u.Buf), uint64(len(u.Buf))
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
		q.BufIndex[i] = uint16(last)
	}
	return q.R.RegisterBuffers(pieces)
}

// Addr is where b is, as the kernel is told.
func Addr(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// inside reports whether the arena holds all of from to to, so that nothing unmapped can lie between.
func inside(arena []byte, from, to uint64) bool {
	base := Addr(arena)
	return len(arena) > 0 && from >= base && to <= base+uint64(len(arena))
}

// registerFiles makes a table with a slot a file. A file that is not open yet gets its slot filled when it is used; with
// create_serialize=0 the files themselves come later, and only their number is known.
func (q *Queue) registerFiles(w *engines.Worker) error {
	q.Slots = make([]int32, max(len(w.Files), w.Job.NrFiles))
	for i := range q.Slots {
		q.Slots[i] = -1
	}
	for i, f := range w.Files {
		if q.Slots[i] = int32(max(f.Fd, -1)); f.Fd >= 0 {
			f.Engine = slot{}
		}
	}
	return q.R.RegisterFiles(q.Slots)
}

// Refill registers a file that was opened, or opened again, since its slot was last filled. False means that it cannot
// be used, as SlotErr tells.
func (q *Queue) Refill(f *engines.File) bool {
	if f.Index >= len(q.Slots) {
		q.SlotErr = syscall.EBADF
		return false
	}
	if err := q.R.UpdateFile(uint32(f.Index), int32(f.Fd)); err != nil {
		q.SlotErr = syscall.EBADF
		_ = errors.As(err, &q.SlotErr)
		q.Slots[f.Index] = -1 // the kernel empties a slot before it looks at what is to go there
		return false
	}
	q.Slots[f.Index] = int32(f.Fd)
	f.Engine = slot{}
	return true
}

// Has reports whether the table holds the file as it is open now. The descriptor alone would not tell: a file that was
// closed and opened again often gets the same, while the slot still names what was open before.
func (q *Queue) Has(f *engines.File) bool {
	_, since := f.Engine.(slot)
	return since && f.Index < len(q.Slots) && q.Slots[f.Index] == int32(f.Fd)
}

// Current tells whether a file that the table holds is still open as it was.
func Current(f *engines.File) bool {
	_, since := f.Engine.(slot)
	return since
}

// slot is the File.Engine of a registered file. Whoever opens or closes the file clears it.
type slot struct{}

// Features names what of io_uring is really on.
func (q *Queue) Features() []string {
	var names []string
	p := q.R.Params()
	for _, f := range []struct {
		flag uint32
		name string
	}{
		{ring.IORING_SETUP_IOPOLL, "iopoll"}, {ring.IORING_SETUP_HYBRID_IOPOLL, "hybrid_iopoll"},
		{ring.IORING_SETUP_SQPOLL, "sqpoll"}, {ring.IORING_SETUP_SINGLE_ISSUER, "single_issuer"},
		{ring.IORING_SETUP_DEFER_TASKRUN, "defer_taskrun"}, {ring.IORING_SETUP_COOP_TASKRUN, "coop_taskrun"},
		{ring.IORING_SETUP_NO_SQARRAY, "no_sqarray"},
	} {
		if p.Flags&f.flag != 0 {
			names = append(names, f.name)
		}
	}
	for _, f := range []struct {
		on   bool
		name string
	}{
		{q.R.RegisteredFd(), "registered_ring"}, {q.R.RegisteredWait(), "registered_wait"},
		{q.minWait > 0, "min_wait"}, {q.Files, "registered_files"}, {q.Fixed, "fixed_buffers"},
	} {
		if f.on {
			names = append(names, f.name)
		}
	}
	return names
}

// Memory is n values of T in memory that does not move, for what the kernel is given the address of.
type Memory[T any] struct {
	All   []T
	arena *sys.Arena
}

// NewMemory maps room for n values, zeroed; none for n of 0.
func NewMemory[T any](n int) (Memory[T], error) {
	if n == 0 {
		return Memory[T]{}, nil
	}
	var zero T
	mem, err := sys.NewArena("malloc", n*int(unsafe.Sizeof(zero)), 0, 0, "")
	if err != nil {
		return Memory[T]{}, err
	}
	return Memory[T]{unsafe.Slice((*T)(unsafe.Pointer(&mem.Mem[0])), n), mem}, nil
}

// At is the address of value i, as the kernel is told.
func (m *Memory[T]) At(i uint32) uint64 { return uint64(uintptr(unsafe.Pointer(&m.All[i]))) }

// Close gives the memory back.
func (m *Memory[T]) Close() error {
	if m.arena == nil {
		return nil
	}
	arena := m.arena
	m.All, m.arena = nil, nil
	return arena.Close()
}
