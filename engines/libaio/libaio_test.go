package libaio

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"fiord/engines"
	"fiord/engines/cmdprio"
	"fiord/engines/enginetest"
	"fiord/job"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"plain", Options{}},
		{"userspace_reap", Options{UserspaceReap: true}},
		{"vectored", Options{LibaioVectored: true}},
	} {
		t.Run(c.name, func(t *testing.T) { enginetest.Run(t, Driver(), enginetest.WithOptions(&c.o)) })
	}
	t.Run("depth1", func(t *testing.T) { enginetest.Run(t, Driver(), enginetest.WithDepth(1)) })
	t.Run("deep", func(t *testing.T) { enginetest.Run(t, Driver(), enginetest.WithDepth(100)) })
}

// TestDirect queues for real, where the file system of the temporary directory can.
func TestDirect(t *testing.T) {
	path := t.TempDir() + "/probe"
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR|syscall.O_DIRECT, 0o600)
	if err != nil {
		t.Skipf("no O_DIRECT in the temporary directory: %v", err)
	}
	_ = syscall.Close(fd)
	direct := enginetest.WithJob(func(j *job.Job) { j.Direct = true })
	for _, o := range []Options{{}, {UserspaceReap: true}} {
		enginetest.Run(t, Driver(), enginetest.WithOptions(&o), direct, enginetest.WithOpenFlags(syscall.O_DIRECT),
			enginetest.WithDepth(32), enginetest.Without("short", "a file cut at odd places has no direct I/O"))
	}
}

// TestUnalignedDirect is the first mistake that users make: it must be an error of the I/O.
func TestUnalignedDirect(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 2, enginetest.WithOpenFlags(syscall.O_DIRECT))
	if u := r.DoOne(t, engines.Read, 1, 100); u.Errno != syscall.EINVAL {
		t.Skipf("the file system takes unaligned direct I/O: done %d, errno %v", u.Done, u.Errno)
	}
	if u := r.DoOne(t, engines.Read, 0, enginetest.BlockSize); u.Errno != 0 {
		t.Errorf("aligned read after a bad one: %v", u.Errno)
	}
}

// TestMixed puts what the kernel does and what the engine does itself into one batch.
func TestMixed(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 8)
	ops := []engines.Op{engines.Read, engines.Trim, engines.Write, engines.Syncfs, engines.DataSync, engines.Read,
		engines.SyncFileRange, engines.Write}
	for i, u := range r.Worker.IOs {
		u.Op, u.Offset = ops[i], int64(i)*enginetest.BlockSize
	}
	r.Do(t, r.Worker.IOs)
	for _, u := range r.Worker.IOs {
		want := syscall.Errno(0)
		if u.Op == engines.Trim {
			want = syscall.ENOTTY
		}
		if u.Errno != want {
			t.Errorf("%v: errno %v, want %v", u.Op, u.Errno, want)
		}
	}
}

// TestWait waits for something that does not come, and must give up in the end.
func TestWait(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 2)
	e := r.Engine.(*engine)
	e.flight++ // the engine believes that one is in flight
	n, err := e.Reap(make([]*engines.IO, 2), 1, time.Millisecond)
	if n != 0 || err != nil {
		t.Errorf("Reap: %d, %v", n, err)
	}
	e.flight--
}

func TestNowait(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 1, enginetest.WithOptions(&Options{Nowait: true}))
	switch u := r.DoOne(t, engines.Read, 0, enginetest.BlockSize); u.Errno {
	case 0, syscall.EAGAIN, syscall.EOPNOTSUPP: // all are an answer to RWF_NOWAIT
	default:
		t.Errorf("read with nowait: %v", u.Errno)
	}
}

func TestCmdprio(t *testing.T) {
	o := Options{Options: cmdprio.Options{CmdprioPercentage: job.PerDir[int]{100, 0}, CmdprioClass: job.PerDir[int]{2},
		Cmdprio: job.PerDir[int]{3}}}
	r := enginetest.NewRig(t, Driver(), 2, enginetest.WithOptions(&o))
	if u := r.DoOne(t, engines.Read, 0, enginetest.BlockSize); u.Errno != 0 || u.Prio != 2<<13|3 {
		t.Errorf("read: errno %v, priority %#x", u.Errno, u.Prio)
	}
	if u := r.DoOne(t, engines.Write, 0, enginetest.BlockSize); u.Errno != 0 || u.Prio != 0 {
		t.Errorf("write: errno %v, priority %#x", u.Errno, u.Prio)
	}
}

func TestTooDeep(t *testing.T) {
	w := &engines.Worker{Job: &job.Job{}, Depth: 1 << 30, Notice: func(string, ...any) {}}
	_, err := Driver().Open(w, &Options{})
	if err == nil || !strings.Contains(err.Error(), "io_setup with iodepth 1073741824") {
		t.Errorf("Open at depth 2^30: %v", err)
	}
}

// TestRingWraps reaps from a ring whose head is at its end.
func TestRingWraps(t *testing.T) {
	var mem struct {
		ring
		events [4]ioEvent
	}
	mem.nr, mem.headerLen, mem.head, mem.tail = 4, 32, 3, 2
	for i := range mem.events {
		mem.events[i].data = uint64(i)
	}
	got := make([]ioEvent, 2)
	if n := mem.take(got); n != 2 || got[0].data != 3 || got[1].data != 0 || mem.head != 1 {
		t.Errorf("first take: %d, %v, head %d", n, got, mem.head)
	}
	if n := mem.take(got); n != 1 || got[0].data != 1 || mem.head != 2 {
		t.Errorf("second take: %d, %v, head %d", n, got, mem.head)
	}
	if n := mem.take(got); n != 0 {
		t.Errorf("take of an empty ring: %d", n)
	}
}

func BenchmarkDepth1(b *testing.B)  { enginetest.Bench(b, Driver(), 1) }
func BenchmarkDepth32(b *testing.B) { enginetest.Bench(b, Driver(), 32) }
func BenchmarkUserReap(b *testing.B) {
	enginetest.Bench(b, Driver(), 32, enginetest.WithOptions(&Options{UserspaceReap: true}))
}
