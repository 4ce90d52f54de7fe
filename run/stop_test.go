package run

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"fiord/clock"
	"fiord/engines"
	"fiord/report"
)

// spinFor burns ns of time.
func spinFor(ns int64) {
	for end := clock.Now() + ns; clock.Now() < end; {
		runtime.Gosched()
	}
}

// stopper is an engine that asks the run to stop at its nth I/O.
func stopper(name string, stop chan struct{}, nth int) *engines.Driver {
	return syncDriver(name, func(_ *engines.Worker, n int, _ *engines.IO) {
		if n == nth {
			stop <- struct{}{}
		}
	})
}

// TestStop asks runs to stop that would go on for an hour, in whatever they are at: a test that hangs has failed.
func TestStop(t *testing.T) {
	const hour = "time_based=1 runtime=1h"
	for name, text := range map[string]string{
		"running":         section("a", "ioengine=stop rw=read size=64k bs=4k "+hour),
		"rate":            section("a", "ioengine=stop rw=read size=64k bs=4k rate=1 "+hour),
		"rate and depth":  section("a", "ioengine=stop rw=read size=64k bs=4k rate_iops=1 "+hour) + section("b", "ioengine=libaio iodepth=4 rw=read size=64k bs=4k rate_iops=1 "+hour),
		"thinking":        section("a", "ioengine=stop rw=read size=64k bs=4k thinktime=1h "+hour),
		"thinking hard":   section("a", "ioengine=stop rw=read size=64k bs=4k thinktime=1h thinktime_spin=1h "+hour),
		"start delay":     section("a", "ioengine=stop rw=read size=64k bs=4k") + section("b", "ioengine=null rw=read size=64k startdelay=1h"),
		"stonewall":       section("a", "ioengine=stop rw=read size=64k bs=4k "+hour) + section("b", "ioengine=null rw=read size=64k stonewall"),
		"wait_for":        section("a", "ioengine=stop rw=read size=64k bs=4k "+hour) + section("b", "ioengine=null rw=read size=64k wait_for=a"),
		"ramp":            section("a", "ioengine=stop rw=read size=64k bs=4k ramp_time=1h "+hour),
		"another at work": section("a", "ioengine=stop rw=read size=64k bs=4k") + section("b", "ioengine=null iodepth=8 rw=read size=64k bs=4k "+hour),
		"deep and polling": section("a", "ioengine=stop rw=read size=64k bs=4k") +
			section("b", "ioengine=libaio iodepth=8 iodepth_batch_complete_min=0 iodepth_batch_complete_max=0 rw=read size=64k bs=4k "+hour),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			procs, routines, fds := runtime.GOMAXPROCS(0), runtime.NumGoroutine(), openFds(t)
			stop := make(chan struct{}, 1)
			g := newRig(stopper("stop", stop, 0))
			g.cfg.Stop = stop
			res := g.run(t, text)
			if !res.Interrupted || res.Failed != 0 {
				t.Errorf("interrupted %v, %d failed\n%s", res.Interrupted, res.Failed, g.said())
			}
			if got := runtime.GOMAXPROCS(0); got != procs {
				t.Errorf("GOMAXPROCS %d before, %d after", procs, got)
			}
			for runtime.NumGoroutine() > routines { // the goroutine of the stop requests ends just after
				runtime.Gosched()
			}
			if got := openFds(t); got > fds {
				t.Errorf("%d descriptors before, %d after", fds, got)
			}
		})
	}
}

// TestStopLayout stops while the first file is being written: nothing runs, and nothing failed.
func TestStopLayout(t *testing.T) {
	for _, serialize := range []string{"1", "0"} {
		t.Chdir(t.TempDir())
		stop := make(chan struct{})
		g := newRig()
		g.cfg.Stop = stop
		r := g.start(t, section("a", "ioengine=psync rw=read size=64g bs=4k fallocate=none create_serialize="+serialize))
		var once sync.Once
		r.cfg.Print = func(line string) {
			if strings.Contains(line, "Laying out") {
				once.Do(func() { stop <- struct{}{} })
			}
		}
		res, err := r.run()
		if err != nil || !res.Interrupted || res.Failed != 0 || res.Jobs[0].Dirs[0].IOs != 0 {
			t.Fatalf("create_serialize=%s: %v, %+v", serialize, err, res)
		}
		if left, _ := os.ReadDir("."); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestStopTwice gives up a worker that is stuck in the kernel.
func TestStopTwice(t *testing.T) {
	stop, release := make(chan struct{}), make(chan struct{})
	d := syncDriver("stuck", func(*engines.Worker, int, *engines.IO) {
		stop <- struct{}{}
		stop <- struct{}{}
		<-release
	})
	g := newRig(d)
	g.cfg.Stop = stop
	r := g.start(t, section("a", "ioengine=stuck rw=read size=64k bs=4k"))
	res, err := r.run()
	if !errors.Is(err, ErrAborted) || res != nil {
		t.Errorf("%v, %v", res, err)
	}
	close(release)
	r.alive.Wait()
}

// TestStopTwiceInLayout gives up a layout that does not look up.
func TestStopTwiceInLayout(t *testing.T) {
	t.Chdir(t.TempDir())
	stop, release := make(chan struct{}), make(chan struct{})
	g := newRig()
	g.cfg.Stop = stop
	r := g.start(t, section("a", "ioengine=psync rw=read size=64k bs=4k"))
	left := make(chan struct{})
	r.cfg.Print = func(string) {
		defer close(left)
		stop <- struct{}{}
		stop <- struct{}{}
		<-release
	}
	if _, err := r.run(); !errors.Is(err, ErrAborted) {
		t.Errorf("error %v", err)
	}
	close(release)
	<-left
	for r.workers[0].get() == stateSettingUp {
		runtime.Gosched()
	}
}

// TestRuntime ends jobs by their run time, the measured part only.
func TestRuntime(t *testing.T) {
	for _, options := range []string{
		"ioengine=null", "ioengine=null iodepth=8", "ioengine=null rate_iops=100", "ioengine=null thinktime=10s",
		"ioengine=null gtod_reduce=1", "ioengine=null ramp_time=20ms",
	} {
		j := newRig().one(t, section("a", "rw=read size=64k bs=4k time_based=1 runtime=50ms "+options))
		if j.Error != 0 || j.Dirs[0].IOs == 0 || j.Dirs[0].Runtime < 49 || j.RunMs < 49 {
			t.Errorf("%s: error %d, %d reads in %d ms of %d", options, j.Error, j.Dirs[0].IOs, j.Dirs[0].Runtime, j.RunMs)
		}
	}
}

// TestDump takes results while jobs run: each is consistent in itself, and counts never go back.
func TestDump(t *testing.T) {
	for _, engine := range []string{"null", "null iodepth=8"} {
		ask, stop := make(chan struct{}), make(chan struct{}, 1)
		g := newRig()
		g.cfg.Stop, g.cfg.Report = stop, ask
		n, last := 0, uint64(0)
		g.cfg.Dump = func(r *report.Result) {
			j := &r.Jobs[0].Job
			checkJob(t, j)
			if ios := j.Dirs[0].IOs; r.Final || ios < last {
				t.Errorf("dump %d: final %v, %d reads after %d", n, r.Final, ios, last)
			}
			if engine == "null" && (j.Dirs[0].Bytes != 4096*j.Dirs[0].IOs || j.Dirs[0].Clat.N != j.Dirs[0].IOs || j.Depth[0] != j.Dirs[0].IOs) {
				t.Errorf("torn: %d reads, %d bytes, %d latencies, depth %v", j.Dirs[0].IOs, j.Dirs[0].Bytes, j.Dirs[0].Clat.N, j.Depth)
			}
			last = j.Dirs[0].IOs
			n++
		}
		go func() {
			for range 5 {
				ask <- struct{}{}
			}
			stop <- struct{}{}
		}()
		g.run(t, section("a", "rw=read size=64k bs=4k time_based=1 runtime=1h ioengine="+engine))
		if n != 5 {
			t.Errorf("%d dumps", n)
		}
	}
}

// TestDumpOfStuck takes a result while one worker hangs and others have not begun or have ended.
func TestDumpOfStuck(t *testing.T) {
	ask, release := make(chan struct{}), make(chan struct{})
	d := syncDriver("stuck", func(_ *engines.Worker, n int, _ *engines.IO) {
		if n == 3 {
			ask <- struct{}{}
			<-release
		}
	})
	g := newRig(d)
	g.cfg.Report = ask
	var names []string
	g.cfg.Dump = func(r *report.Result) {
		for i := range r.Jobs {
			names = append(names, r.Jobs[i].Name)
			checkJob(t, &r.Jobs[i].Job)
		}
		close(release)
	}
	res := g.run(t, section("z", "ioengine=null rw=read size=64k bs=4k")+section("a", "ioengine=stuck rw=read size=64k bs=4k stonewall")+
		section("b", "ioengine=null rw=read size=64k bs=4k stonewall"))
	if strings.Join(names, " ") != "z a b" || res.Jobs[1].Dirs[0].IOs != 16 {
		t.Errorf("jobs in the dump: %q; %d reads in the end", names, res.Jobs[1].Dirs[0].IOs)
	}
}

// TestInterval makes dumps and live lines by time.
func TestInterval(t *testing.T) {
	stop := make(chan struct{}, 1)
	g := newRig()
	g.cfg.Stop, g.cfg.Interval, g.cfg.LiveEvery = stop, 1, 1
	dumps, lives := 0, 0
	var once sync.Once
	end := func() {
		if dumps > 1 && lives > 1 {
			once.Do(func() { stop <- struct{}{} })
		}
	}
	g.cfg.Dump = func(*report.Result) { dumps++; end() }
	g.cfg.Live = func(s report.Status) {
		lives++
		if s.Jobs != 2 || len(s.Letters) != 2 {
			t.Errorf("%+v", s)
		}
		end()
	}
	g.run(t, section("a", "ioengine=null rw=read size=64k bs=4k time_based=1 runtime=1h")+
		section("b", "ioengine=null rw=randwrite size=64k bs=4k time_based=1 runtime=1h ramp_time=1h"))
}
