package run

import (
	"testing"

	"fiord/job"
)

// TestMoving: only a job that could do I/O and did none since the last look holds a collection back.
func TestMoving(t *testing.T) {
	for _, c := range []struct {
		name   string
		states [2]state
		ios    [2]uint64 // since the last look
		want   bool
	}{
		{"both go on", [2]state{stateRunning, stateVerifying}, [2]uint64{5, 1}, true},
		{"one hangs", [2]state{stateRunning, stateRunning}, [2]uint64{5, 0}, false},
		{"one syncs for long", [2]state{stateRunning, stateFsyncing}, [2]uint64{5, 0}, false},
		{"one opens its files", [2]state{stateRunning, stateInitialized}, [2]uint64{5, 0}, false},
		{"one has not begun", [2]state{stateRunning, stateNotCreated}, [2]uint64{5, 0}, true},
		{"one has ended", [2]state{stateRunning, stateReaped}, [2]uint64{5, 0}, true},
	} {
		r := &runner{workers: []*worker{{}, {}}}
		progress := make([]uint64, 2)
		for i, w := range r.workers {
			w.ios[job.Write].Store(7)
			w.enter(c.states[i])
		}
		r.moving(progress)
		for i, w := range r.workers {
			w.ios[job.Read].Add(c.ios[i])
		}
		if got := r.moving(progress); got != c.want {
			t.Errorf("%s: moving is %v", c.name, got)
		}
	}
}

// TestNoCollection: a run in which memory grows little has no collection, also when it verifies.
func TestNoCollection(t *testing.T) {
	j := newRig().one(t, section("v", "ioengine=psync rw=randwrite bs=512 size=16m verify=crc32c directory="+t.TempDir()))
	if n := j.Extra.GCCycles; n != 0 {
		t.Errorf("%d collections", n)
	}
}
