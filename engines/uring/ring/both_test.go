package ring

import (
	"errors"
	"runtime"
	"testing"
)

// TestTogether hands no-ops over and waits for them in one call, in pieces of a ring that wraps around.
func TestTogether(t *testing.T) {
	runtime.LockOSThread() // ends with the test's goroutine
	r, err := Open(Linux, Config{Entries: 8, CQEntries: 8, Optional: Optional})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	next := uint64(0)
	for round := range 5 {
		first, rest := r.SQEs(5)
		if len(first)+len(rest) != 5 {
			t.Fatalf("%d and %d places", len(first), len(rest))
		}
		for _, list := range [][]SQE{first, rest} {
			for i := range list {
				list[i] = SQE{Opcode: IORING_OP_NOP, UserData: next}
				next++
			}
		}
		r.Publish(5)
		for r.Ready() < 5 {
			if err := r.SubmitAndWait(5 - r.Ready()); err != nil {
				t.Fatal(err)
			}
		}
		a, b := r.CQEs(5)
		for i, c := range append(append([]CQE(nil), a...), b...) {
			if c.UserData != uint64(5*round+i) || c.Res != 0 {
				t.Errorf("round %d: completion %d: %+v", round, i, c)
			}
		}
		r.Advance(5)
	}
	if err := r.Lost(); err != nil {
		t.Error(err)
	}
}

// TestRestricted allows a ring no-ops alone.
func TestRestricted(t *testing.T) {
	runtime.LockOSThread() // ends with the test's goroutine
	r, err := Open(Linux, Config{Entries: 2, Flags: IORING_SETUP_R_DISABLED, RegisterRing: Never, Restrict: []Restriction{
		{Opcode: IORING_RESTRICTION_SQE_OP, Value: IORING_OP_NOP},
		{Opcode: IORING_RESTRICTION_REGISTER_OP, Value: IORING_REGISTER_ENABLE_RINGS},
	}})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for op, allowed := range map[uint8]bool{IORING_OP_NOP: true, IORING_OP_FSYNC: false} {
		*r.SQE(0) = SQE{Opcode: op, Fd: -1}
		r.Publish(1)
		if err := r.SubmitAndWait(1); err != nil {
			t.Fatal(err)
		}
		if got := r.CQE(0).Res == 0; got != allowed {
			t.Errorf("operation %d: result %d", op, r.CQE(0).Res)
		}
		r.Advance(1)
	}
	if err := r.RegisterFiles([]int32{0}); err == nil {
		t.Error("files could be registered")
	}
}
