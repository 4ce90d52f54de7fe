package run

import (
	"time"

	"fiord/clock"
	"fiord/internal/sys"
	"fiord/job"
)

// help is the helper: it takes bandwidth and IOPS samples, shows the live line, makes status dumps and watches the
// devices. It reads only what workers publish. It closes done when the run is over.
func (r *runner) help(done chan<- struct{}) {
	defer close(done)
	h := &helper{r: r, aggEvery: int64(time.Hour)}
	for _, w := range r.workers {
		h.aggEvery = min(h.aggEvery, int64(w.job.BWAvgTime)*1e6)
	}
	var live, dump <-chan time.Time
	if r.cfg.Live != nil {
		every := r.cfg.LiveEvery
		if every <= 0 {
			every = time.Second
		}
		t := time.NewTicker(every)
		defer t.Stop()
		live = t.C
	}
	if r.cfg.Dump != nil && r.cfg.Interval > 0 {
		t := time.NewTicker(r.cfg.Interval)
		defer t.Stop()
		dump = t.C
	}
	tick := time.NewTimer(h.tick())
	defer tick.Stop()
	var due <-chan time.Time
	for {
		select {
		case <-r.over:
			h.last()
			return
		case <-tick.C:
			tick.Reset(h.tick())
		case <-live:
			r.cfg.Live(h.status())
		case <-dump:
			if due == nil {
				due = time.After(min(dumpGrace, r.cfg.Interval))
			}
		case <-due:
			due = nil
			if !r.ending() {
				r.dump()
			}
		case <-r.cfg.Report:
			r.dump()
		}
	}
}

// dumpGrace is how long a status dump waits for the end of the run: where the interval falls on it, the last report would
// come twice.
const dumpGrace = 20 * time.Millisecond

// ending reports whether all jobs have done their I/O, so that the last report is about to come.
func (r *runner) ending() bool {
	for _, w := range r.workers {
		if w.get() < stateFinishing {
			return false
		}
	}
	return true
}

func (r *runner) dump() {
	if r.cfg.Dump != nil {
		r.cfg.Dump(r.result(false))
	}
}

// helper is the state of the helper goroutine.
type helper struct {
	r        *runner
	aggEvery int64 // ns between lines of --bandwidth-log: the shortest bwavgtime
	disk     int64 // when the devices were last looked at

	lastAgg            int64
	aggBytes           [job.NDirs]uint64
	lastLive           int64
	liveBytes, liveIOs [job.NDirs]uint64
}

// diskEvery is how often the devices' counters are read, so that they do not wrap unseen; fio's DISK_UTIL_MSEC.
const diskEvery = int64(250 * time.Millisecond)

// tick does what is due and returns when it wants to be called again.
func (h *helper) tick() time.Duration {
	now := clock.Now()
	next := diskEvery / 1e6
	for _, w := range h.r.workers {
		next = min(next, h.sample(w, now))
	}
	h.aggregate(now)
	for _, u := range h.r.steady {
		next = min(next, u.tick(now))
	}
	h.ramps()
	if now-h.disk >= diskEvery {
		h.disk = now
		h.r.disks.Update()
	}
	return time.Duration(next) * time.Millisecond
}

// sample feeds the worker's published counters to its averaging windows and returns after how many milliseconds the next
// of them ends.
func (h *helper) sample(w *worker, now int64) int64 {
	const settle = 20 // ms between looks at a job that is not measured yet
	epoch, s := w.epoch.Load(), w.get()
	switch {
	case !w.job.Stats || s == stateReaped:
		return diskEvery / 1e6
	case epoch == 0 || s != stateRunning && s != stateVerifying && s != stateFinishing && s != stateExited:
		return settle
	case epoch != w.sampledFrom:
		w.sampledFrom = epoch
		w.sampler.Begin(epoch, [job.NDirs]uint64{}, [job.NDirs]uint64{})
		if w.logs != nil {
			w.logs.BeginSampled(epoch, clockMsAt(w.job.LogAlternateEpochClockID, epoch))
		}
	}
	bytes, ios := w.counters()
	return w.sampler.Tick(now, bytes, ios)
}

// last takes what is due of the final windows, as of the moment at which each job ended.
func (h *helper) last() {
	for _, w := range h.r.workers {
		if epoch := w.epoch.Load(); epoch != 0 && epoch == w.sampledFrom && w.job.Stats {
			bytes, ios := w.counters()
			w.sampler.Last(epoch+int64(w.st.RunMs)*1e6, bytes, ios)
		}
	}
}

// counters are what the worker last published.
func (p *published) counters() (bytes, ios [job.NDirs]uint64) {
	for d := range bytes {
		bytes[d], ios[d] = p.bytes[d].Load(), p.ios[d].Load()
	}
	return bytes, ios
}

// anyRamping reports whether a job is still in its ramp.
func (h *helper) anyRamping() bool {
	for _, w := range h.r.workers {
		if w.get() == stateRamp {
			return true
		}
	}
	return false
}

// aggregate adds to the logs of --bandwidth-log what all jobs together moved since the last time.
func (h *helper) aggregate(now int64) {
	since := max(h.lastAgg, h.r.genesis)
	if h.r.agg == nil || now-since <= h.aggEvery || h.anyRamping() {
		return
	}
	var sum, rates [job.NDirs]uint64
	for _, w := range h.r.workers {
		bytes, _ := w.counters()
		for d := range sum {
			sum[d] += bytes[d]
		}
	}
	for d := range rates {
		if ms := uint64(now-since) / 1e6; ms > 0 && sum[d] >= h.aggBytes[d] {
			rates[d] = (sum[d] - h.aggBytes[d]) * 1000 / ms / 1024
		}
	}
	h.r.agg.Add((now-h.r.genesis)/1e6, rates)
	h.lastAgg, h.aggBytes = now, sum
}

// ramps ends the ramp of jobs with ramp_size once the job, or its reporting group, has moved that much.
func (h *helper) ramps() {
	sums := map[int]uint64{}
	for _, w := range h.r.workers {
		if w.job.RampSize > 0 && w.get() == stateRamp {
			sums[h.rampKey(w)] += w.bytes[0].Load() + w.bytes[1].Load() + w.bytes[2].Load()
		}
	}
	for _, w := range h.r.workers {
		if w.job.RampSize > 0 && sums[h.rampKey(w)] >= w.job.RampSize {
			w.rampDone.Store(true)
		}
	}
}

func (h *helper) rampKey(w *worker) int {
	if w.job.GroupReporting {
		return w.job.Group
	}
	return -1 - w.job.Number
}

// checkRamp ends the worker's ramp when it is over: what was measured so far is forgotten.
func (w *worker) checkRamp(now int64) {
	over := w.loop.rampEnd > 0 && now-w.epoch.Load() >= w.loop.rampEnd
	if !over && !w.rampDone.Load() {
		return
	}
	w.ramping = false
	w.restart(now)
	w.enter(stateRunning)
}

// restart begins the measured part anew: at the end of a ramp, and when the depth for latency_target is found.
func (w *worker) restart(now int64) {
	w.resetStats(now)
	l := &w.loop
	w.gen.RampOver(len(l.ios) - len(l.free) + len(l.ahead)) // issued or about to be: they count when they are done
	w.rate.begin(now)
	w.think.begin(now)
	if w.logs != nil {
		w.logs.Begin(now, sys.ClockMs(w.job.LogAlternateEpochClockID))
	}
	if w.lat != nil {
		w.lat.begin(now, 0)
	}
}
