package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarks(t *testing.T) {
	var j Job
	for depth, want := range map[int]int{0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 7: 2, 8: 3, 15: 3, 16: 4, 31: 4, 32: 5, 63: 5, 64: 6, 9999: 6} {
		j = Job{}
		j.MarkDepth(depth, 3)
		if j.Depth[want] != 3 {
			t.Errorf("depth %d: %v, want class %d", depth, j.Depth, want)
		}
	}
	for n, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: 2, 8: 2, 9: 3, 16: 3, 17: 4, 32: 4, 33: 5, 64: 5, 65: 6, 9999: 6} {
		j = Job{}
		j.MarkSubmit(n)
		j.MarkComplete(n)
		if j.Submit[want] != 1 || j.Complete[want] != 1 || j.Submits != 1 || j.Reaps != 1 {
			t.Errorf("batch %d: %v, %v, want class %d", n, j.Submit, j.Complete, want)
		}
	}
}

func TestMarkLatency(t *testing.T) {
	var j Job
	starts := []uint64{0, 2, 4, 10, 20, 50, 100, 250, 500, 750}
	var wantNs, wantUs [10]uint64
	var wantMs [12]uint64
	for i, from := range starts {
		to := uint64(999)
		if i+1 < len(starts) {
			to = starts[i+1] - 1
		}
		for _, v := range []uint64{from, to} {
			j.MarkLatency(v)
			wantNs[i]++
			if v == 0 {
				continue
			}
			j.MarkLatency(v * 1000)
			j.MarkLatency(v*1000 + 999)
			wantUs[i] += 2
			j.MarkLatency(v * 1000000)
			wantMs[i]++
		}
	}
	for _, v := range []uint64{1e9, 2e9 - 1} {
		j.MarkLatency(v)
		wantMs[10]++
	}
	j.MarkLatency(2e9)
	wantMs[11]++
	if d := cmp.Diff(wantNs, j.LatNs) + cmp.Diff(wantUs, j.LatUs) + cmp.Diff(wantMs, j.LatMs); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPercent(t *testing.T) {
	if d := cmp.Diff([7]float64{99.9, 0.1, 0, 0, 0, 0, 0.1}, Percent([7]uint64{9990, 9, 0, 0, 0, 0, 1}, 10000)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := Percent([7]uint64{1, 2}, 0); got != [7]float64{} {
		t.Errorf("of nothing: %v", got)
	}
	j := &Job{LatNs: [10]uint64{9: 50}, LatUs: [10]uint64{0: 25, 1: 24}, LatMs: [12]uint64{11: 1}}
	if got := j.TerseLatUs(); got != [10]float64{} {
		t.Errorf("without I/Os: %v", got)
	}
	j.Dirs[1].IOs = 100000
	ns, us, ms := j.LatPercent()
	if ns[9] != 0.05 || us[0] != 0.025 || us[1] != 0.024 || ms[11] != 0.01 || ms[0] != 0 {
		t.Errorf("shares: %v, %v, %v", ns, us, ms)
	}
	if got := j.TerseLatUs()[0]; !near(got, 0.075) {
		t.Errorf("terse: %v, want 0.075", got)
	}
}
