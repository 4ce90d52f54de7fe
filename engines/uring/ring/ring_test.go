package ring

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestIndicesWrapAround(t *testing.T) {
	for name, flags := range map[string]uint32{
		"plain": 0, "no array": IORING_SETUP_NO_SQARRAY, "wide": IORING_SETUP_SQE128 | IORING_SETUP_CQE32,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeKernel{}
			r := openFake(t, f, Config{Entries: 4, Flags: flags})
			next, reaped := uint64(100), uint64(100)
			for round := range 20 {
				n := 1 + round%4
				if got := r.Space(); got != 4 {
					t.Fatalf("round %d: space for %d, want 4", round, got)
				}
				push(r, next, n)
				if got := r.Pending(); got != uint32(n) {
					t.Fatalf("round %d: %d pending, want %d", round, got, n)
				}
				next += uint64(n)
				if err := r.Submit(); err != nil {
					t.Fatal(err)
				}
				if got := r.Ready(); got != uint32(n) {
					t.Fatalf("round %d: %d ready, want %d", round, got, n)
				}
				for i := range uint32(n) {
					c := r.CQE(i)
					if c.UserData != reaped || c.Res != int32(reaped) {
						t.Fatalf("round %d: completion %d is of %d with %d, want %d", round, i, c.UserData, c.Res, reaped)
					}
					reaped++
				}
				r.Advance(uint32(n))
			}
			if f.get(f.cq, offHead) > 100 {
				t.Errorf("the indices never wrapped: head %#x", f.get(f.cq, offHead))
			}
			if err := r.Lost(); err != nil {
				t.Error(err)
			}
			if submits, _ := r.Enters(); submits != 20 {
				t.Errorf("%d enters, want one a batch, 20", submits)
			}
		})
	}
}

func TestSubmitSurvivesInterruptions(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []answer
		err     error
		pending uint32
		enters  []uint32 // entries offered at each enter
	}{
		{"all at once", nil, nil, 0, []uint32{4}},
		{"interrupted before", []answer{{0, syscall.EINTR, 0}}, nil, 0, []uint32{4, 4}},
		{"interrupted after two", []answer{{2, syscall.EINTR, 0}}, nil, 0, []uint32{4, 2}},
		{"taken in parts", []answer{{take: 1}, {take: 2}}, nil, 0, []uint32{4, 3, 1}},
		{"busy", []answer{{3, syscall.EBUSY, 0}}, ErrBusy, 1, []uint32{4}},
		{"no memory", []answer{{0, syscall.EAGAIN, 0}}, ErrBusy, 4, []uint32{4}},
		{"no progress", []answer{{take: 0}}, ErrBusy, 4, []uint32{4}},
		{"dropped completions", []answer{{0, syscall.EBADR, 0}}, ErrLost, 4, []uint32{4}},
		{"refused", []answer{{0, syscall.ENXIO, 0}}, syscall.ENXIO, 4, []uint32{4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeKernel{answers: c.answers}
			r := openFake(t, f, Config{Entries: 4})
			push(r, 1, 4)
			if err := r.Submit(); !errors.Is(err, c.err) {
				t.Errorf("Submit = %v, want %v", err, c.err)
			}
			if got := r.Pending(); got != c.pending {
				t.Errorf("%d pending, want %d", got, c.pending)
			}
			var offered []uint32
			for _, e := range f.enters {
				offered = append(offered, e.submit)
			}
			if diff := cmp.Diff(c.enters, offered); diff != "" {
				t.Errorf("entries offered (-want +got):\n%s", diff)
			}
			taken := 4 - c.pending
			if got := r.Withdraw(); got != c.pending {
				t.Errorf("Withdraw = %d, want %d", got, c.pending)
			}
			if got := r.Space(); got != 4 {
				t.Errorf("space for %d after Withdraw, want 4", got)
			}
			// What was withdrawn can be offered again, and nothing is taken twice.
			push(r, uint64(taken)+1, int(c.pending))
			if err := r.Submit(); err != nil {
				t.Fatal(err)
			}
			if len(f.seen) != 4 {
				t.Fatalf("the kernel saw %d entries, want 4", len(f.seen))
			}
			for i, s := range f.seen {
				if s.UserData != uint64(i+1) {
					t.Errorf("entry %d has user data %d", i, s.UserData)
				}
			}
		})
	}
}

func TestWait(t *testing.T) {
	f := &fakeKernel{hold: true}
	r := openFake(t, f, Config{Entries: 4})
	push(r, 1, 4)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	f.enters = nil
	f.answers = []answer{{errno: syscall.EINTR}, {post: 1}, {errno: syscall.EINTR, post: 1}}
	if err := r.Wait(2, -1); err != nil || r.Ready() != 2 {
		t.Fatalf("Wait: %v, %d ready", err, r.Ready())
	}
	want := make([]enter, 3)
	for i := range want {
		want[i] = enter{complete: 2, flags: IORING_ENTER_GETEVENTS}
	}
	if diff := cmp.Diff(want, f.enters, cmp.AllowUnexported(enter{})); diff != "" {
		t.Errorf("enters (-want +got):\n%s", diff)
	}
	f.enters = nil
	if err := r.Wait(2, -1); err != nil || len(f.enters) != 0 {
		t.Errorf("Wait for what is ready: %v, %d enters", err, len(f.enters))
	}
	r.Advance(2)
	if err := r.Wait(2, 0); err != nil || r.Ready() != 0 {
		t.Errorf("Wait without patience: %v, %d ready", err, r.Ready())
	}
	f.answers = []answer{{errno: syscall.EBADR}}
	if err := r.Wait(2, -1); !errors.Is(err, ErrLost) {
		t.Errorf("Wait with dropped completions: %v", err)
	}
	f.answers = []answer{{errno: syscall.ENXIO}}
	if err := r.Wait(2, -1); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("Wait refused: %v", err)
	}
}

func TestWaitWithLimit(t *testing.T) {
	for name, features := range map[string]uint32{"argument": IORING_FEAT_EXT_ARG, "none": 0} {
		t.Run(name, func(t *testing.T) {
			f := &fakeKernel{hold: true, features: features}
			r := openFake(t, f, Config{Entries: 4})
			push(r, 1, 2)
			if err := r.Submit(); err != nil {
				t.Fatal(err)
			}
			f.answers = []answer{{errno: syscall.EINTR}, {errno: syscall.ETIME, post: 1}}
			if err := r.Wait(1, time.Hour); err != nil || r.Ready() != 1 {
				t.Fatalf("Wait: %v, %d ready", err, r.Ready())
			}
			if err := r.Wait(2, time.Millisecond); err != nil || r.Ready() != 1 {
				t.Errorf("Wait to its limit: %v, %d ready", err, r.Ready())
			}
			if name == "argument" && r.wait.ts == (Timespec{}) {
				t.Error("no time limit was passed")
			}
		})
	}
}

func TestLostIsAnError(t *testing.T) {
	for name, at := range map[string]int{"completion": offOverflow, "entry": offDropped} {
		t.Run(name, func(t *testing.T) {
			f := &fakeKernel{}
			r := openFake(t, f, Config{Entries: 4})
			if err := r.Lost(); err != nil {
				t.Fatal(err)
			}
			mem := f.sq
			if name == "completion" {
				mem = f.cq
			}
			f.put(mem, at, 1)
			if err := r.Lost(); !errors.Is(err, ErrLost) {
				t.Errorf("Lost = %v", err)
			}
		})
	}
	f := &fakeKernel{}
	r := openFake(t, f, Config{Entries: 4, CQEntries: 4})
	push(r, 1, 4)
	_ = r.Submit()
	push(r, 5, 1)
	_ = r.Submit()
	if err := r.Lost(); !errors.Is(err, ErrLost) {
		t.Errorf("one completion too many: Lost = %v", err)
	}
}

func TestStalled(t *testing.T) {
	f := &fakeKernel{}
	r := openFake(t, f, Config{Entries: 4})
	for _, c := range []struct {
		flags uint32
		want  bool
	}{{0, false}, {IORING_SQ_NEED_WAKEUP, false}, {IORING_SQ_TASKRUN, true}, {IORING_SQ_CQ_OVERFLOW, true}} {
		f.put(f.sq, offFlags, c.flags)
		if got := r.Stalled(); got != c.want {
			t.Errorf("flags %#x: Stalled = %v", c.flags, got)
		}
	}
	for _, c := range []struct {
		flags uint32
		want  bool
	}{
		{IORING_SETUP_IOPOLL, true}, {IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER, true},
		{IORING_SETUP_COOP_TASKRUN, true}, {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, false},
	} {
		if got := openFake(t, &fakeKernel{}, Config{Entries: 4, Flags: c.flags}).Stalled(); got != c.want {
			t.Errorf("ring with flags %#x: Stalled = %v", c.flags, got)
		}
	}
}

func TestSubmissionThreadIsWokenOnlyWhenAsleep(t *testing.T) {
	f := &fakeKernel{}
	r := openFake(t, f, Config{Entries: 4, Flags: IORING_SETUP_SQPOLL})
	push(r, 1, 1)
	if err := r.Submit(); err != nil || len(f.enters) != 0 {
		t.Errorf("awake: %v, %d enters", err, len(f.enters))
	}
	f.put(f.sq, offFlags, IORING_SQ_NEED_WAKEUP)
	f.answers = []answer{{errno: syscall.EINTR}, {}}
	push(r, 2, 1)
	if err := r.Submit(); err != nil || len(f.enters) != 2 || f.enters[1].flags&IORING_ENTER_SQ_WAKEUP == 0 {
		t.Errorf("asleep: %v, enters %v", err, f.enters)
	}
	f.answers = []answer{{errno: syscall.EOWNERDEAD}}
	if err := r.Submit(); !errors.Is(err, syscall.EOWNERDEAD) {
		t.Errorf("dead: %v", err)
	}
	f.put(f.sq, offFlags, 0)
}

func TestSetupGivesUpOptionalFlagsInOrder(t *testing.T) {
	const deferred = IORING_SETUP_DEFER_TASKRUN
	f := &fakeKernel{refuse: IORING_SETUP_SINGLE_ISSUER}
	r := openFake(t, f, Config{Entries: 4, CQEntries: 4,
		Optional: []uint32{deferred, IORING_SETUP_SINGLE_ISSUER, IORING_SETUP_SUBMIT_ALL}})
	want := []uint32{
		IORING_SETUP_CQSIZE | deferred | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL,
	}
	if diff := cmp.Diff(want, f.setups); diff != "" {
		t.Errorf("flags tried (-want +got):\n%s", diff)
	}
	if r.Params().Flags != want[2] {
		t.Errorf("flags %#x, want %#x", r.Params().Flags, want[2])
	}
	// A flag that must be had is never given up.
	f = &fakeKernel{refuse: deferred}
	if _, err := Open(f.kernel(), Config{Entries: 4, Flags: deferred, Optional: Optional}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("required flag refused: %v", err)
	}
	for _, flags := range f.setups {
		if flags&deferred == 0 {
			t.Errorf("tried without the required flag: %#x", flags)
		}
	}
}

func TestSetupErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		errno       syscall.Errno
		unsupported bool
	}{{syscall.ENOSYS, true}, {syscall.EPERM, true}, {syscall.ENOMEM, false}, {syscall.EMFILE, false}} {
		k := (&fakeKernel{}).kernel()
		k.Setup = func(uint32, *Params) (int, syscall.Errno) { return -1, c.errno }
		_, err := Open(k, Config{Entries: 1})
		if !errors.Is(err, c.errno) || errors.Is(err, errors.ErrUnsupported) != c.unsupported {
			t.Errorf("%v: %v", c.errno, err)
		}
	}
}
