package enginetest

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/job"
)

func TestFakeConforms(t *testing.T) {
	for _, s := range []Script{{}, {Newest: true}, {Depth: 2}, {PerSubmit: 1}, {PerReap: 1},
		{Late: map[int]int{0: 3, 2: 5, 7: 1}}} {
		Run(t, NewFake(s).Driver("fake", job.Traits{Diskless: true}),
			Without("allocs", "the fake keeps a log"))
	}
}

func ios(n int) []*engines.IO {
	list := make([]*engines.IO, n)
	for i := range list {
		list[i] = &engines.IO{Index: uint32(i), Buf: make([]byte, 10), Offset: int64(i) * 10}
	}
	return list
}

func reapAll(t *testing.T, f *Fake, least int, wait time.Duration) []uint32 {
	t.Helper()
	done := make([]*engines.IO, 16)
	n, err := f.Reap(done, least, wait)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint32
	for _, u := range done[:n] {
		got = append(got, u.Index)
	}
	return got
}

func submit(t *testing.T, f *Fake, list []*engines.IO, want int) {
	t.Helper()
	if n, err := f.Submit(list); n != want || err != nil {
		t.Fatalf("Submit: %d, %v; want %d", n, err, want)
	}
}

func TestFakeOrder(t *testing.T) {
	f := NewFake(Script{Newest: true, Late: map[int]int{1: 2}})
	submit(t, f, ios(4), 4)
	if diff := cmp.Diff([]uint32{3, 2, 0}, reapAll(t, f, 0, 0)); diff != "" {
		t.Error(diff)
	}
	if got := reapAll(t, f, 0, 0); got != nil {
		t.Errorf("a late one came early: %v", got)
	}
	if diff := cmp.Diff([]uint32{1}, reapAll(t, f, 0, 0)); diff != "" {
		t.Error(diff)
	}
}

func TestFakeWaits(t *testing.T) {
	f := NewFake(Script{Late: map[int]int{0: 100}, Lose: map[int]bool{1: true}})
	submit(t, f, ios(2), 2)
	if got := reapAll(t, f, 1, time.Second); got != nil || f.Waited != time.Second {
		t.Errorf("a limited wait gave %v after %v", got, f.Waited)
	}
	if diff := cmp.Diff([]uint32{0}, reapAll(t, f, 2, -1)); diff != "" {
		t.Error(diff)
	}
	if f.InFlight() != 1 || f.Close() != nil || f.ClosedInFlight != 1 {
		t.Errorf("in flight at the end: %d", f.ClosedInFlight)
	}
}

func TestFakeResults(t *testing.T) {
	f := NewFake(Script{Short: map[int]int{1: 3}, Fail: map[int]syscall.Errno{2: syscall.EIO}})
	list := ios(4)
	list[3].Op = engines.Sync
	submit(t, f, list, 4)
	reapAll(t, f, 4, -1)
	for i, want := range []int{10, 3, 0, 0} {
		if u := list[i]; u.Done != want || (u.Errno != 0) != (i == 2) {
			t.Errorf("I/O %d: done %d, errno %v", i, u.Done, u.Errno)
		}
	}
	want := []Record{{engines.Read, "", 0, 10, 0}, {engines.Read, "", 10, 10, 1}, {engines.Read, "", 20, 10, 2},
		{engines.Sync, "", 30, 10, 3}}
	if diff := cmp.Diff(want, f.Log); diff != "" {
		t.Error(diff)
	}
}

func TestFakeErrors(t *testing.T) {
	bad := errors.New("bad")
	f := NewFake(Script{Busy: 1, SubmitErr: bad, SubmitErrAt: 2, ReapErr: bad, ReapErrAt: 1})
	submit(t, f, ios(1), 0)
	submit(t, f, ios(1), 1)
	if _, err := f.Submit(ios(1)); !errors.Is(err, bad) {
		t.Errorf("third Submit: %v", err)
	}
	reapAll(t, f, 1, -1)
	if _, err := f.Reap(nil, 0, 0); !errors.Is(err, bad) {
		t.Errorf("second Reap: %v", err)
	}
}
