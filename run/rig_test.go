package run

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/engines/libaio"
	"fiord/engines/null"
	"fiord/engines/psync"
	"fiord/job"
	"fiord/report"
	"fiord/stats"
)

// diskless is what most scripted engines are: no file is made for them.
var diskless = job.Traits{Diskless: true}

// rig runs the jobs of a job file on real and scripted engines and keeps what they said.
type rig struct {
	drivers []*engines.Driver
	cfg     Config

	mu      sync.Mutex
	printed []string
	warned  []string
	r       *runner
}

// newRig makes a rig for the real engines and the given ones.
func newRig(extra ...*engines.Driver) *rig {
	g := &rig{drivers: append(psync.Drivers(), null.Driver())}
	g.drivers = append(g.drivers, libaio.Driver())
	g.drivers = append(g.drivers, extra...)
	return g
}

// load reads the text of a job file.
func (g *rig) load(tb testing.TB, text string) {
	tb.Helper()
	l := job.Loader{Env: func(string) (string, bool) { return "", false }}
	for _, d := range g.drivers {
		l.Engines = append(l.Engines, d.Decl())
	}
	l.AddText("test.fio", text)
	jobs, global, _, err := l.Load()
	if err != nil {
		tb.Fatal(err)
	}
	g.cfg.Jobs, g.cfg.Global, g.cfg.Drivers, g.cfg.Version = jobs, global, g.drivers, "test"
	g.cfg.Print = func(line string) { g.keep(&g.printed, line) }
	g.cfg.Warn = func(line string) { g.keep(&g.warned, line) }
}

func (g *rig) keep(to *[]string, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*to = append(*to, line)
}

// said is everything printed and warned so far.
func (g *rig) said() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(append(append([]string{}, g.printed...), g.warned...), "\n")
}

// start makes the runner.
func (g *rig) start(tb testing.TB, text string) *runner {
	tb.Helper()
	g.load(tb, text)
	r, err := newRunner(g.cfg)
	if err != nil {
		tb.Fatal(err)
	}
	g.r = r
	return r
}

// run runs the jobs and checks what must hold of every run.
func (g *rig) run(tb testing.TB, text string) *report.Result {
	tb.Helper()
	r := g.start(tb, text)
	res, err := r.run()
	if err != nil {
		tb.Fatal(err)
	}
	for _, w := range r.workers {
		checkWorker(tb, w)
	}
	for i := range res.Jobs {
		checkJob(tb, &res.Jobs[i].Job)
	}
	return res
}

// one is the first job of a run.
func (g *rig) one(tb testing.TB, text string) *stats.Job {
	tb.Helper()
	return &g.run(tb, text).Jobs[0].Job
}

// checkWorker checks that nothing was left behind: I/Os in flight, open files, counts that disagree.
func checkWorker(tb testing.TB, w *worker) {
	tb.Helper()
	if w.set != nil && w.set.NOpen() != 0 {
		tb.Errorf("%s: %d files left open", w.job.Name, w.set.NOpen())
	}
	l := &w.loop
	if len(l.ios) == 0 || w.epoch.Load() == 0 {
		return
	}
	if l.inflight != 0 && w.st.Error == 0 {
		tb.Errorf("%s: %d I/Os left in flight", w.job.Name, l.inflight)
	}
	if w.doer == nil && len(l.free)+l.inflight != len(l.ios) {
		tb.Errorf("%s: %d I/Os free and %d in flight of %d", w.job.Name, len(l.free), l.inflight, len(l.ios))
	}
	for d := range w.st.Dirs {
		if w.st.Dirs[d].Bytes != l.moved[d] {
			tb.Errorf("%s: %d bytes of %ss reported, %d moved", w.job.Name, w.st.Dirs[d].Bytes, job.Dir(d), l.moved[d])
		}
		if w.job.RampTime > 0 || w.job.RampSize > 0 || w.st.Error != 0 || w.st.TotalErr != 0 || w.job.FillDevice {
			continue // I/Os that failed, or that were in flight when the ramp ended
		}
		if w.st.Dirs[d].IOs != l.blocks[d] {
			tb.Errorf("%s: %d %ss issued, %d completed", w.job.Name, w.st.Dirs[d].IOs, job.Dir(d), l.blocks[d])
		}
		if lat := w.st.Dirs[d].Lat.N; lat > l.blocks[d] {
			tb.Errorf("%s: %d total latencies of %d %ss", w.job.Name, lat, l.blocks[d], job.Dir(d))
		}
		if n := w.st.Dirs[d].Clat.N; w.job.Stats && !w.job.DisableClat && n != l.blocks[d] {
			tb.Errorf("%s: %d latencies of %d %ss", w.job.Name, n, l.blocks[d], job.Dir(d))
		}
	}
}

// checkJob checks that sums and histograms are of the same I/Os.
func checkJob(tb testing.TB, j *stats.Job) {
	tb.Helper()
	var total uint64
	for d := range j.Dirs {
		dir := &j.Dirs[d]
		for name, l := range map[string]*stats.Latency{"slat": &dir.Slat, "clat": &dir.Clat, "lat": &dir.Lat} {
			if l.Hist != nil && l.Hist.Count() != l.N {
				tb.Errorf("%s: %s of %ss: %d in the histogram, %d summed", j.Name, name, job.Dir(d), l.Hist.Count(), l.N)
			}
		}
		total += dir.Clat.N
	}
	if j.SyncLat.Hist != nil && j.SyncLat.Hist.Count() != j.SyncLat.N {
		tb.Errorf("%s: sync: %d in the histogram, %d summed", j.Name, j.SyncLat.Hist.Count(), j.SyncLat.N)
	}
	var marked uint64
	for _, list := range [][]uint64{j.LatNs[:], j.LatUs[:], j.LatMs[:]} {
		for _, n := range list {
			marked += n
		}
	}
	if marked != total {
		tb.Errorf("%s: %d I/Os in the latency distribution, %d latencies", j.Name, marked, total)
	}
}

// doer is a synchronous engine made of a function that gets the number of the I/O, from 0.
type doer struct {
	do func(n int, u *engines.IO)
	n  int
}

func (d *doer) Do(u *engines.IO) {
	u.Errno, u.Done = 0, len(u.Buf)
	if !u.Op.IsData() {
		u.Done = 0
	}
	d.do(d.n, u)
	d.n++
}

func (d *doer) Close() error { return nil }

// syncDriver is a driver whose every worker has a doer of its own.
func syncDriver(name string, do func(w *engines.Worker, n int, u *engines.IO)) *engines.Driver {
	return &engines.Driver{Name: name, Doc: "A function as an engine.", Traits: job.Traits{Diskless: true, Sync: true},
		Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
			return engines.Adapt(&doer{do: func(n int, u *engines.IO) { do(w, n, u) }}, 1), nil
		}}
}

// fakeJob is the text of one job on the scripted engine.
func fakeJob(options string) string { return section("a", "ioengine=fake "+options) }

// section is a section of a job file; options are separated by blanks.
func section(name, options string) string {
	return fmt.Sprintf("[%s]\n%s\n", name, strings.Join(strings.Fields(options), "\n"))
}

// ops are the operations and offsets that a Fake accepted, as "read 0".
func ops(f *enginetest.Fake) []string {
	var list []string
	for _, r := range f.Log {
		list = append(list, fmt.Sprintf("%s %d+%d", r.Op, r.Offset, r.Len))
	}
	return list
}

// openFds counts the descriptors of the process.
func openFds(tb testing.TB) int {
	tb.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return len(list)
}
