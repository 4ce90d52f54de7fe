package run

import (
	"sync"
	"testing"

	"fiord/engines"
)

// TestFlow runs two jobs of weights 3 and 1 and wants neither to get ahead of its share while both run.
func TestFlow(t *testing.T) {
	for _, options := range []string{"", "flow_sleep=10", "fsync=1"} {
		var mu sync.Mutex
		count := map[string]int{}
		most := map[string]float64{}
		fake := syncDriver("fake", func(w *engines.Worker, _ int, _ *engines.IO) {
			mu.Lock()
			defer mu.Unlock()
			a, b := count["a"], count["b"]
			if n := float64(a + b); a < 300 && b < 300 {
				most["a"] = max(most["a"], float64(a)-n*3/4)
				most["b"] = max(most["b"], float64(b)-n/4)
			}
			count[w.Job.Name]++
		})
		g := newRig(fake)
		g.run(t, section("global", "ioengine=fake rw=write bs=4k size=4m number_ios=300 flow_id=7 "+options)+
			section("a", "flow=3")+section("b", "flow=1"))
		// An I/O is counted when it may start, and reaches the engine a little later.
		if most["a"] > 3 || most["b"] > 3 {
			t.Errorf("%q: ahead of its share: a by %g I/Os, b by %g", options, most["a"], most["b"])
		}
		if count["a"] < 300 || count["b"] < 300 {
			t.Errorf("%q: a did %d I/Os, b %d, want 300 at least", options, count["a"], count["b"])
		}
	}
}

// TestFlowEnds wants jobs of a flow that cannot run together, or cannot run at all, not to wait for each other.
func TestFlowEnds(t *testing.T) {
	for name, text := range map[string]string{
		"stonewall":  section("a", "") + section("b", "stonewall"),
		"wait_for":   section("a", "") + section("b", "wait_for=a"),
		"no file":    section("a", "") + section("b", "filename=/proc/none/x ioengine=psync"),
		"deep":       section("a", "ioengine=null iodepth=8 iodepth_batch=4") + section("b", "ioengine=null iodepth=4"),
		"replayed":   section("a", "") + section("b", "read_iolog=/proc/none"),
		"alone":      section("a", ""),
		"time is up": section("a", "time_based runtime=50ms") + section("b", "startdelay=100ms time_based runtime=50ms"),
	} {
		g := newRig()
		res := g.run(t, section("global", "ioengine=null rw=read bs=4k size=1m flow=1")+text)
		if res.Jobs[0].Dirs[0].IOs == 0 {
			t.Errorf("%s: no I/O", name)
		}
	}
}
