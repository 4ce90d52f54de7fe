package ring

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"fiord/internal/feature"
)

// Config is what a Ring is asked to be.
type Config struct {
	Entries   uint32 // submission entries, 1 to MaxEntries; the kernel rounds up to a power of two
	CQEntries uint32 // completion entries, not below Entries; 0: the kernel's choice, twice Entries
	Flags     uint32 // IORING_SETUP_* that must be had
	// Optional are sets of IORING_SETUP_* that are given up, first to last, while the kernel refuses.
	Optional    []uint32
	SQThreadCPU uint32 // with IORING_SETUP_SQ_AFF

	RegisterRing Want // enter by a registered descriptor (5.18)
	RegisterWait Want // keep the arguments of waits in registered memory (6.13)
	MinWait      bool // WaitMin will be used: Open fails where the kernel lacks it (6.12)

	// Restrict is all that the ring may do, with IORING_SETUP_R_DISABLED in Flags; empty: no limits (5.10).
	Restrict []Restriction
}

// Want is whether something is to be used.
type Want uint8

// The wants.
const (
	IfThere Want = iota // where the kernel has it
	Must                // or Open fails
	Never
)

// Optional is the usual value of Config.Optional for a ring that one thread owns, the newest kernel's first.
var Optional = []uint32{
	IORING_SETUP_NO_SQARRAY,
	IORING_SETUP_DEFER_TASKRUN,
	IORING_SETUP_SINGLE_ISSUER,
	IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
	IORING_SETUP_SUBMIT_ALL,
	IORING_SETUP_R_DISABLED,
}

// Ring is one io_uring instance. All methods belong to the thread that called Open.
type Ring struct {
	// Submission side.
	sqes     unsafe.Pointer
	sqShift  uint8 // log2 of the entry size
	polled   bool  // IORING_SETUP_IOPOLL
	sqThread bool  // IORING_SETUP_SQPOLL
	mute     bool  // task work waits for an enter, and no flag tells of it
	sqMask   uint32
	tail     uint32 // ours; published up to kTail
	sent     uint32 // what enter has taken; not kept with a kernel thread
	kHead    *atomic.Uint32
	kTail    *atomic.Uint32
	kFlags   *atomic.Uint32
	kDropped *atomic.Uint32

	// Completion side.
	cqes      unsafe.Pointer
	cqShift   uint8
	cqMask    uint32
	head      uint32 // ours; published at each Advance
	kCQHead   *atomic.Uint32
	kCQTail   *atomic.Uint32
	kOverflow *atomic.Uint32

	// Enter.
	k          *Kernel
	fake       bool // k is not Linux
	enterFd    int
	enterFlags uint32 // for every enter
	enters     uint64
	waits      uint64
	wait       *waitPage
	regWait    bool

	fd         int
	registered bool // enterFd is a registered index
	params     Params
	maps       []mapping
}

type mapping struct {
	p unsafe.Pointer
	n uintptr
}

// waitPage is mapped memory for what the kernel is given the address of as a number. A Go variable will not do: the
// stack it is on may move.
type waitPage struct {
	reg  regWait // first: waits refer to it by its offset, 0
	arg  getEventsArg
	ts   Timespec
	desc regionDesc
	file int32
}

// Open makes a ring and maps it. The error is a *feature.Error where the kernel lacks io_uring or a flag that must be
// had.
func Open(k *Kernel, c Config) (*Ring, error) {
	r := &Ring{k: k, fake: k != Linux, fd: -1}
	if err := r.setup(c); err != nil {
		return nil, err
	}
	if err := r.mapAll(); err != nil {
		_ = r.Close()
		return nil, err
	}
	if err := r.enable(c); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Ring) setup(c Config) error {
	flags := c.Flags
	for _, f := range c.Optional {
		flags |= f
	}
	if c.CQEntries != 0 {
		flags |= IORING_SETUP_CQSIZE
	}
	for drop := 0; ; drop++ {
		r.params = Params{Flags: flags, CQEntries: c.CQEntries, SQThreadCPU: c.SQThreadCPU}
		fd, errno := r.k.Setup(c.Entries, &r.params)
		if errno == 0 {
			r.fd, r.enterFd = fd, fd
			return nil
		}
		if errno != syscall.EINVAL || drop == len(c.Optional) {
			return setupError(errno, c.Flags)
		}
		flags &^= c.Optional[drop] &^ c.Flags
	}
}

// setupError says what a failed io_uring_setup most likely means.
func setupError(errno syscall.Errno, flags uint32) error {
	switch errno {
	case syscall.ENOSYS:
		return &feature.Error{Name: "io_uring", Since: "5.1", Err: errno}
	case syscall.EPERM:
		return &feature.Error{Name: "io_uring", Err: errno,
			Hint: "sysctl kernel.io_uring_disabled or a seccomp filter forbids it"}
	case syscall.EINVAL:
		for _, s := range setupSince {
			if flags&s.flag != 0 && !feature.AtLeast(s.major, s.minor) {
				return &feature.Error{Name: s.name, Since: fmt.Sprintf("%d.%d", s.major, s.minor), Err: errno}
			}
		}
	case syscall.ENOMEM:
		return fmt.Errorf("io_uring_setup: %w (the limit on locked memory, ulimit -l, may be too low)", errno)
	}
	return fmt.Errorf("io_uring_setup: %w", errno)
}

var setupSince = []struct {
	flag         uint32
	major, minor int
	name         string
}{
	{IORING_SETUP_HYBRID_IOPOLL, 6, 13, "IORING_SETUP_HYBRID_IOPOLL"},
	{IORING_SETUP_NO_SQARRAY, 6, 6, "IORING_SETUP_NO_SQARRAY"},
	{IORING_SETUP_DEFER_TASKRUN, 6, 1, "IORING_SETUP_DEFER_TASKRUN"},
	{IORING_SETUP_SINGLE_ISSUER, 6, 0, "IORING_SETUP_SINGLE_ISSUER"},
	{IORING_SETUP_SQE128 | IORING_SETUP_CQE32, 5, 19, "128-byte io_uring entries"},
	{IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, 5, 19, "IORING_SETUP_COOP_TASKRUN"},
	{IORING_SETUP_SUBMIT_ALL, 5, 18, "IORING_SETUP_SUBMIT_ALL"},
	{IORING_SETUP_R_DISABLED, 5, 10, "IORING_SETUP_R_DISABLED"},
	{IORING_SETUP_CLAMP | IORING_SETUP_ATTACH_WQ, 5, 6, "IORING_SETUP_CLAMP"},
}

// mapAll maps the rings and the entries and finds the shared words.
func (r *Ring) mapAll() error {
	p := &r.params
	r.sqShift, r.cqShift = 6, 4
	if p.Flags&IORING_SETUP_SQE128 != 0 {
		r.sqShift = 7
	}
	if p.Flags&IORING_SETUP_CQE32 != 0 {
		r.cqShift = 5
	}
	r.polled = p.Flags&IORING_SETUP_IOPOLL != 0
	r.sqThread = p.Flags&IORING_SETUP_SQPOLL != 0
	r.mute = p.Flags&(IORING_SETUP_COOP_TASKRUN|IORING_SETUP_DEFER_TASKRUN) != 0 && p.Flags&IORING_SETUP_TASKRUN_FLAG == 0
	sqArray := p.Flags&IORING_SETUP_NO_SQARRAY == 0

	// Both sizes are computed as if they were apart; a single mapping has the larger one.
	sqBytes := uintptr(p.SQOff.Array)
	if sqArray {
		sqBytes += uintptr(p.SQEntries) * 4
	}
	cqBytes := uintptr(p.CQOff.CQEs) + uintptr(p.CQEntries)<<r.cqShift
	single := p.Features&IORING_FEAT_SINGLE_MMAP != 0
	if single {
		sqBytes = max(sqBytes, cqBytes)
	}
	sq, err := r.mapPart(IORING_OFF_SQ_RING, sqBytes)
	if err != nil {
		return err
	}
	cq := sq
	if !single {
		if cq, err = r.mapPart(IORING_OFF_CQ_RING, cqBytes); err != nil {
			return err
		}
	}
	if r.sqes, err = r.mapPart(IORING_OFF_SQES, uintptr(p.SQEntries)<<r.sqShift); err != nil {
		return err
	}

	r.kHead = word(sq, p.SQOff.Head)
	r.kTail = word(sq, p.SQOff.Tail)
	r.kFlags = word(sq, p.SQOff.Flags)
	r.kDropped = word(sq, p.SQOff.Dropped)
	r.kCQHead = word(cq, p.CQOff.Head)
	r.kCQTail = word(cq, p.CQOff.Tail)
	r.kOverflow = word(cq, p.CQOff.Overflow)
	r.cqes = unsafe.Add(cq, p.CQOff.CQEs)
	r.sqMask = word(sq, p.SQOff.RingMask).Load()
	r.cqMask = word(cq, p.CQOff.RingMask).Load()
	r.tail = r.kTail.Load()
	r.sent = r.tail
	r.head = r.kCQHead.Load()
	if sqArray {
		// Entry i always stands in place i, so the indirection is set up once.
		for i := range p.SQEntries {
			word(sq, p.SQOff.Array+4*i).Store(i)
		}
	}
	return nil
}

func word(base unsafe.Pointer, offset uint32) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Add(base, offset))
}

func (r *Ring) mapPart(offset int64, n uintptr) (unsafe.Pointer, error) {
	p, err := r.k.Map(r.fd, offset, n)
	if err != nil {
		return nil, fmt.Errorf("io_uring: mapping %d bytes of the ring at %#x: %w", n, offset, err)
	}
	r.maps = append(r.maps, mapping{p, n})
	return p, nil
}

// enable sets up what waiting and entering need, and starts a ring that was created disabled.
func (r *Ring) enable(c Config) error {
	pageSize := uintptr(os.Getpagesize())
	p, err := r.k.Map(-1, 0, pageSize)
	if err != nil {
		return fmt.Errorf("io_uring: mapping the wait argument: %w", err)
	}
	r.maps = append(r.maps, mapping{p, pageSize})
	r.wait = (*waitPage)(p)
	if r.params.Flags&IORING_SETUP_R_DISABLED != 0 {
		if c.RegisterWait != Never {
			r.registerWait(pageSize)
		}
		if err := r.restrict(c.Restrict); err != nil {
			return err
		}
		if _, errno := r.k.Register(r.fd, IORING_REGISTER_ENABLE_RINGS, nil, 0); errno != 0 {
			return fmt.Errorf("io_uring: enabling the ring: %w", errno)
		}
	}
	if r.params.Features&IORING_FEAT_NO_IOWAIT != 0 {
		r.enterFlags |= IORING_ENTER_NO_IOWAIT
	}
	if c.RegisterRing != Never {
		r.registerSelf()
	}
	switch {
	case c.RegisterWait == Must && !r.regWait:
		return &feature.Error{Name: "registered waits", Since: "6.13"}
	case c.RegisterRing == Must && !r.registered:
		return &feature.Error{Name: "registered ring descriptors", Since: "5.18"}
	case c.MinWait && r.params.Features&IORING_FEAT_MIN_TIMEOUT == 0:
		return &feature.Error{Name: "a minimum wait", Since: "6.12"}
	}
	return nil
}

// registerWait makes the wait page a region that waits can refer to without copying their argument (Linux 6.13). The
// kernel takes it only while the ring is disabled. Waits work without it.
func (r *Ring) registerWait(pageSize uintptr) {
	w := r.wait
	w.desc = regionDesc{UserAddr: uint64(uintptr(unsafe.Pointer(w))), Size: uint64(pageSize),
		Flags: IORING_MEM_REGION_TYPE_USER}
	reg := memRegionReg{RegionUptr: uint64(uintptr(unsafe.Pointer(&w.desc))), Flags: IORING_MEM_REGION_REG_WAIT_ARG}
	_, errno := r.k.Register(r.fd, IORING_REGISTER_MEM_REGION, unsafe.Pointer(&reg), 1)
	r.regWait = errno == 0
}

// registerSelf lets this thread enter by a registered index, which saves a look-up each time (Linux 5.18).
func (r *Ring) registerSelf() {
	up := rsrcUpdate{Offset: ^uint32(0), Data: uint64(r.fd)}
	if n, errno := r.k.Register(r.fd, IORING_REGISTER_RING_FDS, unsafe.Pointer(&up), 1); errno == 0 && n == 1 {
		r.enterFd, r.registered = int(up.Offset), true
		r.enterFlags |= IORING_ENTER_REGISTERED_RING
	}
}

// Close unmaps and closes the ring. Requests in flight must have been reaped: the kernel may still write to their
// buffers otherwise.
func (r *Ring) Close() error {
	if r.fd < 0 {
		return nil
	}
	if r.registered {
		up := rsrcUpdate{Offset: uint32(r.enterFd)}
		_, _ = r.k.Register(r.fd, IORING_UNREGISTER_RING_FDS, unsafe.Pointer(&up), 1)
	}
	var first error
	for _, m := range r.maps {
		if err := r.k.Unmap(m.p, m.n); err != nil && first == nil {
			first = fmt.Errorf("io_uring: unmapping the ring: %w", err)
		}
	}
	if err := r.k.Close(r.fd); err != nil && first == nil {
		first = fmt.Errorf("io_uring: closing the ring: %w", err)
	}
	*r = Ring{fd: -1, enters: r.enters, waits: r.waits}
	return first
}
