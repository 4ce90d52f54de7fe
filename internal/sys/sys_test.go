package sys

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// locked runs f on a thread of its own, which ends with it, so that f may change the thread at will.
func locked(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
}

func TestAffinity(t *testing.T) {
	locked(func() {
		all, err := Affinity()
		if err != nil || len(all) == 0 {
			t.Errorf("Affinity: %v, %v", all, err)
			return
		}
		last := all[len(all)-1:]
		if err := SetAffinity(last); err != nil {
			t.Error(err)
		}
		if got, err := Affinity(); err != nil || !cmp.Equal(got, last) {
			t.Errorf("Affinity after SetAffinity(%v): %v, %v", last, got, err)
		}
		for _, bad := range [][]int{{-1}, {maxCPU}, nil} {
			if err := SetAffinity(bad); err == nil {
				t.Errorf("SetAffinity(%v) succeeded", bad)
			}
		}
	})
}

func TestOnlineCPUs(t *testing.T) {
	if n := NumCPU(); n < runtime.NumCPU() {
		t.Errorf("NumCPU: %d, fewer than the %d of this process", n, runtime.NumCPU())
	}
}

func TestParseCPUList(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int
	}{
		{"0", []int{0}}, {"0-3", []int{0, 1, 2, 3}}, {"0-1,4,6-7", []int{0, 1, 4, 6, 7}}, {"3,1-3", []int{1, 2, 3}},
		{"", nil}, {"a", nil}, {"1-", nil}, {"99999", nil},
	} {
		got, err := parseCPUList(c.text)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%q: %v", c.text, err)
		} else if diff := cmp.Diff(c.want, got); err == nil && diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestIOPrio(t *testing.T) {
	for _, c := range []struct {
		class, level, hint int
		want               uint16
	}{{0, 4, 0, 2<<13 | 4}, {1, 7, 0, 1<<13 | 7}, {3, 0, 1, 3<<13 | 1<<3}} {
		if got := IOPrioValue(c.class, c.level, c.hint); got != c.want {
			t.Errorf("IOPrioValue(%d, %d, %d) = %#x, want %#x", c.class, c.level, c.hint, got, c.want)
		}
	}
	locked(func() {
		want := IOPrioValue(IOPrioBE, 5, 0)
		if err := SetIOPrio(want); err != nil {
			t.Error(err)
		}
		if got, err := IOPrio(); err != nil || got != want {
			t.Errorf("IOPrio: %#x, %v; want %#x", got, err, want)
		}
		if err := SetIOPrio(7 << 13); err == nil {
			t.Error("SetIOPrio of class 7 succeeded")
		}
	})
}

func TestThread(t *testing.T) {
	locked(func() {
		if err := SetComm("fiord/a-very-long-name"); err != nil {
			t.Error(err)
		}
		if got, err := Comm(); err != nil || got != "fiord/a-very-lo" {
			t.Errorf("Comm: %q, %v", got, err)
		}
		if err := SetComm("a\x00b"); err == nil {
			t.Error("SetComm of a name with NUL succeeded")
		}
		if err := SetNice(5); err != nil {
			t.Error(err)
		}
		if err := SetTimerSlack(time.Microsecond); err != nil {
			t.Error(err)
		}
		if err := SetTimerSlack(0); err == nil {
			t.Error("SetTimerSlack(0) succeeded")
		}
		if Gettid() <= 0 {
			t.Error("Gettid is not positive")
		}
	})
}

// TestCredentials sets what is set already: no test may depend on being root.
func TestCredentials(t *testing.T) {
	locked(func() {
		if err := SetGID(gid()); err != nil {
			t.Error(err)
		}
		if err := SetUID(uid()); err != nil {
			t.Error(err)
		}
	})
}

func TestUsage(t *testing.T) {
	locked(func() {
		before, err := ThreadUsage()
		if err != nil {
			t.Error(err)
		}
		for before.User+before.Sys == 0 { // spin until the thread has used a measurable time
			if before, err = ThreadUsage(); err != nil {
				t.Error(err)
				return
			}
		}
		after, err := ThreadUsage()
		if err != nil || after.User+after.Sys < before.User+before.Sys {
			t.Errorf("usage went from %+v to %+v, %v", before, after, err)
		}
		if all, err := ProcessUsage(); err != nil || all.MinFlt < after.MinFlt {
			t.Errorf("process %+v used less than its thread %+v, %v", all, after, err)
		}
	})
}

func TestLockMemory(t *testing.T) {
	l, err := LockMemory(64 << 10)
	if err != nil {
		t.Skipf("cannot lock 64 KiB here: %v", err)
	}
	if l.Bytes != 64<<10 {
		t.Errorf("locked %d bytes", l.Bytes)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if l, err = LockMemory(0); err != nil || l.Close() != nil {
		t.Errorf("LockMemory(0): %v", err)
	}
	if n, err := PhysicalMemory(); err != nil || n < 1<<20 {
		t.Errorf("PhysicalMemory: %d, %v", n, err)
	}
}

// TestBlockErrors asks a regular file what only block devices know.
func TestBlockErrors(t *testing.T) {
	f := tempFile(t, 4096)
	fd := int(f.Fd())
	if _, err := BlockSize(fd); err == nil {
		t.Error("BlockSize of a regular file succeeded")
	}
	if _, err := SectorSize(fd); err == nil {
		t.Error("SectorSize of a regular file succeeded")
	}
	if err := FlushBlock(fd); err == nil {
		t.Error("FlushBlock of a regular file succeeded")
	}
}
