package peak

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/engines/uringcmd/nvme"
)

// steps are command lines whose loops are looked at.
var steps = []struct{ name, line string }{
	{"nop", "-N1 -O0 f"}, {"nop, one", "-N1 -O0 -d1 f"}, {"nop, waiting", "-N1 -O0 -d30 -s20 f"},
	{"nop, several", "-N1 -O0 f g"}, {"nop, times", "-N1 -O0 -t1 f"}, {"buffered", "-O0 -p0 f"}, {"times", "-O0 -p0 -t1 f"}, {"several", "-O0 -p0 f g"},
	{"vectored", "-O0 -p0 -V1 -B0 f"}, {"sync", "-O0 -S1 f"}, {"aio", "-O0 -a1 -t1 f"}, {"command", "-u1 -O0 -p0 /dev/null"},
}

// TestLoopsAllocateNothing counts allocations of the loops.
func TestLoopsAllocateNothing(t *testing.T) {
	m := drive(nvme.Namespace{Blocks: 1 << 20, DataSize: 512}, 0, nil)
	for _, c := range steps {
		t.Run(c.name, func(t *testing.T) {
			twoFiles(t)
			w := ready(t, m, c.line)
			w.told.Or(toldTimes)
			var err error
			n := testing.AllocsPerRun(50, func() {
				if e := w.round(); e != nil {
					err = e
				}
			})
			skipLacking(t, err)
			if n != 0 || err != nil {
				t.Errorf("%v allocations, error %v", n, err)
			}
			if w.done == 0 || w.submitted != w.done+uint64(w.flight) {
				t.Errorf("%d submitted, %d done, %d in flight", w.submitted, w.done, w.flight)
			}
			if w.timed && w.hist.Count() == 0 {
				t.Error("no latencies")
			}
		})
	}
}

// TestNopsCount looks at the counters of whole bursts, and of one that ends at a wrong result in its second round.
func TestNopsCount(t *testing.T) {
	type counts struct{ Submitted, Done, Calls uint64 }
	for _, c := range []struct {
		line string
		odd  bool
		want counts
	}{
		{"-d8 -s4", false, counts{2048, 2048, 512}},
		{"-d8 -s8", false, counts{2048, 2048, 256}},
		{"-d8 -s3", false, counts{682 * 3, 682 * 3, 682}},
		{"-d4096 -s4096", false, counts{4096, 4096, 1}},
		{"-d8 -s4", true, counts{8, 8, 2}},
	} {
		twoFiles(t)
		w := ready(t, linux, "-N1 -O0 "+c.line+" f")
		if c.odd {
			w.ring.SQE(5).Len = 1
		}
		err := w.stepNops()
		if !c.odd {
			skipLacking(t, err)
		}
		if e, ok := isRead(err); c.odd != ok || ok && e.Result != 1 || !ok && err != nil {
			t.Errorf("%+v: error %v", c, err)
		}
		if d := cmp.Diff(c.want, counts{w.submitted, w.done, w.calls}); d != "" || w.flight != 0 {
			t.Errorf("%s, %d in flight (-want +got)\n%s", c.line, w.flight, d)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	m := drive(nvme.Namespace{Blocks: 1 << 20, DataSize: 512}, 0, nil)
	for _, c := range steps {
		b.Run(c.name, func(b *testing.B) {
			twoFiles(b)
			w := ready(b, m, c.line)
			b.ReportAllocs()
			for b.Loop() {
				if err := w.round(); err != nil {
					b.Skip(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(w.done, 1)), "ns/read")
		})
	}
}
