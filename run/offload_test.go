package run

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fiord/clock"
	"fiord/engines"
	"fiord/job"
)

// TestOffload runs jobs whose I/O threads of their own submit, on engines of both kinds: the same I/Os as without them,
// with all of their latencies.
func TestOffload(t *testing.T) {
	for _, c := range []struct {
		engine, options string
		slat            bool
	}{
		{"psync", "iodepth=4", false},
		{"psync", "iodepth=1 fsync=8", false},
		{"sync", "iodepth=4", false}, // goes by the position of the file, which threads must not share
		{"vsync", "iodepth=4", true},
		{"pvsync2", "iodepth=2 nrfiles=4 openfiles=2", false},
		{"libaio", "iodepth=4 iodepth_batch=4", true},
		{"null", "iodepth=8", true},
		{"psync", "iodepth=4 verify=crc32c rw=randwrite", false},
		{"vsync", "iodepth=4 verify=crc32c rw=randwrite", true},
		{"sync", "iodepth=4 verify=crc32c rw=randwrite loops=2 unlink_each_loop=1", false},
		{"psync", "iodepth=4 serialize_overlap=1 norandommap=1", false},
		{"psync", "iodepth=4 rate_iops=100k number_ios=100", false},
		{"psync", "iodepth=4 bs=1k-8k write_lat_log=x log_offset=1", false},
		{"psync", "iodepth=4 disable_lat=1 disable_clat=1 disable_slat=1", false},
	} {
		t.Run(c.engine+" "+c.options, func(t *testing.T) {
			t.Chdir(t.TempDir())
			text := "ioengine=" + c.engine + " rw=randrw bs=4k size=512k "
			g := newRig()
			offload := g.one(t, section("a", text+c.options+" io_submit_mode=offload"))
			inline := newRig().one(t, section("b", text+c.options))
			for d := range offload.Dirs {
				got, want := &offload.Dirs[d], &inline.Dirs[d]
				if got.IOs != want.IOs || got.Bytes != want.Bytes {
					t.Errorf("%d %ss of %d bytes, want %d of %d", got.IOs, job.Dir(d), got.Bytes, want.IOs, want.Bytes)
				}
				if want := got.Lat.N; c.slat && got.Slat.N != want || !c.slat && got.Slat.N != 0 {
					t.Errorf("%d submission latencies of %d %ss", got.Slat.N, want, job.Dir(d))
				}
			}
			if offload.Error != 0 || offload.TotalErr != 0 {
				t.Errorf("error %d %s, %d passed over\n%s", offload.Error, offload.ErrorText, offload.TotalErr, g.said())
			}
		})
	}
}

// TestOffloadAtOnce checks that iodepth I/Os of a synchronous engine are under way at the same time: each waits for three
// more.
func TestOffloadAtOnce(t *testing.T) {
	const depth = 4
	var mu sync.Mutex
	met, gate := 0, make(chan struct{})
	d := syncDriver("meet", func(_ *engines.Worker, _ int, u *engines.IO) {
		mu.Lock()
		mine := gate
		if met++; met%depth == 0 {
			close(gate)
			gate = make(chan struct{})
		}
		mu.Unlock()
		select {
		case <-mine:
		case <-time.After(10 * time.Second):
			u.Errno = syscall.ETIMEDOUT
		}
	})
	j := newRig(d).one(t, section("a", "ioengine=meet rw=read bs=4k size=64k io_submit_mode=offload iodepth=4"))
	if j.Error != 0 || j.Dirs[job.Read].IOs != 16 {
		t.Errorf("error %d, %d reads; want 16 at four at a time", j.Error, j.Dirs[job.Read].IOs)
	}
	if j.Depth[0] != 16 { // as in fio: each thread has a depth of 1
		t.Errorf("depths %v, want 16 at depth 1", j.Depth)
	}
}

// TestOffloadErrors lets I/Os fail in the threads.
func TestOffloadErrors(t *testing.T) {
	fail := func(n int64) *engines.Driver {
		var issued atomic.Int64
		return syncDriver("fail", func(_ *engines.Worker, _ int, u *engines.IO) {
			if issued.Add(1) == n {
				u.Errno = syscall.EIO
			}
		})
	}
	text := "ioengine=fail rw=write bs=4k size=256k io_submit_mode=offload iodepth=4 "
	j := newRig(fail(10)).one(t, section("a", text))
	if j.Error != int(syscall.EIO) || j.Dirs[job.Write].IOs == 64 {
		t.Errorf("error %d after %d writes, want EIO before the end", j.Error, j.Dirs[job.Write].IOs)
	}
	g := newRig(fail(10))
	j = g.one(t, section("a", text+"continue_on_error=io"))
	if g.r.workers[0].st.Error != 0 || j.TotalErr != 1 || j.Dirs[job.Write].IOs != 64 || j.Dirs[job.Write].Bytes != 63*4096 {
		t.Errorf("error %d, %d passed over, %d writes", j.Error, j.TotalErr, j.Dirs[job.Write].IOs)
	}
	j = newRig(fail(0)).one(t, section("a", text+"ioengine=psync directory=/proc"))
	if j.Error == 0 {
		t.Error("no error where no file can be made")
	}
}

// TestOffloadOverlap checks that serialize_overlap holds between jobs: threads of two of them write the same file.
func TestOffloadOverlap(t *testing.T) {
	t.Chdir(t.TempDir())
	var mu sync.Mutex
	flying := map[int64]int{}
	bad := 0
	d := syncDriver("watch", func(_ *engines.Worker, _ int, u *engines.IO) {
		mu.Lock()
		flying[u.Offset]++
		if flying[u.Offset] > 1 {
			bad++
		}
		mu.Unlock()
		mu.Lock()
		flying[u.Offset]--
		mu.Unlock()
	})
	text := "ioengine=watch filename=f rw=randwrite norandommap=1 bs=4k size=16k io_size=4m io_submit_mode=offload iodepth=4 " +
		"serialize_overlap=1 numjobs=2 "
	newRig(d).run(t, section("a", text))
	if bad > 0 {
		t.Errorf("%d writes overlapped another", bad)
	}
}

// TestOffloadLockFile checks that lockfile holds for the threads of two jobs: at no time do two of them work on the file.
func TestOffloadLockFile(t *testing.T) {
	t.Chdir(t.TempDir())
	var flying, bad atomic.Int64
	d := syncDriver("watch", func(_ *engines.Worker, _ int, u *engines.IO) {
		if flying.Add(1) > 1 {
			bad.Add(1)
		}
		runtime.Gosched()
		flying.Add(-1)
	})
	res := newRig(d).run(t, section("a", "ioengine=watch filename=f rw=randwrite bs=4k size=4m io_submit_mode=offload iodepth=4 "+
		"lockfile=exclusive numjobs=2"))
	if bad.Load() > 0 {
		t.Errorf("%d writes beside another", bad.Load())
	}
	for i := range res.Jobs {
		if w := &res.Jobs[i].Dirs[job.Write]; w.IOs != 1024 || w.Lat.Min > w.Lat.Max || w.Clat.Max > w.Lat.Max {
			t.Errorf("%d writes, latencies %+v", w.IOs, w.Lat)
		}
	}
}

func TestOffloadRefused(t *testing.T) {
	d := syncDriver("alone", func(*engines.Worker, int, *engines.IO) {})
	d.Traits.NoOffload = true
	g := newRig(d)
	g.load(t, section("a", "ioengine=alone size=4k io_submit_mode=offload"))
	if _, err := newRunner(g.cfg); err == nil || !strings.Contains(err.Error(), "ioengine alone cannot be used with it") {
		t.Errorf("error %v", err)
	}
}

// TestOffloadLeaves checks that nothing stays behind: no descriptor of the threads' own.
func TestOffloadLeaves(t *testing.T) {
	t.Chdir(t.TempDir())
	before := openFds(t)
	newRig().one(t, section("a", "ioengine=sync rw=randrw bs=4k size=256k io_submit_mode=offload iodepth=3 nrfiles=3"))
	if after := openFds(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestOffloadCannotReopen lets a thread fail before its I/O: that has its times all the same, or latencies would be absurd.
func TestOffloadCannotReopen(t *testing.T) {
	none := &engines.File{Name: "none", Fd: 1 << 30}
	o := &offload{w: &worker{drv: &engines.Driver{Traits: job.Traits{Seeks: true}}}}
	thread := &offloadThread{o: o, files: make([]engines.File, 1), opened: make([]int, 1)}
	k := &task{u: &engines.IO{File: none, Start: clock.Now()}, file: *none, opened: 1}
	thread.do(k)
	if k.err == nil || k.issued < k.u.Start || k.reaped < k.issued {
		t.Errorf("error %v, issued %d, reaped %d, started %d", k.err, k.issued, k.reaped, k.u.Start)
	}
}
