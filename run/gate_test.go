package run

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/job"
)

// TestGate sends jobs to a gate: a test that hangs has failed.
func TestGate(t *testing.T) {
	for _, c := range []struct {
		name          string
		jobs          int // that start together
		pass, excused int // what they do; the rest never comes
		late          int // that pass when the others are through
		patience      time.Duration
		open          bool // a request to end comes when all that come are there
		missing       int32
	}{
		{name: "all arrive", jobs: 4, pass: 4, patience: time.Hour},
		{name: "one cannot be prepared", jobs: 4, pass: 3, excused: 1, patience: time.Hour},
		{name: "none can be prepared", jobs: 2, excused: 2, patience: time.Hour},
		{name: "one never arrives", jobs: 4, pass: 3, patience: time.Millisecond, missing: 1},
		{name: "one arrives late", jobs: 4, pass: 3, late: 1, patience: time.Millisecond},
		{name: "asked to end", jobs: 4, pass: 2, patience: time.Hour, open: true, missing: 2},
		{name: "asked to end, then one arrives", jobs: 4, pass: 2, late: 1, patience: time.Hour, open: true, missing: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer quiet(c.jobs)() // as in a run: a collection would wait for those that wait
			var of gates
			g := newGate(c.jobs, c.patience)
			of.add(g)
			for range c.jobs - 1 {
				g.born()
			}
			times := make([]int64, c.pass)
			var through sync.WaitGroup
			for i := range times {
				through.Go(func() {
					runtime.LockOSThread() // the thread ends with it
					times[i] = g.pass()
				})
			}
			for range c.excused {
				g.arrive()
			}
			for int(g.missing.Load()) > c.jobs-c.pass-c.excused {
				runtime.Gosched()
			}
			g.born() // until then its patience is endless
			if c.open {
				of.open()
			}
			through.Wait()
			if g.shut() {
				t.Error("still shut")
			}
			for range c.late {
				if at := g.pass(); at != 0 {
					t.Errorf("a late one was let go at %d, want 0", at)
				}
			}
			opened := g.opened.Load()
			for _, at := range times {
				if at == 0 || at != opened {
					t.Errorf("let go at %d, opened at %d", at, opened)
				}
			}
			if got := g.missing.Load(); got != c.missing {
				t.Errorf("%d missing, want %d", got, c.missing)
			}
		})
	}
}

// TestGateOfOne is none.
func TestGateOfOne(t *testing.T) {
	g := newGate(1, time.Hour)
	var of gates
	of.add(g)
	g.born()
	g.arrive()
	if at := g.pass(); g != nil || at != 0 || len(of.list) != 0 {
		t.Errorf("gate %v, let go at %d, %d gates", g, at, len(of.list))
	}
}

// TestGateStalled checks when a gate gives up waiting.
func TestGateStalled(t *testing.T) {
	g := newGate(3, time.Hour)
	g.born()
	g.born()
	var got []bool
	got = append(got, g.stalled(3)) // the third waits for a CPU
	g.born()
	got = append(got, g.stalled(3)) // it has begun
	g.arrive()
	got = append(got, g.stalled(3), g.stalled(2)) // one more is there, and now no other
	if d := cmp.Diff([]bool{false, true, false, true}, got); d != "" {
		t.Error(d)
	}
}

// TestGates keeps the gates that are shut.
func TestGates(t *testing.T) {
	var of gates
	var all []*gate
	for range 4 {
		g := newGate(2, time.Hour)
		of.add(g)
		all = append(all, g)
		if len(all)%2 == 0 {
			g.open()
		}
	}
	if len(of.list) != 3 { // the last one is open, but nobody has looked
		t.Errorf("%d gates kept, want 3", len(of.list))
	}
	of.open()
	for i, g := range all {
		if g.shut() {
			t.Errorf("gate %d is shut", i)
		}
	}
}

// TestGatesDuringCollection lets nobody wait while a collection would wait for those that do.
func TestGatesDuringCollection(t *testing.T) {
	var of gates
	before, during, after := newGate(2, time.Hour), newGate(2, time.Hour), newGate(2, time.Hour)
	of.add(before)
	of.unwant(true)
	of.add(during)
	of.unwant(false)
	of.add(after)
	if before.shut() || during.shut() || !after.shut() {
		t.Errorf("shut: before %v, during %v, after %v; want only the last", before.shut(), during.shut(), after.shut())
	}
}

// opener is an engine whose Open and first I/O call functions.
func opener(open, first func(w *engines.Worker)) *engines.Driver {
	d := syncDriver("opener", func(w *engines.Worker, n int, _ *engines.IO) {
		if n == 0 {
			first(w)
		}
	})
	inner := d.Open
	d.Traits = job.Traits{Diskless: true, Sync: true}
	d.Open = func(w *engines.Worker, options any) (engines.Engine, error) {
		open(w)
		return inner(w, options)
	}
	return d
}

// busy are options of jobs that have more to do than a brief one.
const busy = "ioengine=opener rw=read bs=64k size=1m "

// TestBeginTogether checks that no job does I/O before all are prepared, and that their times count from one moment.
func TestBeginTogether(t *testing.T) {
	var mu sync.Mutex
	opened, least := 0, 3
	d := opener(func(*engines.Worker) {
		mu.Lock()
		defer mu.Unlock()
		opened++
	}, func(*engines.Worker) {
		mu.Lock()
		defer mu.Unlock()
		least = min(least, opened)
	})
	g := newRig(d)
	r := g.start(t, section("a", busy)+section("b", busy)+section("c", busy))
	r.patience = time.Hour
	if _, err := r.run(); err != nil {
		t.Fatal(err)
	}
	if least != 3 {
		t.Errorf("the first I/O came when %d of 3 jobs were prepared", least)
	}
	for _, w := range r.workers {
		if e, want := w.epoch.Load(), r.workers[0].epoch.Load(); e != want || w.st.JobStart == 0 {
			t.Errorf("%s: began at %d, the first job at %d; job_start %d", w.job.Name, e, want, w.st.JobStart)
		}
	}
}

// TestSlowToPrepare has a job that is prepared when the other is at work, or has ended.
func TestSlowToPrepare(t *testing.T) {
	for name, c := range map[string]struct {
		options  string
		patience time.Duration
	}{
		"the other has run out of patience": {busy, time.Millisecond},
		"the other is brief":                {"ioengine=opener rw=read bs=4k size=16k ", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var g *rig
			g = newRig(opener(func(w *engines.Worker) {
				if w.Job.Name == "slow" {
					<-g.r.workers[0].ended
				}
			}, func(*engines.Worker) {}))
			r := g.start(t, section("a", c.options)+section("slow", busy))
			r.patience = c.patience
			if _, err := r.run(); err != nil {
				t.Fatal(err)
			}
			for _, w := range r.workers {
				if w.st.TotalIOs() == 0 || w.st.Error != 0 {
					t.Errorf("%s: %d I/Os, error %d", w.job.Name, w.st.TotalIOs(), w.st.Error)
				}
			}
		})
	}
}

// TestStopAtGate asks a run to end while one job waits for another to be prepared.
func TestStopAtGate(t *testing.T) {
	stop := make(chan struct{}, 1)
	var g *rig
	g = newRig(opener(func(w *engines.Worker) {
		if w.Job.Name != "slow" {
			return
		}
		for g.r.workers[1].gate.missing.Load() > 1 { // until the other waits
			runtime.Gosched()
		}
		stop <- struct{}{}
		<-g.r.workers[0].ended
	}, func(w *engines.Worker) {
		t.Errorf("%s did an I/O", w.Job.Name)
	}))
	g.cfg.Stop = stop
	r := g.start(t, section("a", busy)+section("slow", busy))
	r.patience = time.Hour
	res, err := r.run()
	if err != nil {
		t.Fatal(err)
	}
	if !res.Interrupted || res.Failed != 0 {
		t.Errorf("interrupted %v, %d failed\n%s", res.Interrupted, res.Failed, g.said())
	}
	for _, w := range r.workers {
		if w.epoch.Load() != 0 {
			t.Errorf("%s has begun", w.job.Name)
		}
	}
}

// TestFailedAtGate has a job that cannot be prepared: the other does not wait for it.
func TestFailedAtGate(t *testing.T) {
	g := newRig(opener(func(*engines.Worker) {}, func(*engines.Worker) {}))
	r := g.start(t, section("a", busy)+section("bad", busy+"exec_prerun=false"))
	r.patience = time.Hour
	t.Chdir(t.TempDir())
	res, err := r.run()
	if err != nil {
		t.Fatal(err)
	}
	if res.Failed != 1 || r.workers[0].st.TotalIOs() != 16 {
		t.Errorf("%d failed, %d I/Os of the other", res.Failed, r.workers[0].st.TotalIOs())
	}
}

// TestEndedBeforeItsThread has a job that is asked to end before there is a thread for it.
func TestEndedBeforeItsThread(t *testing.T) {
	r := newRig().start(t, section("a", "ioengine=null rw=read bs=64k size=1m numjobs=2"))
	w := r.workers[0]
	w.gate = newGate(2, time.Hour)
	r.alive.Add(1)
	w.terminate()
	w.main()
	r.alive.Wait()
	<-w.ended
	if w.st.Pid != 0 || w.get() != stateExited || w.gate.missing.Load() != 1 || w.gate.unborn.Load() != 1 {
		t.Errorf("thread %d, state %d, %d missing, %d unborn", w.st.Pid, w.get(), w.gate.missing.Load(), w.gate.unborn.Load())
	}
}

// TestIdleJobsAreTold counts jobs that went through the gate and did nothing in their time.
func TestIdleJobsAreTold(t *testing.T) {
	const told = "1 of 2 jobs did no I/O before their runtime was over: are there too many for the CPUs?"
	for _, c := range []struct {
		name string
		set  func(r *runner)
		want []string
	}{
		{"one", func(*runner) {}, []string{told}},
		{"it was not let go", func(r *runner) { r.workers[1].released = 0 }, nil},
		{"it has failed", func(r *runner) { r.workers[1].st.Error = 5 }, nil},
		{"a signal ended the run", func(r *runner) { r.interrupted = true }, nil},
		{"it goes by size", func(r *runner) { r.workers[1].job.Runtime = 0 }, nil},
	} {
		r := newRig().start(t, section("a", "ioengine=null size=1m runtime=1 time_based numjobs=2"))
		for i, w := range r.workers {
			w.released, w.st.Dirs[job.Read].IOs = 1, uint64(1-i)
		}
		c.set(r)
		r.noteIdle()
		if d := cmp.Diff(c.want, r.warnings); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
}
