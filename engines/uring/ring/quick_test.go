package ring

import (
	"errors"
	"syscall"
	"testing"
)

func nop(r *Ring, data uint64) { *r.SQE(0) = SQE{Opcode: IORING_OP_NOP, UserData: data} }

func TestPushAndSleep(t *testing.T) {
	r := openLinux(t, Config{Entries: 4, CQEntries: 4, Optional: Optional})
	if !r.Quick() {
		t.Fatal("not quick on Linux")
	}
	for round := range uint64(10) {
		for i := range uint64(3) {
			nop(r, round*3+i)
			if !r.Push() || r.Pending() != 0 {
				t.Fatalf("not taken, %d pending", r.Pending())
			}
		}
		if !r.Sleep(3) {
			t.Fatalf("%d ready after Sleep, want 3", r.Ready())
		}
		for i := range uint32(3) {
			if got, want := r.CQE(i).UserData, round*3+uint64(i); got != want {
				t.Errorf("completion of %d, want %d", got, want)
			}
		}
		r.Advance(3)
	}
	if submits, _ := r.Enters(); submits != 30 {
		t.Errorf("%d submits counted, want 30", submits)
	}
}

// TestPushRefused leaves the entry published, for Submit to tell why or to hand it over.
func TestPushRefused(t *testing.T) {
	r := openLinux(t, Config{Entries: 4, CQEntries: 4, Optional: Optional, RegisterRing: Never})
	fd := r.enterFd
	r.enterFd = -1
	nop(r, 7)
	if r.Push() || r.Pending() != 1 {
		t.Fatalf("taken by no ring, %d pending", r.Pending())
	}
	if err := r.Submit(); !errors.Is(err, syscall.EBADF) {
		t.Errorf("Submit: %v, want EBADF", err)
	}
	r.enterFd = fd
	if err := r.Submit(); err != nil || r.Pending() != 0 {
		t.Fatalf("%d pending, %v", r.Pending(), err)
	}
	if !r.Sleep(1) || r.CQE(0).UserData != 7 {
		t.Errorf("%d ready", r.Ready())
	}
	r.Advance(1)
	r.enterFd = -1
	if r.Sleep(1) {
		t.Error("slept with nothing in flight and is content")
	}
	r.enterFd = fd
}

func TestNotQuick(t *testing.T) {
	if openFake(t, &fakeKernel{}, Config{Entries: 1}).Quick() {
		t.Error("quick with another kernel")
	}
	if openLinux(t, Config{Entries: 1, Flags: IORING_SETUP_SQPOLL}).Quick() {
		t.Error("quick with a kernel thread that submits")
	}
}
