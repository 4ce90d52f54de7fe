package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/job"
)

// diary is an engine that writes down which job did an I/O first, and when jobs closed.
type diary struct {
	mu      sync.Mutex
	entries []string
	hold    map[string]chan struct{} // the first I/O of the job waits for it
}

func (d *diary) add(entry string) {
	d.mu.Lock()
	d.entries = append(d.entries, entry)
	d.mu.Unlock()
}

func (d *diary) driver() *engines.Driver {
	return &engines.Driver{Name: "diary", Doc: "Writes down who ran when.", Traits: job.Traits{Diskless: true, Sync: true},
		Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
			return engines.Adapt(&diarist{d: d, name: w.Job.Name}, 1), nil
		}}
}

type diarist struct {
	d    *diary
	name string
	n    int
}

func (e *diarist) Do(u *engines.IO) {
	u.Errno, u.Done = 0, len(u.Buf)
	if e.n++; e.n == 1 {
		e.d.add("+" + e.name)
		if c := e.d.hold[e.name]; c != nil {
			<-c
		}
	}
}

func (e *diarist) Close() error {
	e.d.add("-" + e.name)
	return nil
}

// TestOrder checks that stonewall, wait_for and start delays hold jobs back. "+a" is the first I/O of a, "-a" its end.
func TestOrder(t *testing.T) {
	const plain = "ioengine=diary rw=read size=16k bs=4k "
	for _, c := range []struct {
		name, text string
		before     [][2]string // the first comes before the second
	}{
		{"stonewall", section("a", plain) + section("b", plain+"stonewall") + section("c", plain+"stonewall"),
			[][2]string{{"-a", "+b"}, {"-b", "+c"}}},
		{"stonewall behind two", section("a", plain) + section("b", plain+"startdelay=10ms") + section("c", plain+"stonewall"),
			[][2]string{{"-a", "+c"}, {"-b", "+c"}}},
		{"wait_for", section("a", plain) + section("b", plain+"wait_for=a") + section("c", plain+"wait_for=b"),
			[][2]string{{"-a", "+b"}, {"-b", "+c"}}},
		{"start delay", section("a", plain+"startdelay=50ms") + section("b", plain), [][2]string{{"+b", "+a"}}},
		{"a delay drawn from a range", section("a", plain+"startdelay=30ms-60ms") + section("b", plain), [][2]string{{"+b", "+a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &diary{}
			res := newRig(d.driver()).run(t, c.text)
			for _, pair := range c.before {
				first, second := slices.Index(d.entries, pair[0]), slices.Index(d.entries, pair[1])
				if first < 0 || second < first {
					t.Errorf("%s must come before %s: %v", pair[0], pair[1], d.entries)
				}
			}
			for i := range res.Jobs {
				if res.Jobs[i].Dirs[0].IOs != 4 {
					t.Errorf("%s: %d reads, want 4", res.Jobs[i].Name, res.Jobs[i].Dirs[0].IOs)
				}
			}
		})
	}
}

// TestSideBySide checks that jobs without a stonewall do run together: each waits for the other's first I/O.
func TestSideBySide(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(3)
	d := syncDriver("meet", func(_ *engines.Worker, n int, _ *engines.IO) {
		if n == 0 {
			wg.Done()
			wg.Wait()
		}
	})
	res := newRig(d).run(t, section("a", "ioengine=meet rw=read size=16k bs=4k numjobs=3 group_reporting"))
	if len(res.Jobs) != 1 || res.Jobs[0].Dirs[0].IOs != 12 || res.Jobs[0].Members != 3 {
		t.Errorf("%+v", res.Jobs)
	}
}

// TestExit checks which jobs end with another: b and c would run for an hour.
func TestExit(t *testing.T) {
	const long = "ioengine=null rw=read size=16k bs=4k time_based=1 runtime=1h "
	const short = "ioengine=bad rw=read size=16k bs=4k "
	fails := syncDriver("bad", func(_ *engines.Worker, n int, u *engines.IO) {
		if n == 2 {
			u.Errno, u.Done = syscall.EIO, 0
		}
	})
	for _, c := range []struct {
		name, text string
		failed     int
	}{
		{"exitall", section("a", "ioengine=null rw=read size=16k bs=4k exitall=1") + section("b", long), 0},
		{"exitall of the other", section("a", "ioengine=null rw=read size=16k bs=4k") + section("b", long+"exitall=1"), 0},
		{"on error", section("a", short+"exitall_on_error=1") + section("b", long), 1},
		{"group", section("a", short+"exitall_on_error=1 exit_what=group") + section("b", long), 1},
		{"stonewall ends what runs", section("a", short+"exitall_on_error=1 exit_what=stonewall") + section("b", long), 1},
		{"all", section("a", short+"exitall_on_error=1 exit_what=all") + section("b", long) + section("c", long+"stonewall"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The bad job waits until the long one runs: exit_what=stonewall spares jobs that do not.
			res := newRig(fails).run(t, strings.Replace(c.text, "ioengine=bad", "ioengine=bad\nstartdelay=20ms", 1))
			if res.Failed != c.failed || res.Interrupted {
				t.Errorf("%d failed, want %d; interrupted %v", res.Failed, c.failed, res.Interrupted)
			}
		})
	}
	t.Run("another group goes on", func(t *testing.T) {
		res := newRig(fails).run(t, section("a", short+"exitall_on_error=1 exit_what=group")+
			section("b", "ioengine=null rw=read size=64k bs=4k stonewall"))
		if res.Jobs[1].Dirs[0].IOs != 16 {
			t.Errorf("%d reads, want 16", res.Jobs[1].Dirs[0].IOs)
		}
	})
	t.Run("not on error", func(t *testing.T) {
		res := newRig(fails).run(t, section("a", short)+section("b", "ioengine=null rw=read size=64k bs=4k wait_for=a"))
		if res.Jobs[1].Dirs[0].IOs != 16 || res.Failed != 1 {
			t.Errorf("%d reads, %d failed", res.Jobs[1].Dirs[0].IOs, res.Failed)
		}
	})
}

// TestNoIOEnds ends a job that burns CPU for ever when the last job with I/O is done.
func TestNoIOEnds(t *testing.T) {
	burn := syncDriver("burn", func(_ *engines.Worker, _ int, u *engines.IO) { u.Done = u.Len })
	burn.Traits.NoIO = true
	res := newRig(burn).run(t, section("c", "ioengine=burn time_based=1 runtime=1h size=4k")+
		section("a", "ioengine=null rw=read size=64k bs=4k"))
	if res.Failed != 0 || res.Jobs[1].Dirs[0].IOs != 16 {
		t.Errorf("%d failed, %d reads", res.Failed, res.Jobs[1].Dirs[0].IOs)
	}
}

// TestManyJobs starts as many jobs as a run may well have.
func TestManyJobs(t *testing.T) {
	res := newRig().run(t, section("a", "ioengine=null rw=read size=64k bs=4k number_ios=1 numjobs=512 group_reporting"))
	if got := res.Jobs[0].Dirs[0].IOs; got != 512 || res.Jobs[0].Members != 512 {
		t.Errorf("%d reads of %d jobs", got, res.Jobs[0].Members)
	}
}

// TestLetters are fio's.
func TestLetters(t *testing.T) {
	modes := map[string]byte{"read": 'R', "write": 'W', "randread": 'r', "randwrite": 'w', "rw": 'M', "randrw": 'm', "trim": 'D', "randtrim": 'd'}
	for rw, want := range modes {
		g := newRig()
		g.load(t, section("a", "ioengine=null size=64k rw="+rw))
		if got := stateRunning.letter(g.cfg.Jobs[0]); got != want {
			t.Errorf("rw=%s: %c, want %c", rw, got, want)
		}
	}
	g := newRig()
	g.load(t, section("a", "ioengine=null size=64k rw=rw rwmixread=100")+section("b", "ioengine=null size=64k rw=rw rwmixread=0"))
	var got []byte
	for s := stateNotCreated; s <= stateReaped; s++ {
		got = append(got, s.letter(g.cfg.Jobs[0]))
	}
	got = append(got, stateRunning.letter(g.cfg.Jobs[1]))
	if d := cmp.Diff("PCI/IRpVFfE_W", string(got)); d != "" {
		t.Error(d)
	}
}

// TestEta checks the estimates of the time left against hand-made clocks.
func TestEta(t *testing.T) {
	const sec = int64(1e9)
	for _, c := range []struct {
		name, options string
		state         state
		elapsed       int64 // s
		moved         uint64
		want          int64
	}{
		{"half done", "size=64k", stateRunning, 10, 32 << 10, 10},
		{"nothing done", "size=64k", stateRunning, 10, 0, 0},
		{"time comes first", "size=64k runtime=12", stateRunning, 10, 8 << 10, 2},
		{"time based", "size=64k runtime=40 time_based=1", stateRunning, 10, 64 << 10, 30},
		{"to come", "size=64k runtime=40 startdelay=5", stateNotCreated, 0, 0, 45},
		{"to come by rate", "size=64k rate=1k startdelay=5", stateNotCreated, 0, 0, 69},
		{"to come by either", "size=64k rate=1k runtime=20", stateNotCreated, 0, 0, 20},
		{"in its ramp", "size=64k runtime=40 ramp_time=10", stateRamp, 4, 0, 46},
		{"over", "size=64k", stateExited, 10, 64 << 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig()
			r := g.start(t, section("a", "ioengine=null rw=read bs=4k "+c.options))
			w := r.workers[0]
			now := 1000 * sec
			w.enter(c.state)
			w.epoch.Store(now - c.elapsed*sec)
			w.total.Store(64 << 10)
			w.bytes[0].Store(c.moved)
			if got := w.eta(now); got != c.want {
				t.Errorf("%d s left, want %d", got, c.want)
			}
		})
	}
}

// TestRunEta adds jobs behind a stonewall up and takes the longest of those side by side; with exitall the shortest.
func TestRunEta(t *testing.T) {
	text := func(more string) string {
		s := ""
		for i, run := range []string{"runtime=10", "runtime=30", "runtime=5 stonewall", "runtime=7 stonewall"} {
			s += section(fmt.Sprint("j", i), "ioengine=null rw=read size=4k time_based=1 "+run+" "+more)
		}
		return s
	}
	for more, want := range map[string]int64{"": 42, "exitall=1": 5} {
		r := newRig().start(t, text(more))
		if got := r.eta(1000 * 1e9); got != want {
			t.Errorf("%q: %d s, want %d", more, got, want)
		}
	}
}
