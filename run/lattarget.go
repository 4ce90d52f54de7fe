package run

import (
	"fiord/clock"
	"fiord/job"
	"fiord/stats"
)

// latTarget looks for the deepest queue at which enough I/Os stay below latency_target: fio's search, which doubles the
// depth until a window fails and then halves the distance. It belongs to the worker.
type latTarget struct {
	target, window int64 // ns
	percent        float64
	keepOn         bool // latency_run: adjust for as long as the job runs
	most           int  // iodepth

	depth, low, high int
	stable           int // windows in a row that could not go deeper

	since  int64 // start of the window
	ios    uint64
	late   uint64 // I/Os of the window above the target
	shrunk bool   // the depth has just been cut: what is in flight must finish before it counts
	last   bool   // the depth is found; this is the window that is reported
}

// newLatTarget is nil for a job without latency_target.
func newLatTarget(j *job.Job, depth int) *latTarget {
	if j.LatencyTarget == 0 {
		return nil
	}
	return &latTarget{target: int64(j.LatencyTarget), window: int64(j.LatencyWindow), percent: j.LatencyPercentile,
		keepOn: j.LatencyRun, most: depth}
}

// begin starts the search, unless it only has its last window to run.
func (t *latTarget) begin(now int64, ios uint64) {
	if t.last {
		return
	}
	t.depth, t.low, t.high = 1, 1, t.most
	t.cycle(now, ios)
}

func (t *latTarget) cycle(now int64, ios uint64) {
	t.since, t.ios, t.late = now, ios, 0
}

// missed notes an I/O above the target. It reports true when the target cannot be met at all: every I/O must meet it and
// the depth is 1 already.
func (t *latTarget) missed() (hopeless bool) {
	if t.percent < 100 {
		t.late++
		return false
	}
	if t.shrunk {
		return false // still an I/O of the deeper queue
	}
	return t.shrink()
}

// shrink cuts the depth after a failed window.
func (t *latTarget) shrink() (hopeless bool) {
	if t.depth == 1 {
		return true
	}
	t.high = t.depth
	if t.depth == t.low {
		t.low--
	}
	t.depth = max((t.depth+t.low)/2, 1)
	t.stable, t.shrunk = 0, true
	return false
}

// grow deepens the queue after a window that met the target, and reports whether it stays as it is.
func (t *latTarget) grow() (settled bool) {
	before := t.depth
	t.low = t.depth
	if t.depth+1 == t.high {
		// Halving cannot reach the failing depth again: move it on after three good windows.
		if t.stable++; t.stable >= 3 {
			t.high++
			t.stable = 0
		}
	}
	if t.high != t.most {
		t.depth = (t.depth + t.high) / 2
	} else {
		t.depth *= 2
	}
	t.depth = min(t.depth, t.most)
	return t.depth == before
}

// latencyWindow judges the window when it is over.
func (w *worker) latencyWindow(now int64) {
	t := w.lat
	if t.shrunk {
		t.shrunk = false
		w.quiesce()
		t.cycle(clock.Now(), w.loop.blockSum())
		return
	}
	if now-t.since < t.window {
		return
	}
	ios := w.loop.blockSum() - t.ios
	if ios == 0 {
		return
	}
	if 100*float64(ios-min(t.late, ios))/float64(ios) < t.percent {
		if !t.shrink() {
			w.quiesce()
			t.shrunk = false
		}
		t.cycle(clock.Now(), w.loop.blockSum())
		return
	}
	if t.grow() && !t.keepOn {
		if t.last {
			w.terminate()
			return
		}
		w.quiesce()
		t.last = true
		w.restart(clock.Now())
	}
	t.cycle(clock.Now(), w.loop.blockSum())
}

// room is how many more I/Os the search lets into the queue.
func (t *latTarget) room(inUse int) int { return max(t.depth-inUse, 0) }

// latencyResult tells what the search came to.
func (w *worker) latencyResult(j *stats.Job) {
	if w.lat == nil {
		return
	}
	j.LatencyDepth = w.lat.depth
	j.LatencyTargetNs, j.LatencyWindowUs = uint64(w.lat.target), uint64(w.lat.window/1000)
	j.LatencyPercentile = w.lat.percent
}
