package run

import (
	"testing"
	"time"

	"fiord/engines/enginetest"
	"fiord/job"
)

// TestLatTargetFindsDepth plays windows against a device that meets the target up to a depth, and expects the search to
// settle there.
func TestLatTargetFindsDepth(t *testing.T) {
	for _, c := range []struct{ most, meets, want int }{
		{1, 1, 1}, {32, 32, 32}, {32, 1, 1}, {32, 10, 10}, {64, 33, 33}, {8, 4, 4},
	} {
		j := &job.Job{}
		j.LatencyTarget, j.LatencyWindow, j.LatencyPercentile = time.Millisecond, time.Second, 90
		s := newLatTarget(j, c.most)
		s.begin(0, 0)
		settled := false
		for range 64 {
			if s.depth > c.meets {
				s.shrink()
				continue
			}
			if settled = s.grow(); settled {
				break
			}
		}
		if !settled || s.depth != c.want {
			t.Errorf("most %d, met up to %d: settled %v at depth %d, want %d", c.most, c.meets, settled, s.depth, c.want)
		}
	}
}

// TestLatTargetHopeless: at 100 % a single late I/O at depth 1 ends the job; deeper, it cuts the depth once.
func TestLatTargetHopeless(t *testing.T) {
	j := &job.Job{}
	j.LatencyTarget, j.LatencyPercentile = time.Millisecond, 100
	s := newLatTarget(j, 8)
	s.begin(0, 0)
	if !s.missed() {
		t.Error("late at depth 1: want hopeless")
	}
	s.depth, s.low = 8, 4
	if s.missed() || s.depth != 6 {
		t.Errorf("late at depth 8: depth %d, want 6", s.depth)
	}
	if s.missed() || s.depth != 6 {
		t.Errorf("another late I/O of the deeper queue: depth %d, want 6 still", s.depth)
	}
	if newLatTarget(&job.Job{}, 8) != nil {
		t.Error("a search without latency_target")
	}
}

// TestLatTargetWithBatches: the search lets fewer I/Os into the queue than a batch holds, so a part of a batch must go out.
func TestLatTargetWithBatches(t *testing.T) {
	f := enginetest.NewFake(enginetest.Script{})
	g := newRig(f.Driver("fake", diskless))
	j := g.one(t, fakeJob("rw=read size=64k iodepth=8 iodepth_batch=8 latency_target=1000s latency_window=1000s"))
	if n := j.Dirs[job.Read].IOs; n != 16 || j.Error != 0 {
		t.Errorf("%d I/Os, error %d; want 16 and none", n, j.Error)
	}
}
