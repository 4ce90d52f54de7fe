package stats

import (
	"testing"
	"time"

	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

const ms = int64(time.Millisecond)

func TestSampler(t *testing.T) {
	type sample struct {
		at   int64
		dir  job.Dir
		rate uint64
	}
	var bw, iops []sample
	start := 7 * ms
	s := NewSampler(SamplerConfig{BW: 500 * time.Millisecond, IOPS: 250 * time.Millisecond,
		BWLog: func(now int64, d job.Dir, r uint64) int64 {
			bw = append(bw, sample{(now - start) / ms, d, r})
			return 100
		},
		IOPSLog: func(now int64, d job.Dir, r uint64) int64 {
			iops = append(iops, sample{(now - start) / ms, d, r})
			return 250
		}})
	s.Begin(start, [3]uint64{5, 5, 5}, [3]uint64{1, 1, 1})
	for _, step := range []struct {
		at         int64
		bytes, ios uint64 // of the first direction, moved in all
		next       int64
	}{
		{100, 1 << 20, 10, 150},
		{249, 2 << 20, 20, 250}, // 1 ms early is in time
		{499, 4 << 20, 40, 100}, // the log asks to come back
		{500, 4 << 20, 40, 249},
		{1000, 4 << 20, 40, 1}, // nothing moved: no samples; 251 ms late
		{1600, 12 << 20, 1640, 1},
	} {
		b, n := [3]uint64{5 + step.bytes, 5, 5}, [3]uint64{1 + step.ios, 1, 1}
		if got := s.Tick(start+step.at*ms, b, n); got != step.next {
			t.Errorf("at %d ms: next tick in %d ms, want %d", step.at, got, step.next)
		}
	}
	wantBW := []sample{{499, 0, 4 << 20 * 1000 / 499 / 1024}, {1600, 0, 8 << 20 * 1000 / 600 / 1024}}
	wantIOPS := []sample{{249, 0, 80}, {499, 0, 80}, {1600, 0, 2666}}
	if d := cmp.Diff(wantBW, bw, cmp.AllowUnexported(sample{})) + cmp.Diff(wantIOPS, iops, cmp.AllowUnexported(sample{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	var j Job
	s.Store(&j)
	if j.Dirs[0].BW.N != 2 || j.Dirs[0].IOPS.N != 3 || j.Dirs[0].IOPS.Max != 2666 || j.Dirs[1].BW.N != 0 {
		t.Errorf("stored: %+v, %+v", j.Dirs[0].BW, j.Dirs[0].IOPS)
	}
	s.Begin(start, [3]uint64{}, [3]uint64{})
	s.Store(&j)
	if j.Dirs[0].BW.N != 0 {
		t.Error("Begin keeps old samples")
	}
}

func TestSamplerOff(t *testing.T) {
	s := NewSampler(SamplerConfig{IOPS: 100 * time.Millisecond, LogAvg: 30 * time.Millisecond})
	s.Begin(0, [3]uint64{}, [3]uint64{})
	if got := s.Tick(50*ms, [3]uint64{1 << 30}, [3]uint64{1}); got != 10 {
		t.Errorf("next tick in %d ms, want 10, where a window of the log ends", got)
	}
	s.Tick(100*ms, [3]uint64{1 << 30}, [3]uint64{5})
	j := Job{}
	j.Dirs[0].BW.Add(77) // the worker's own, one sample for each I/O
	s.Store(&j)
	if j.Dirs[0].BW.N != 1 || j.Dirs[0].BW.Max != 77 || j.Dirs[0].IOPS.Max != 50 {
		t.Errorf("stored: %+v, %+v", j.Dirs[0].BW, j.Dirs[0].IOPS)
	}
}
