package ring

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// openLinux makes a real ring, or skips where this kernel or its configuration allows none.
func openLinux(t testing.TB, c Config) *Ring {
	t.Helper()
	runtime.LockOSThread() // a ring belongs to one thread
	t.Cleanup(runtime.UnlockOSThread)
	r, err := Open(Linux, c)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestNopsGoAround(t *testing.T) {
	for name, flags := range map[string]uint32{
		"plain": 0, "large": IORING_SETUP_SQE128 | IORING_SETUP_CQE32, "thread": IORING_SETUP_SQPOLL,
	} {
		t.Run(name, func(t *testing.T) {
			c := Config{Entries: 8, CQEntries: 8, Flags: flags, Optional: Optional}
			if flags&IORING_SETUP_SQPOLL != 0 {
				c.Optional = nil
			}
			r := openLinux(t, c)
			next := uint64(0)
			for round := range 50 {
				n := uint32(1 + round%8)
				for i := range n {
					if flags&IORING_SETUP_SQE128 != 0 {
						*r.SQE128(i) = SQE128{SQE: SQE{Opcode: IORING_OP_NOP, UserData: next + uint64(i)}}
					} else {
						*r.SQE(i) = SQE{Opcode: IORING_OP_NOP, UserData: next + uint64(i)}
					}
				}
				r.Publish(n)
				if err := r.Submit(); err != nil {
					t.Fatal(err)
				}
				if err := r.Wait(n, -1); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					if c := r.CQE(i); c.UserData != next || c.Res != 0 {
						t.Fatalf("completion of %d with %d, want %d with 0", c.UserData, c.Res, next)
					}
					next++
				}
				r.Advance(n)
			}
			if err := r.Lost(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWaitEndsAtItsLimit waits for what never comes.
func TestWaitEndsAtItsLimit(t *testing.T) {
	for _, registered := range []bool{true, false} {
		r := openLinux(t, Config{Entries: 1, Optional: Optional})
		if registered && !r.RegisteredWait() {
			t.Logf("registered waits: not on this kernel (they came with Linux 6.13)")
		}
		r.regWait = r.regWait && registered
		start := time.Now()
		if err := r.Wait(1, 2*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 2*time.Millisecond {
			t.Errorf("registered %v: a wait of 2 ms ended after %v", registered, took)
		}
	}
}

func TestFixedBufferAndFile(t *testing.T) {
	r := openLinux(t, Config{Entries: 4, Optional: Optional})
	ops, err := r.Probe()
	if err != nil {
		t.Fatal(err)
	}
	if !ops[IORING_OP_WRITE_FIXED] || ops[255] {
		t.Errorf("probe: fixed writes %v, operation 255 %v", ops[IORING_OP_WRITE_FIXED], ops[255])
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page, err := Linux.Map(-1, 0, 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = Linux.Unmap(page, 4096) }()
	buf := unsafe.Slice((*byte)(page), 4096)
	copy(buf, "registered")
	if err := r.RegisterBuffers([]Iovec{{uint64(uintptr(page)), 4096}}); err != nil {
		t.Fatal(err)
	}
	if err := r.RegisterFiles([]int32{-1, -1}); err != nil {
		t.Fatal(err)
	}
	if err := r.UpdateFile(1, int32(f.Fd())); err != nil {
		t.Fatal(err)
	}
	if err := r.UpdateFile(2, int32(f.Fd())); err == nil {
		t.Error("a slot behind the table was filled")
	}
	*r.SQE(0) = SQE{Opcode: IORING_OP_WRITE_FIXED, Flags: IOSQE_FIXED_FILE, Fd: 1, Addr: uint64(uintptr(page)), Len: 10}
	r.Publish(1)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(1, -1); err != nil {
		t.Fatal(err)
	}
	if c := r.CQE(0); c.Res != 10 {
		t.Fatalf("write returned %d", c.Res)
	}
	r.Advance(1)
	if got, err := os.ReadFile(f.Name()); err != nil || string(got) != "registered" {
		t.Errorf("file holds %q, %v", got, err)
	}
}

func TestNoAllocations(t *testing.T) {
	r := openLinux(t, Config{Entries: 8, Optional: Optional})
	if n := testing.AllocsPerRun(100, func() {
		for i := range uint32(8) {
			*r.SQE(i) = SQE{Opcode: IORING_OP_NOP}
		}
		r.Publish(8)
		if err := r.Submit(); err != nil {
			t.Error(err)
		}
		if err := r.Wait(8, time.Second); err != nil {
			t.Error(err)
		}
		r.Advance(8)
		_ = r.Wait(1, time.Microsecond)
	}); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

func BenchmarkNop(b *testing.B) {
	r := openLinux(b, Config{Entries: 32, Optional: Optional})
	b.ReportAllocs()
	for b.Loop() {
		for i := range uint32(32) {
			*r.SQE(i) = SQE{Opcode: IORING_OP_NOP}
		}
		r.Publish(32)
		if err := r.Submit(); err != nil {
			b.Fatal(err)
		}
		for r.Ready() < 32 {
			if err := r.Flush(); err != nil {
				b.Fatal(err)
			}
		}
		r.Advance(32)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32, "ns/entry")
}

func Example() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := Open(Linux, Config{Entries: 1, Optional: Optional})
	if err != nil {
		return // no io_uring here
	}
	defer r.Close()
	*r.SQE(0) = SQE{Opcode: IORING_OP_NOP, UserData: 42}
	r.Publish(1)
	if err := r.Submit(); err != nil {
		return
	}
	if err := r.Wait(1, -1); err != nil {
		return
	}
	_ = r.CQE(0).UserData // 42
	r.Advance(1)
}
