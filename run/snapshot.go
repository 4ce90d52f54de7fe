package run

import (
	"slices"
	"sync"
	"time"

	"fiord/stats"
)

// snapshot is a consistent copy of a worker's statistics, made by the worker itself when the helper asks for one.
type snapshot struct {
	served uint32 // the last request served; the worker's own
	mu     sync.Mutex
	job    stats.Job
	have   bool
	ready  chan struct{} // capacity 1
}

// serveSnapshot copies the statistics for the helper. The worker calls it between two I/Os, so nothing is torn.
func (w *worker) serveSnapshot(now int64) {
	w.snap.served = w.want.Load()
	c := w.st
	for d := range c.Dirs {
		c.Dirs[d].Slat.Hist = cloneHist(c.Dirs[d].Slat.Hist)
		c.Dirs[d].Clat.Hist = cloneHist(c.Dirs[d].Clat.Hist)
		c.Dirs[d].Lat.Hist = cloneHist(c.Dirs[d].Lat.Hist)
		c.Dirs[d].Prios = slices.Clone(c.Dirs[d].Prios)
		for i := range c.Dirs[d].Prios {
			c.Dirs[d].Prios[i].Hist = cloneHist(c.Dirs[d].Prios[i].Hist)
		}
		if c.Dirs[d].IOs > 0 {
			us := (w.elapsed[d] + now - w.start) / 1000
			c.Dirs[d].Runtime = uint64(us+999) / 1000
		}
	}
	c.SyncLat.Hist = cloneHist(c.SyncLat.Hist)
	w.oneByOne(&c)
	w.addUsage(&c)
	if e := w.epoch.Load(); e != 0 {
		c.RunMs = uint64(now-e) / 1e6
	}
	w.snap.mu.Lock()
	w.snap.job, w.snap.have = c, true
	w.snap.mu.Unlock()
	select {
	case w.snap.ready <- struct{}{}:
	default:
	}
}

func cloneHist(h *stats.Hist) *stats.Hist {
	if h == nil {
		return nil
	}
	c := *h
	return &c
}

// patience is how long a status dump waits for a worker that is stuck in a system call; its last copy then serves.
const patience = 250 * time.Millisecond

// snapshots gives the statistics of every job as they are now.
func (r *runner) snapshots() []*stats.Job {
	for _, w := range r.workers {
		select {
		case <-w.snap.ready:
		default:
		}
		w.want.Add(1)
	}
	deadline := time.After(patience)
	jobs := make([]*stats.Job, len(r.workers))
	late := false
	for i, w := range r.workers {
		if s := w.get(); s >= stateRamp && s < stateExited && s != stateSettingUp && !late {
			select {
			case <-w.snap.ready:
			case <-w.ended:
			case <-deadline:
				late = true
			}
		}
		jobs[i] = w.copyOf()
	}
	return jobs
}

// copyOf is the worker's own statistics once it has ended, and its last copy before.
func (w *worker) copyOf() *stats.Job {
	if w.get() >= stateExited {
		c := w.st
		return &c
	}
	w.snap.mu.Lock()
	defer w.snap.mu.Unlock()
	if !w.snap.have {
		return &stats.Job{Name: w.job.Name, Desc: w.job.Description, Group: w.job.Group, Number: w.job.Number, Members: 1,
			Opt: showOptions(w.job), LatencyPercentile: 100}
	}
	c := w.snap.job
	return &c
}
