package peak

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sync/atomic"
	"syscall"

	"fiord/clock"
	"fiord/engines/libaio"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/internal/sys"
	"fiord/internal/sysfs"
	"fiord/stats"
)

// What the word says by which a worker is told what to do. It is read once a system call.
const (
	toldStop  = 1 << iota
	toldTimes // latencies count from now on
)

// counters are what a worker publishes.
type counters struct {
	_         [64]byte
	submitted atomic.Uint64 // reads handed over
	done      atomic.Uint64 // reads completed, failed ones included
	calls     atomic.Uint64 // system calls
	failed    atomic.Uint64 // reads that the device could not do
	_         [32]byte
}

// target is a file as one worker reads it.
type target struct {
	*file
	blocks  uint64 // as in file, but near to what else the loop needs
	unit    uint64
	next    uint64 // block of the next sequential read
	pending int    // reads in flight
	fd      int32  // what an entry names: a descriptor, or a slot of registered files
}

// few is the depth up to which a worker keeps the list of free buffers in itself.
const few = 128

// worker is one thread. Its fields belong to it alone, except what is atomic, from start until it has ended.
//
// What the loop needs stands first and close together: where each system call costs what the processor had remembered
// of the page tables, a page less to touch is worth more than some instructions.
type worker struct {
	ring        *ring.Ring
	told        atomic.Uint32
	want        int32 // the result of a completion that went well
	flight      int
	depth       int
	submit      int
	complete    int
	nop         bool
	passthrough bool
	several     bool // more than one target
	random      bool
	timed       bool     // -t
	way         way      // how it reads
	readFlags   uintptr  // of preadv2
	seed        uint64   // of the random offsets
	buffers     uint64   // address of what an entry points to: the first buffer, or its vector
	stride      uint64   // from one to the next
	free        []uint16 // buffers that are not in flight; the last one used is the first to be used again
	targets     []target
	one         [1]target // their memory, when there is one

	iov syscall.Iovec // of preadv2

	submitted, done, calls, failed uint64
	public                         counters
	near                           [few]uint16 // the memory of free, when it is enough

	owner   []uint32    // by buffer: the target it is in flight for; only with several
	current int         // of targets
	share   int         // most reads in flight for one target
	hist    *stats.Hist // ticks

	index      int
	tid        int
	cfg        *Config
	memory     *sys.Arena // nil: part of the hugetlbfs file
	iovecs     queue.Memory[ring.Iovec]
	data       []byte // the buffers
	aio        *libaio.Reads
	usage      sys.Usage // of the thread, over the loop
	registered bool      // enters went by a registered descriptor
}

// stampShift makes room for the number of a buffer below the time stamp in an entry's user data.
const (
	stampShift = 16
	stampMask  = 1<<(64-stampShift) - 1
)

func newWorker(c *Config, index int, files []*file) *worker {
	w := &worker{index: index, cfg: c, way: wayOf(c, len(files)), nop: c.Nop, passthrough: c.Passthrough, several: len(files) > 1, random: c.Random,
		timed: c.Latency, depth: c.Depth, submit: c.Submit, complete: c.Complete, want: int32(c.BlockSize),
		share: (c.Depth + len(files) - 1) / len(files), hist: new(stats.Hist)}
	if c.Passthrough {
		w.want = 0
	}
	w.free, w.targets = w.near[:0], w.one[:0]
	for i, f := range files {
		t := target{file: f, blocks: f.blocks, unit: f.unit, fd: int32(f.fd)}
		if c.RegisterFiles {
			t.fd = int32(i)
		}
		w.targets = append(w.targets, t)
	}
	return w
}

// prepare makes all that the loop needs, on the thread that will run it. buffers is the worker's part of the hugetlbfs
// file; nil: it takes memory of its own.
func (w *worker) prepare(k *ring.Kernel, buffers []byte) error {
	c := w.cfg
	w.tid = sys.Gettid()
	w.seed = uint64(w.tid) * 0x9e3779b97f4a7c15
	if err := w.place(); err != nil {
		return err
	}
	slots := int(c.slots())
	if w.data = buffers; w.data == nil {
		var err error
		if w.memory, err = sys.NewArena("malloc", slots*c.BlockSize, 0, 0, ""); err != nil {
			return err
		}
		w.data = w.memory.Mem
	}
	clear(w.data) // so that no page is missing when the run starts
	w.buffers, w.stride = queue.Addr(w.data), uint64(c.BlockSize)
	for i := range slots {
		w.free = append(w.free, uint16(i))
	}
	w.owner = make([]uint32, slots)
	switch {
	case c.Sync:
		w.iov = sys.Vector(w.data[:c.BlockSize])
		if c.Polled {
			w.readFlags = sys.ReadHighPriority
		}
		return nil
	case c.AIO:
		var err error
		w.aio, err = libaio.NewReads(slots)
		return err
	}
	return w.openRing(k, slots)
}

// place moves the thread to the node of its last device, as t/io_uring does.
func (w *worker) place() error {
	node := w.node()
	if node < 0 {
		return nil
	}
	cpus, err := sysfs.FS{}.NodeCPUs(node)
	if err == nil && len(cpus) > 0 {
		err = sys.SetAffinity(cpus)
	}
	return errors.Join(err, sys.SetMemPolicy(sys.MemPreferred, []int{node}))
}

func (w *worker) node() int { return w.targets[len(w.targets)-1].node }

// optional is what a ring is better with; the newest kernel's first.
var optional = []uint32{ring.IORING_SETUP_NO_SQARRAY, ring.IORING_SETUP_DEFER_TASKRUN, ring.IORING_SETUP_SINGLE_ISSUER,
	ring.IORING_SETUP_COOP_TASKRUN}

func (w *worker) openRing(k *ring.Kernel, slots int) error {
	c := w.cfg
	rc := ring.Config{Entries: uint32(c.Depth), CQEntries: uint32(c.Depth), Optional: optional,
		RegisterRing: ring.Never, RegisterWait: ring.Never}
	if c.RegisterRing {
		rc.RegisterRing = ring.IfThere
		if c.given['X'] {
			rc.RegisterRing = ring.Must
		}
	}
	if c.Polled {
		rc.Flags |= ring.IORING_SETUP_IOPOLL
	}
	if c.Passthrough {
		rc.Flags |= ring.IORING_SETUP_SQE128 | ring.IORING_SETUP_CQE32
	}
	if c.Restrict {
		rc.Flags |= ring.IORING_SETUP_R_DISABLED
		rc.Restrict = restrictions(c)
	}
	var err error
	if w.ring, err = ring.Open(k, rc); err != nil {
		return err
	}
	if c.FixedBufs {
		all := ring.Iovec{Base: queue.Addr(w.data), Len: uint64(len(w.data))}
		if err := w.ring.RegisterBuffers([]ring.Iovec{all}); err != nil {
			return err
		}
	}
	if c.RegisterFiles {
		var fds []int32
		for i := range w.targets {
			fds = append(fds, int32(w.targets[i].file.fd))
		}
		if err := w.ring.RegisterFiles(fds); err != nil {
			return err
		}
	}
	if c.Vectored {
		if w.iovecs, err = queue.NewMemory[ring.Iovec](slots); err != nil {
			return err
		}
		for i := range w.iovecs.All {
			w.iovecs.All[i] = ring.Iovec{Base: w.buffers + uint64(i)*w.stride, Len: uint64(c.BlockSize)}
		}
		w.buffers, w.stride = w.iovecs.At(0), 16
	}
	w.registered = w.ring.RegisteredFd()
	w.templates()
	return nil
}

// restrictions is what a ring has to be allowed for the flags. fio differs: t/io_uring leaves out registered files and
// commands, so that -e1 fails with them.
func restrictions(c *Config) []ring.Restriction {
	list := []ring.Restriction{{Opcode: ring.IORING_RESTRICTION_SQE_OP, Value: opcode(c)}}
	for _, op := range []uint8{ring.IORING_REGISTER_BUFFERS, ring.IORING_REGISTER_FILES, ring.IORING_REGISTER_ENABLE_RINGS,
		ring.IORING_REGISTER_RING_FDS} {
		list = append(list, ring.Restriction{Opcode: ring.IORING_RESTRICTION_REGISTER_OP, Value: op})
	}
	if c.RegisterFiles {
		list = append(list, ring.Restriction{Opcode: ring.IORING_RESTRICTION_SQE_FLAGS_ALLOWED, Value: ring.IOSQE_FIXED_FILE})
	}
	return list
}

// run is the life of a worker's thread: prepare, wait for the start, read until told to stop, clean up.
func (w *worker) run(k *ring.Kernel, buffers []byte, ready chan<- error, start <-chan bool) error {
	runtime.LockOSThread()    // never undone: the thread may have got another affinity
	_ = sys.BlockPreemption() // it fails for bad arguments alone
	err := w.prepare(k, buffers)
	ready <- err
	if !<-start || err != nil {
		return errors.Join(err, w.close())
	}
	before, _ := sys.ThreadUsage()
	for w.told.Load()&toldStop == 0 && err == nil {
		err = w.round()
	}
	w.publish()
	after, _ := sys.ThreadUsage()
	w.usage = sys.Usage{User: after.User - before.User, Sys: after.Sys - before.Sys, VolCtx: after.VolCtx - before.VolCtx,
		InvCtx: after.InvCtx - before.InvCtx}
	return errors.Join(err, w.drain(), w.close())
}

// way is how a worker reads.
type way uint8

const (
	byRing way = iota
	byNops     // alike, on one file
	byAIO
	bySync
)

func wayOf(c *Config, files int) way {
	switch {
	case c.Sync:
		return bySync
	case c.AIO:
		return byAIO
	case c.Nop && files == 1 && !c.Latency:
		return byNops
	}
	return byRing
}

// round is one round of the loop. A switch finds it without a further page, which a method value would lie in.
func (w *worker) round() error {
	switch w.way {
	case byNops:
		return w.stepNops()
	case byAIO:
		return w.stepAIO()
	case bySync:
		return w.stepSync()
	}
	return w.step()
}

// publish shows the counters to the others.
func (w *worker) publish() {
	w.public.submitted.Store(w.submitted)
	w.public.done.Store(w.done)
	w.public.calls.Store(w.calls)
	if w.failed > 0 {
		w.public.failed.Store(w.failed)
	}
}

// stamp is the time that goes with the reads of a batch, already in its place in the user data; 0 while latencies do not
// count.
func (w *worker) stamp() uint64 {
	if !w.timed || w.told.Load()&toldTimes == 0 {
		return 0
	}
	return max(clock.Ticks()&stampMask, 1) << stampShift
}

// latency counts n reads that were handed over at a stamp and have ended now. Both are shifted down.
func (w *worker) latency(now, then, n uint64) {
	if then != 0 {
		w.hist.Buckets[stats.Index((now-then)&stampMask)] += n
	}
}

// block is the next block to be read of t. Random ones are steps of the generator wyrand, whose quality is more than
// reads need.
func (w *worker) block(t *target) uint64 {
	if !w.random {
		b := t.next
		if t.next++; t.next == t.blocks {
			t.next = 0
		}
		return b
	}
	w.seed += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(w.seed, w.seed^0xe7037ed1a0b428db)
	b, _ := bits.Mul64(hi^lo, t.blocks)
	return b
}

// nextTarget is the target of the next read, when there are several: one file after the other, each up to its share.
func (w *worker) nextTarget() int {
	for w.targets[w.current].pending >= w.share {
		w.rotate()
	}
	return w.current
}

func (w *worker) rotate() {
	if w.current++; w.current == len(w.targets) {
		w.current = 0
	}
}

// errInFlight says that reads did not end.
var errInFlight = errors.New("reads did not end; their buffers are left to the kernel")

func (w *worker) close() error {
	if w.flight > 0 && w.ring != nil {
		return fmt.Errorf("%d %w", w.flight, errInFlight)
	}
	var errs []error
	if w.ring != nil {
		errs = append(errs, w.ring.Close())
	}
	if w.aio != nil {
		errs = append(errs, w.aio.Close())
	}
	errs = append(errs, w.iovecs.Close(), w.memory.Close())
	return errors.Join(errs...)
}
