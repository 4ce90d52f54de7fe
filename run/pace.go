package run

import (
	"syscall"
	"time"

	"fiord/clock"
	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
	"fiord/workload"
)

// rates holds a job to rate, rate_iops and their minima. nil: the job has none.
type rates struct {
	w      *worker
	pacer  *workload.Pacer
	issued [job.NDirs]uint64 // bytes
	due    [job.NDirs]int64  // ns after the epoch at which the next I/O may start

	minBytes, minIOPS    [job.NDirs]uint64
	hasMin               bool
	lastTime             [job.NDirs]int64
	lastBytes, lastCount [job.NDirs]uint64
}

func newRates(w *worker) *rates {
	r := &rates{w: w}
	limited := false
	for d := range job.NDirs {
		limited = limited || w.job.Rate[d] > 0 || w.job.RateIOPS[d] > 0
		r.minBytes[d], r.minIOPS[d] = w.job.RateMin[d], uint64(w.job.RateIOPSMin[d])
		r.hasMin = r.hasMin || r.minBytes[d] > 0 || r.minIOPS[d] > 0
	}
	if !limited && !r.hasMin {
		return nil
	}
	r.pacer = workload.NewPacer(w.job)
	return r
}

// begin starts the schedule anew.
func (r *rates) begin(now int64) {
	if r == nil {
		return
	}
	r.pacer.Reset()
	r.issued, r.due = [job.NDirs]uint64{}, [job.NDirs]int64{}
	r.lastBytes, r.lastCount = [job.NDirs]uint64{}, [job.NDirs]uint64{}
	for d := range r.lastTime {
		r.lastTime[d] = now
	}
}

// count notes an I/O of n bytes and finds out when the next of its direction is due.
func (r *rates) count(d job.Dir, n int) {
	r.issued[d] += uint64(n)
	r.due[d] = r.pacer.Due(d, r.issued[d])
}

// pace is workload.Config.Pace: it waits until the schedule lets an I/O of direction d start, or of the other direction
// when that is behind its schedule, and returns the direction.
func (r *rates) pace(d job.Dir) job.Dir {
	w := r.w
	now := clock.Now() - w.epoch.Load()
	if r.due[d] <= now {
		return d
	}
	wait := r.due[d]
	if o := d ^ 1; d != job.Trim && w.job.RW.Read && w.job.RW.Write && w.mixOf(o) > 0 {
		if r.due[o] <= now {
			return o
		}
		if r.due[o] < r.due[d] {
			wait, d = r.due[o], o
		}
	}
	if !w.quiesce() || !w.sleepUntil(w.epoch.Load()+wait) {
		return workload.Stop
	}
	return d
}

// mixOf is the share of a direction in a mixed job, in percent.
func (w *worker) mixOf(d job.Dir) int {
	if d == job.Write {
		return 100 - w.job.RWMixRead
	}
	return w.job.RWMixRead
}

// belowMin checks rate_min and rate_iops_min once per rate_cycle, after two seconds of settling.
func (r *rates) belowMin(now int64) bool {
	w := r.w
	if now-w.start < int64(2*time.Second) {
		return false
	}
	for d := range job.NDirs {
		if r.minBytes[d] == 0 && r.minIOPS[d] == 0 || w.loop.moved[d] == 0 {
			continue
		}
		spent := now - r.lastTime[d]
		first := r.lastBytes[d] == 0 && r.lastCount[d] == 0
		if !first && spent/1e6 < int64(w.job.RateCycle) {
			continue
		}
		bytes, ios := w.loop.moved[d], w.loop.blocks[d]
		if !first && spent > 1e6 {
			ms := uint64(spent / 1e6)
			gotBytes, gotIOPS := (bytes-r.lastBytes[d])*1000/ms, (ios-r.lastCount[d])*1000/ms
			switch {
			case r.minBytes[d] > 0 && gotBytes < r.minBytes[d]:
				w.r.warn("%s: rate_min: want %d B/s, got %d B/s", w.job.Name, r.minBytes[d], gotBytes)
				return true
			case r.minBytes[d] == 0 && gotIOPS < r.minIOPS[d]:
				w.r.warn("%s: rate_iops_min: want %d IOPS, got %d", w.job.Name, r.minIOPS[d], gotIOPS)
				return true
			}
		}
		r.lastBytes[d], r.lastCount[d], r.lastTime[d] = bytes, ios, now
	}
	return false
}

// think holds the pauses of thinktime. nil: the job has none.
type think struct {
	time, spin, ioTime int64 // ns
	blocks             uint64
	byBlocks           bool // blocks decides, not only ioTime
	atIssue            bool // counts I/Os issued rather than completed
	last               uint64
	lastTime           int64
}

func newThink(w *worker) *think {
	o := &w.job.Options
	if o.ThinkTime == 0 {
		return nil
	}
	return &think{
		time: int64(o.ThinkTime) * 1000, spin: int64(o.ThinkTimeSpin) * 1000, ioTime: int64(o.ThinkTimeIotime) * 1e9,
		blocks: uint64(o.ThinkTimeBlocks), byBlocks: o.ThinkTimeIotime == 0 || w.job.IsSet("thinktime_blocks"),
		atIssue: o.ThinkTimeBlocksType == "issue",
	}
}

func (t *think) begin(now int64) {
	if t != nil {
		t.last, t.lastTime = 0, now
	}
}

// pause waits if a pause is due, and returns the time.
func (t *think) pause(w *worker, now int64) int64 {
	count := w.loop.blocks
	if t.atIssue {
		count = w.loop.issued
	}
	done := count[0] + count[1] + count[2]
	due := t.byBlocks && done >= t.last+t.blocks
	if t.ioTime > 0 && now-t.lastTime >= t.ioTime {
		due = true
	}
	if !due || done == 0 {
		return now
	}
	if !w.quiesce() {
		return now
	}
	began := clock.Now()
	w.spinUntil(began + t.spin)
	w.sleepUntil(began + max(t.time, t.spin))
	now = clock.Now()
	if w.rate != nil && w.job.RateIgnoreThinkTime {
		w.rate.forgive(now - began)
	}
	t.last, t.lastTime = done, now
	return now
}

// forgive moves the schedule by a pause, so that the rate holds only while the job does not think.
func (r *rates) forgive(pause int64) {
	for d := range r.due {
		r.issued[d] = r.pacer.Skip(job.Dir(d), r.issued[d], pause)
	}
}

// afterIO does what must happen after an I/O of a careful job and returns the time.
func (w *worker) afterIO(now int64) int64 {
	if n := w.job.Thinkcycles; n > 0 {
		spinCycles(n)
	}
	if w.think != nil {
		now = w.think.pause(w, now)
	}
	if w.lat != nil && !w.ramping {
		w.latencyWindow(now)
	}
	if w.rate != nil && w.rate.hasMin && !w.ramping && w.rate.belowMin(now) {
		w.fail(syscall.EIO, "check_min_rate")
		w.terminate()
		if w.r.exitAll || w.job.ExitAllOnError {
			w.r.terminateFor(w)
		}
	}
	return now
}

// spinCycles burns about n cycles. The compiler does not remove empty loops.
func spinCycles(n int) {
	for range n {
	}
}

// sleepUntil sleeps until clock.Now is t and reports whether the job goes on: it ends early when the job is asked to stop
// or its time is up. The counters stay published meanwhile.
func (w *worker) sleepUntil(t int64) bool {
	const slice = int64(50 * time.Millisecond)
	const spin = int64(5 * time.Microsecond)
	for {
		now := clock.Now()
		if w.over(now) {
			return false
		}
		if left := t - now; left <= 0 {
			return true
		} else if left > spin {
			sys.Sleep(time.Duration(min(left, slice)))
		}
	}
}

// spinUntil burns CPU until clock.Now is t or the job must stop.
func (w *worker) spinUntil(t int64) {
	for now := clock.Now(); now < t && !w.over(now); now = clock.Now() {
	}
}

// waitOverlap waits until no I/O in flight touches the range of u (serialize_overlap).
func (w *worker) waitOverlap(u *engines.IO) bool {
	for w.overlaps(u) {
		if len(w.loop.batch) > 0 && !w.submit() {
			return false
		}
		if w.loop.inflight == 0 {
			return true
		}
		if !w.reap(1) {
			return false
		}
	}
	return true
}

func (w *worker) overlaps(u *engines.IO) bool {
	if !u.Op.IsData() {
		return false
	}
	for _, o := range w.loop.ios {
		if o != u && o.User != 0 && o.File == u.File && o.Offset < u.Offset+int64(u.Len) &&
			u.Offset < o.Offset+int64(o.Len) {
			return true
		}
	}
	return false
}
