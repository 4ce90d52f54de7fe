package ring

import (
	"errors"
	"runtime"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bursts are the two ways to do the same.
var bursts = []struct {
	name string
	f    func(r *Ring, n, wait uint32, want int32, rounds int) (int, error)
}{{"fast", (*Ring).Burst}, {"plain", (*Ring).burst}}

// noOps is a ring of 8 entries that do nothing and result in 0, except one; odd -1 is none.
func noOps(t *testing.T, odd int) *Ring {
	t.Helper()
	runtime.LockOSThread() // ends with the test's goroutine
	r, err := Open(Linux, Config{Entries: 8, CQEntries: 8, Optional: Optional})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Lost(), r.Close()); err != nil {
			t.Error(err)
		}
	})
	for i := range r.params.SQEntries {
		*r.SQE(i) = SQE{Opcode: IORING_OP_NOP, UserData: uint64(i)}
	}
	if odd >= 0 {
		if r.params.Flags&IORING_SETUP_SUBMIT_ALL == 0 {
			t.Skip("this kernel stops at an entry that it refuses")
		}
		*r.SQE(uint32(odd)) = SQE{Opcode: 255} // none, also in kernels to come
	}
	return r
}

// TestBurst does rounds whose entries and completions wrap around, and ends at a result that is not wanted.
func TestBurst(t *testing.T) {
	type outcome struct {
		Done           int
		Pending, Ready uint32
		Enters         uint64
		Results        []int32
	}
	for _, b := range bursts {
		for _, c := range []struct {
			n, wait uint32
			odd     int
			want    outcome
		}{
			{n: 1, odd: -1, want: outcome{Done: 100, Enters: 100}},
			{n: 5, odd: -1, want: outcome{Done: 100, Enters: 100}},
			{n: 5, wait: 5, odd: -1, want: outcome{Done: 100, Enters: 100}},
			{n: 8, wait: 1, odd: -1, want: outcome{Done: 100, Enters: 100}},
			{n: 3, odd: 7, want: outcome{Done: 2, Ready: 3, Enters: 3, Results: []int32{0, -22, 0}}},
			{n: 3, wait: 3, odd: 0, want: outcome{Done: 0, Ready: 3, Enters: 1, Results: []int32{-22, 0, 0}}},
		} {
			t.Run(b.name, func(t *testing.T) {
				r := noOps(t, c.odd)
				done, err := b.f(r, c.n, c.wait, 0, 100)
				if err != nil {
					t.Fatal(err)
				}
				got := outcome{Done: done, Pending: r.Pending(), Ready: r.Ready(), Enters: r.enters}
				for i := range got.Ready {
					got.Results = append(got.Results, r.CQE(i).Res)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("%d each, wait for %d, odd %d (-want +got)\n%s", c.n, c.wait, c.odd, d)
				}
				r.Advance(r.Ready())
			})
		}
	}
}

// TestBurstFails has kernels that take less than is offered, or nothing.
func TestBurstFails(t *testing.T) {
	for _, c := range []struct {
		last    answer
		err     error
		pending uint32
	}{
		{answer{take: -1, errno: syscall.EINTR}, nil, 0},
		{answer{take: 1}, nil, 2},
		{answer{take: 0, errno: syscall.EAGAIN}, ErrBusy, 3},
		{answer{take: 0, errno: syscall.EBADR}, ErrLost, 3},
		{answer{take: 0, errno: syscall.ENXIO}, syscall.ENXIO, 3},
	} {
		f := &fakeKernel{answers: []answer{{take: -1}, {take: -1}, c.last}}
		r, err := Open(f.kernel(), Config{Entries: 4})
		if err != nil {
			t.Fatal(err)
		}
		done, err := r.Burst(3, 0, 0, 10)
		if !errors.Is(err, c.err) || r.Pending() != c.pending {
			t.Errorf("%+v: %d done, %d pending, error %v", c.last, done, r.Pending(), err)
		}
		if r.Pending() > 0 && done != 2 {
			t.Errorf("%+v: %d done", c.last, done)
		}
	}
}

// TestBurstRefused is a descriptor that is none: what the real kernel answers becomes an error.
func TestBurstRefused(t *testing.T) {
	for _, b := range bursts {
		r := noOps(t, -1)
		fd, flags := r.enterFd, r.enterFlags
		r.enterFd, r.enterFlags = 1<<20, 0
		done, err := b.f(r, 4, 0, 0, 10)
		r.enterFd, r.enterFlags = fd, flags
		if n := r.Withdraw(); done != 0 || n != 4 || !errors.Is(err, syscall.EBADF) {
			t.Errorf("%s: %d rounds, %d pending, error %v", b.name, done, n, err)
		}
	}
}

func TestBurstAllocatesNothing(t *testing.T) {
	for _, b := range bursts {
		r := noOps(t, -1)
		if n := testing.AllocsPerRun(100, func() { _, _ = b.f(r, 8, 0, 0, 4) }); n != 0 {
			t.Errorf("%s: %v allocations", b.name, n)
		}
	}
}
