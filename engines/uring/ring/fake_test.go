package ring

import (
	"encoding/binary"
	"syscall"
	"testing"
	"unsafe"
)

// fakeKernel plays the other side of the shared memory. Its indices start shortly before they wrap around.
type fakeKernel struct {
	refuse   uint32   // set-up flags it does not know
	features uint32   // IORING_FEAT_*
	setups   []uint32 // flags of each set-up

	sqEntries, cqEntries uint32
	sq, cq, sqes         []byte
	wide                 bool // 128-byte entries, 32-byte completions
	array                bool // the submission array is there

	answers []answer // of the next enters; the zero answer takes all that is offered
	enters  []enter
	seen    []SQE // entries taken
	hold    bool  // take entries, complete none
	closed  bool
	opened  int // mappings not undone
}

type answer struct {
	take  int // entries taken before the answer; -1: all
	errno syscall.Errno
	post  int // held entries completed, oldest first
}

type enter struct {
	submit, complete, flags uint32
}

const (
	offHead, offTail, offMask, offEntries, offFlags, offDropped, offOverflow, offArray = 0, 4, 8, 12, 16, 20, 24, 64
	offCQEs                                                                            = 64
	firstIndex                                                                         = ^uint32(0) - 5
)

func (f *fakeKernel) kernel() *Kernel {
	return &Kernel{
		Setup: f.setup,
		Enter: func(_ int, submit, complete, flags uint32, _ unsafe.Pointer, _ uintptr) (int, syscall.Errno) {
			return f.enter(enter{submit, complete, flags})
		},
		Register: func(_ int, op uint32, _ unsafe.Pointer, _ uint32) (int, syscall.Errno) {
			if op == IORING_REGISTER_ENABLE_RINGS {
				return 0, 0
			}
			return 0, syscall.EINVAL
		},
		Map:   f.mmap,
		Unmap: func(unsafe.Pointer, uintptr) error { f.opened--; return nil },
		Close: func(int) error { f.closed = true; return nil },
	}
}

func (f *fakeKernel) setup(entries uint32, p *Params) (int, syscall.Errno) {
	f.setups = append(f.setups, p.Flags)
	if p.Flags&f.refuse != 0 {
		return -1, syscall.EINVAL
	}
	f.sqEntries = 1
	for f.sqEntries < entries {
		f.sqEntries *= 2
	}
	if f.cqEntries = 2 * f.sqEntries; p.Flags&IORING_SETUP_CQSIZE != 0 {
		f.cqEntries = p.CQEntries
	}
	f.wide = p.Flags&IORING_SETUP_SQE128 != 0
	f.array = p.Flags&IORING_SETUP_NO_SQARRAY == 0
	p.SQEntries, p.CQEntries, p.Features = f.sqEntries, f.cqEntries, f.features
	p.SQOff = SQOffsets{Head: offHead, Tail: offTail, RingMask: offMask, RingEntries: offEntries, Flags: offFlags,
		Dropped: offDropped, Array: offArray}
	p.CQOff = CQOffsets{Head: offHead, Tail: offTail, RingMask: offMask, RingEntries: offEntries, Overflow: offOverflow,
		CQEs: offCQEs}
	return 77, 0
}

func (f *fakeKernel) mmap(fd int, offset int64, n uintptr) (unsafe.Pointer, error) {
	f.opened++
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, (n+7)/8)))), n)
	if fd >= 0 {
		switch offset {
		case IORING_OFF_SQ_RING:
			f.sq = mem
			f.put(f.sq, offHead, firstIndex)
			f.put(f.sq, offTail, firstIndex)
			f.put(f.sq, offMask, f.sqEntries-1)
		case IORING_OFF_CQ_RING:
			f.cq = mem
			f.put(f.cq, offHead, firstIndex)
			f.put(f.cq, offTail, firstIndex)
			f.put(f.cq, offMask, f.cqEntries-1)
		case IORING_OFF_SQES:
			f.sqes = mem
		}
	}
	return unsafe.Pointer(unsafe.SliceData(mem)), nil
}

func (f *fakeKernel) put(mem []byte, at int, v uint32) { binary.NativeEndian.PutUint32(mem[at:], v) }
func (f *fakeKernel) get(mem []byte, at int) uint32    { return binary.NativeEndian.Uint32(mem[at:]) }

func (f *fakeKernel) enter(e enter) (int, syscall.Errno) {
	f.enters = append(f.enters, e)
	a := answer{take: -1}
	if len(f.answers) > 0 {
		a, f.answers = f.answers[0], f.answers[1:]
	}
	n := int(e.submit)
	if a.take >= 0 {
		n = min(n, a.take)
	}
	for range n {
		f.take()
	}
	f.post(a.post)
	if a.errno != 0 {
		return -1, a.errno
	}
	return n, 0
}

// take consumes one entry, and completes it at once unless completions are held.
func (f *fakeKernel) take() {
	head := f.get(f.sq, offHead)
	if head == f.get(f.sq, offTail) {
		return
	}
	i := head & (f.sqEntries - 1)
	if f.array {
		i = f.get(f.sq, offArray+4*int(i))
	}
	size := 64
	if f.wide {
		size = 128
	}
	s := *(*SQE)(unsafe.Pointer(&f.sqes[int(i)*size]))
	f.seen = append(f.seen, s)
	f.put(f.sq, offHead, head+1)
	if !f.hold {
		f.complete(s)
	}
}

// post completes the n oldest entries.
func (f *fakeKernel) post(n int) {
	for range n {
		f.complete(f.seen[0])
		f.seen = f.seen[1:]
	}
}

func (f *fakeKernel) complete(s SQE) {
	tail := f.get(f.cq, offTail)
	if tail-f.get(f.cq, offHead) == f.cqEntries {
		f.put(f.cq, offOverflow, f.get(f.cq, offOverflow)+1)
		return
	}
	size := 16
	if f.wide {
		size = 32
	}
	c := (*CQE)(unsafe.Pointer(&f.cq[offCQEs+int(tail&(f.cqEntries-1))*size]))
	*c = CQE{UserData: s.UserData, Res: int32(s.Len)}
	f.put(f.cq, offTail, tail+1)
}

func openFake(t *testing.T, f *fakeKernel, c Config) *Ring {
	t.Helper()
	r, err := Open(f.kernel(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if !f.closed || f.opened != 0 {
			t.Errorf("after Close: closed %v, %d mappings left", f.closed, f.opened)
		}
	})
	return r
}

// push publishes n entries whose user data counts up from first.
func push(r *Ring, first uint64, n int) {
	for i := range n {
		*r.SQE(uint32(i)) = SQE{UserData: first + uint64(i), Len: uint32(first) + uint32(i)}
	}
	r.Publish(uint32(n))
}
