package run

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/engines/null"
	"fiord/job"
)

// TestRampCounts checks that number_ios counts from the end of the ramp, what was in flight then included.
func TestRampCounts(t *testing.T) {
	const n = 2_000_000 // many more than a ramp of 5 ms can do
	for _, engine := range []string{"null", "null iodepth=8", "null iodepth=8 iodepth_batch=8"} {
		j := newRig().one(t, section("a", "rw=randread norandommap=1 size=64k bs=4k io_size=1000g ramp_time=5ms number_ios=2000000 ioengine="+engine))
		if j.Dirs[0].Clat.N != n || j.Dirs[0].Bytes != n*4096 || j.Error != 0 {
			t.Errorf("%s: %d reads, %d bytes, want %d reads", engine, j.Dirs[0].Clat.N, j.Dirs[0].Bytes, n)
		}
	}
}

// TestRamp checks that everything counted is of the measured part, and that sums agree.
func TestRamp(t *testing.T) {
	for _, more := range []string{"ramp_time=30ms", "ramp_size=256k group_reporting"} {
		for _, engine := range []string{"null", "null iodepth=8 iodepth_batch=4", "psync", "libaio iodepth=4 rate_iops=20000"} {
			t.Run(more+" "+engine, func(t *testing.T) {
				t.Chdir(t.TempDir())
				j := newRig().one(t, section("a", "rw=randrw size=64k bs=4k time_based=1 runtime=30ms "+more+" ioengine="+engine))
				for d := range 2 {
					dir := &j.Dirs[d]
					if dir.Clat.N*4096 != dir.Bytes || dir.Lat.N != dir.Clat.N {
						t.Errorf("direction %d: %d bytes, %d and %d latencies", d, dir.Bytes, dir.Clat.N, dir.Lat.N)
					}
					// I/Os that were in flight when the ramp ended complete after it.
					if dir.Clat.N < dir.IOs || dir.Clat.N > dir.IOs+8 {
						t.Errorf("direction %d: %d issued, %d completed", d, dir.IOs, dir.Clat.N)
					}
				}
				if j.RunMs > 3_600_000 || j.Dirs[0].Runtime > j.RunMs+1 {
					t.Errorf("ran %d ms of %d", j.Dirs[0].Runtime, j.RunMs)
				}
			})
		}
	}
}

// TestRates holds jobs to a rate: they cannot be done earlier.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		options string
		atLeast uint64 // ms
	}{
		{"rw=read rate=1m", 57}, // 64 KiB, of which the first block is due at once
		{"rw=write rate_iops=,250", 60},
		{"rw=randrw rate_iops=125,125", 56},
		{"rw=read rate_iops=250 rate_process=poisson", 0},
		{"rw=read rate=1m iodepth=4 ioengine=libaio", 55},
		{"rw=read rate=4m thinktime=2000 rate_ignore_thinktime=1", 30},
	} {
		t.Run(c.options, func(t *testing.T) {
			t.Chdir(t.TempDir())
			j := newRig().one(t, section("a", "ioengine=psync size=64k bs=4k "+c.options))
			if got := countsOf(j); got.Bytes != 65536 || j.RunMs+1 < c.atLeast || j.Error != 0 {
				t.Errorf("error %d, %d bytes in %d ms, want %d or more", j.Error, got.Bytes, j.RunMs, c.atLeast)
			}
		})
	}
}

// TestBelowMin checks rate_min and rate_iops_min by a clock of its own.
func TestBelowMin(t *testing.T) {
	const sec = int64(1e9)
	type at struct {
		time         int64 // ms
		bytes, reads uint64
	}
	for _, c := range []struct {
		name, options string
		looks         []at
		want          string
	}{
		{"settling", "rate_min=1m", []at{{1000, 0, 0}, {1900, 1, 1}}, ""},
		{"fast enough", "rate_min=1k", []at{{2000, 4096, 1}, {3100, 8192, 2}, {4200, 12288, 3}}, ""},
		{"too slow", "rate_min=1m", []at{{2000, 4096, 1}, {3100, 8192, 2}}, "rate_min: want 1048576 B/s, got 3723 B/s"},
		{"not yet", "rate_min=1m", []at{{2000, 4096, 1}, {2900, 8192, 2}}, ""},
		{"too few", "rate_iops_min=100", []at{{2000, 4096, 1}, {3000, 8192, 51}}, "rate_iops_min: want 100 IOPS, got 50"},
		{"enough", "rate_iops_min=100", []at{{2000, 4096, 1}, {3000, 8192, 101}}, ""},
		{"nothing done", "rate_iops_min=100", []at{{2000, 0, 0}, {9000, 0, 0}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig()
			r := g.start(t, section("a", "ioengine=null rw=read size=64k bs=4k rate_cycle=1000 "+c.options))
			w := r.workers[0]
			w.rate = newRates(w)
			w.start = 100 * sec
			w.rate.begin(w.start)
			below := false
			for _, l := range c.looks {
				w.loop.moved[0], w.loop.blocks[0] = l.bytes, l.reads
				below = below || w.rate.belowMin(w.start+l.time*1e6)
			}
			if below != (c.want != "") || !strings.Contains(g.said(), c.want) {
				t.Errorf("below %v, said %q", below, g.said())
			}
		})
	}
}

// TestBelowMinEnds ends the job, and the others where they ask for it.
func TestBelowMinEnds(t *testing.T) {
	g := newRig()
	r := g.start(t, section("a", "ioengine=null rw=read size=64k bs=4k rate_iops_min=100 exitall_on_error=1")+
		section("b", "ioengine=null rw=read size=64k"))
	w := r.workers[0]
	w.rate = newRates(w)
	w.start = 1
	w.rate.begin(w.start)
	w.loop.moved[0], w.loop.blocks[0] = 4096, 1
	w.afterIO(3e9)
	w.loop.blocks[0] = 2
	w.afterIO(30e9)
	if w.st.Error != int(syscall.EIO) || !w.stopping() || !r.workers[1].stopping() {
		t.Errorf("error %d, stopping %v, the other %v", w.st.Error, w.stopping(), r.workers[1].stopping())
	}
}

// TestThink counts pauses by the I/Os between them.
func TestThink(t *testing.T) {
	for _, c := range []struct {
		options string
		atLeast uint64 // ms
	}{
		{"thinktime=5000", 80},
		{"thinktime=10000 thinktime_blocks=4", 40},
		{"thinktime=10000 thinktime_blocks=4 thinktime_blocks_type=issue", 40},
		{"thinktime=10000 thinktime_spin=5000 thinktime_blocks=8", 20},
		{"thinktime=1h thinktime_iotime=1h", 0},
		{"thinkcycles=100", 0},
	} {
		t.Run(c.options, func(t *testing.T) {
			j := newRig().one(t, section("a", "ioengine=null rw=read size=64k bs=4k "+c.options))
			if got := countsOf(j); got.Bytes != 65536 || j.RunMs < c.atLeast {
				t.Errorf("%d bytes in %d ms, want %d or more", got.Bytes, j.RunMs, c.atLeast)
			}
		})
	}
}

// TestOverlap never has two I/Os of the same range in flight.
func TestOverlap(t *testing.T) {
	f := &overlapping{Fake: enginetest.NewFake(enginetest.Script{Newest: true, Late: map[int]int{0: 5, 3: 4, 10: 6}}), t: t}
	d := f.Driver("fake", diskless)
	d.Open = func(*engines.Worker, any) (engines.Engine, error) { return f, nil }
	j := newRig(d).one(t, fakeJob("rw=randwrite size=32k bsrange=512-8k bs_unaligned=0 norandommap=1 io_size=1m iodepth=16 serialize_overlap=1"))
	if j.Error != 0 || j.Dirs[1].Bytes < 1<<20-8192 {
		t.Errorf("error %d, %d bytes", j.Error, j.Dirs[1].Bytes)
	}
}

// overlapping looks for overlaps among the I/Os in flight.
type overlapping struct {
	*enginetest.Fake
	t      *testing.T
	flying []*engines.IO
}

func (o *overlapping) Submit(ios []*engines.IO) (int, error) {
	n, err := o.Fake.Submit(ios)
	for _, u := range ios[:n] {
		for _, v := range o.flying {
			if u.Offset < v.Offset+int64(len(v.Buf)) && v.Offset < u.Offset+int64(len(u.Buf)) {
				o.t.Errorf("%d+%d goes out over %d+%d", u.Offset, len(u.Buf), v.Offset, len(v.Buf))
			}
		}
		o.flying = append(o.flying, u)
	}
	return n, err
}

func (o *overlapping) Reap(done []*engines.IO, least int, wait time.Duration) (int, error) {
	n, err := o.Fake.Reap(done, least, wait)
	for _, u := range done[:n] {
		for i, v := range o.flying {
			if u == v {
				o.flying = append(o.flying[:i], o.flying[i+1:]...)
				break
			}
		}
	}
	return n, err
}

// TestSteady feeds searches by a clock of its own: jobs end when their unit is steady, and not before.
func TestSteady(t *testing.T) {
	const sec = int64(1e9)
	const options = "ioengine=null rw=read size=64k bs=4k ss_dur=3s ss_interval=1s ss_ramp=2s steadystate="
	r := newRig().start(t, section("a", options+"iops:10%")+section("b", options+"bw:10%")+section("c", options+"lat:10%")+
		section("d", options+"iops:10% group_reporting new_group numjobs=2")+section("e", options+"iops:10% new_group")+
		section("f", "ioengine=null size=4k"))
	units := newSteadyUnits(r)
	var sizes []int
	for _, u := range units {
		sizes = append(sizes, len(u.workers))
	}
	if d := cmp.Diff([]int{1, 1, 1, 2, 1}, sizes); d != "" {
		t.Fatal(d)
	}
	last := r.workers[5] // e: never steady
	for _, w := range r.workers {
		w.enter(stateRunning)
		w.epoch.Store(100 * sec)
	}
	last.enter(stateRamp)
	tick := func(at int64) {
		for _, u := range units {
			if next := u.tick(at); next < 1 || next > 2500 {
				t.Errorf("next tick in %d ms", next)
			}
		}
	}
	n := uint64(0)
	for at := int64(100); at < 105; at++ { // the ramp, and the first two intervals
		tick(at * sec)
		n += 1000
		for _, w := range r.workers {
			w.ios[0].Store(n)
			w.bytes[0].Store(n * 4096)
			w.latCount.Store(n)
			w.latSum.Store(n * 500)
		}
	}
	for _, w := range r.workers {
		if w.stopping() {
			t.Fatalf("%s ended before its time", w.job.Name)
		}
	}
	for at := int64(105); at < 110; at++ {
		n += 1000
		for _, w := range r.workers {
			w.ios[0].Store(n)
			w.bytes[0].Store(n * 4096)
			w.latCount.Store(n)
			w.latSum.Store(n * 500)
		}
		tick(at * sec)
	}
	for i, w := range r.workers {
		if want := i < 5; w.stopping() != want {
			t.Errorf("job %d (%s): ended %v, want %v", i, w.job.Name, w.stopping(), want)
		}
	}
}

// TestLogs writes every kind of log and looks at the number of lines.
func TestLogs(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newRig()
	g.cfg.BandwidthLog = "agg"
	j := g.one(t, section("a", "ioengine=null rw=read size=64k bs=4k write_lat_log=x write_bw_log=x write_iops_log=x "+
		"write_iolog=trace log_offset=1"))
	if j.Error != 0 {
		t.Fatal(j.ErrorText)
	}
	for name, want := range map[string]int{"x_lat.1.log": 16, "x_slat.1.log": 0, "x_clat.1.log": 16, "x_bw.1.log": 16, "x_iops.1.log": 16,
		"trace": 16 + 4} {
		data, err := os.ReadFile(name)
		if err != nil && want > 0 {
			t.Error(err)
			continue
		}
		if got := strings.Count(string(data), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d\n%s", name, got, want, data)
		}
	}
	if j.Dirs[0].BW.N != 16 || j.Dirs[0].IOPS.N != 16 {
		t.Errorf("%d bandwidths, %d IOPS sampled", j.Dirs[0].BW.N, j.Dirs[0].IOPS.N)
	}
}

// TestAveragedLogs needs a helper that samples while the job runs.
func TestAveragedLogs(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newRig()
	g.cfg.BandwidthLog = "agg"
	j := g.one(t, section("a", "ioengine=null rw=read size=64k bs=4k time_based=1 runtime=300ms rate_iops=2000 write_bw_log=x "+
		"write_iops_log=x write_hist_log=x log_hist_msec=50 log_avg_msec=50 bwavgtime=50 iopsavgtime=50"))
	for _, name := range []string{"x_bw.1.log", "x_iops.1.log", "x_clat_hist.1.log", "agg-read_bw.log"} {
		if data, err := os.ReadFile(name); err != nil || len(data) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	if j.Dirs[0].BW.N == 0 || j.Dirs[0].IOPS.N == 0 {
		t.Error("no samples")
	}
}

// TestPostrun runs commands before and after, and says so.
func TestPostrun(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newRig()
	g.run(t, "[a]\nioengine=null\nrw=read\nsize=8k\nexec_prerun=echo before\nexec_postrun=echo after; exit 3\n")
	got := map[string]string{}
	for _, name := range []string{"a.prerun.txt", "a.postrun.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		got[name] = string(data)
	}
	if d := cmp.Diff(map[string]string{"a.prerun.txt": "before\n", "a.postrun.txt": "after\n"}, got); d != "" {
		t.Error(d)
	}
	if !strings.Contains(g.said(), "a: output of prerun goes to a.prerun.txt") {
		t.Errorf("said %q", g.said())
	}
}

// TestThread sets what belongs to the thread; the process must be left alone.
func TestThread(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, options := range []string{
		"cpus_allowed=0", "cpumask=1", "cpus_allowed=0 cpus_allowed_policy=split numjobs=2", "nice=1", "prio=4 prioclass=2",
		"lockmem=64k", "mem=mmap", "iomem_align=4k", "direct=1", "comm=fiordtest", "end_syncfs=1 rw=write", "disable_lat=1",
		"disable_clat=1", "slat_percentiles=1 lat_percentiles=1", "stats=0",
	} {
		res := newRig().run(t, section("a", "ioengine=libaio rw=read size=64k bs=4k iodepth=2 "+options))
		if options == "stats=0" {
			if len(res.Jobs) != 1 || res.Jobs[0].Name != "" || res.Jobs[0].TotalIOs() != 0 {
				t.Errorf("stats=0: %d rows, want an empty one without a name", len(res.Jobs))
			}
			continue
		}
		if got := countsOf(&res.Jobs[0].Job); res.Failed != 0 || got.Bytes != 65536 {
			t.Errorf("%s: %+v, error %d %s", options, got, res.Jobs[0].Error, res.Jobs[0].ErrorText)
		}
	}
	if d := cmp.Diff([]int{0, 2, 63}, maskCPUs(1<<63|5)); d != "" {
		t.Error(d)
	}
}

// inline is a Fake that does all I/Os within Submit, and takes its time.
type inline struct{ *enginetest.Fake }

func (e *inline) Submit(ios []*engines.IO) (int, error) {
	spinFor(int64(time.Millisecond))
	n, err := e.Fake.Submit(ios)
	for _, u := range ios[:n] {
		u.Inline = true
	}
	return n, err
}

// TestInline: the time of an I/O that is done within Submit is completion latency, that of a sync too.
func TestInline(t *testing.T) {
	e := &inline{enginetest.NewFake(enginetest.Script{})}
	d := e.Driver("fake", diskless)
	d.Open = func(*engines.Worker, any) (engines.Engine, error) { return e, nil }
	j := newRig(d).one(t, fakeJob("rw=write size=16k bs=4k iodepth=2 fsync=1"))
	if w := &j.Dirs[1]; w.Slat.N != 0 || w.Clat.N != 4 || w.Clat.Min < 1e6 {
		t.Errorf("%d submission latencies, %d completion latencies from %v", w.Slat.N, w.Clat.N, w.Clat.Min)
	}
	if s := &j.SyncLat; s.N == 0 || s.Min < 1e6 {
		t.Errorf("%d latencies of syncs from %v", s.N, s.Min)
	}
}

// TestEngineWithoutSlat: an engine that submits later, such as io_uring with sqthread_poll, turns submission latencies off when
// it is opened.
func TestEngineWithoutSlat(t *testing.T) {
	d := null.Driver()
	d.Name = "later"
	open := d.Open
	d.Open = func(w *engines.Worker, options any) (engines.Engine, error) {
		w.Job.DisableSlat = true
		return open(w, options)
	}
	for _, options := range []string{"", " thinktime=1us", " io_submit_mode=offload"} {
		j := newRig(d).one(t, section("a", "ioengine=later rw=read size=64k iodepth=4"+options))
		if dir := &j.Dirs[job.Read]; dir.Slat.N != 0 || dir.Clat.N != 16 {
			t.Errorf("%q: %d submission and %d completion latencies, want 0 and 16", options, dir.Slat.N, dir.Clat.N)
		}
	}
}
