package stats

import (
	"time"

	"fiord/job"
)

// SamplerConfig is how one job's rates are sampled.
type SamplerConfig struct {
	BW, IOPS time.Duration // the windows: bwavgtime and iopsavgtime, or what a log asks for; 0: no samples here
	LogAvg   time.Duration // the least log_avg_msec of BWLog and IOPSLog; 0: they are nil
	// BWLog and IOPSLog, when not nil, get each sample as it is taken, and return how many milliseconds their own window
	// has left.
	BWLog, IOPSLog func(now int64, d job.Dir, rate uint64) int64
}

// Sampler takes a job's bandwidth and IOPS at regular times. It is used by one goroutine, which is not the worker's:
// the samples stay here until Store.
type Sampler struct {
	cfg  SamplerConfig
	at   int64 // clock value that windows of logs count from, ns
	bw   rate
	iops rate
}

// rate is one of the two: what was counted when the last window ended.
type rate struct {
	window  int64 // ms
	divisor uint64
	last    int64
	seen    [job.NDirs]uint64
	samples [job.NDirs]Sample
	log     func(now int64, d job.Dir, rate uint64) int64
}

// NewSampler makes a Sampler; Begin comes next.
func NewSampler(cfg SamplerConfig) *Sampler {
	return &Sampler{cfg: cfg,
		bw:   rate{window: cfg.BW.Milliseconds(), divisor: 1024, log: cfg.BWLog},
		iops: rate{window: cfg.IOPS.Milliseconds(), divisor: 1, log: cfg.IOPSLog}}
}

// Begin starts the first window at now, in nanoseconds of any clock, with bytes and ios moved so far. It is called again
// where a ramp ends, and then forgets what was sampled.
func (s *Sampler) Begin(now int64, bytes, ios [job.NDirs]uint64) {
	s.at = now
	s.bw.begin(now, bytes)
	s.iops.begin(now, ios)
}

func (r *rate) begin(now int64, seen [job.NDirs]uint64) {
	r.last, r.seen = now, seen
	r.samples = [job.NDirs]Sample{}
}

// Tick takes a sample of each rate whose window has ended, from the bytes and I/Os moved so far, and returns after how
// many milliseconds it wants to be called again. A direction that moved nothing in a window has no sample of it. What is
// left of a window when a job ends is sampled only if a Tick comes late enough, as with fio: a short run has no samples.
func (s *Sampler) Tick(now int64, bytes, ios [job.NDirs]uint64) int64 {
	next := min(s.bw.tick(now, &bytes), s.iops.tick(now, &ios))
	if avg := s.cfg.LogAvg.Milliseconds(); avg > 0 {
		// Ticks keep to the times at which the windows of logs end.
		elapsed := (now - s.at) / 1e6
		next = min(next, avg-elapsed%avg)
	}
	return max(next, 1)
}

// Last takes a sample of each rate whose window had all but ended at now, when the job did: a helper that comes a little
// late would else lose the last window of a run.
func (s *Sampler) Last(now int64, bytes, ios [job.NDirs]uint64) {
	s.bw.end(now, &bytes)
	s.iops.end(now, &ios)
}

func (r *rate) end(now int64, counts *[job.NDirs]uint64) {
	if spent := (now - r.last) / 1e6; r.window > 0 && spent >= r.window*9/10 {
		r.take(now, spent, counts)
	}
}

// idle is what a rate that is not sampled wants of the time to the next tick.
const idle = 1 << 30

func (r *rate) tick(now int64, counts *[job.NDirs]uint64) int64 {
	if r.window == 0 {
		return idle
	}
	spent := (now - r.last) / 1e6
	if left := r.window - spent; left > 1 { // timers may be 1 ms early
		return left
	}
	next := r.take(now, spent, counts)
	if late := spent - r.window; late > 0 {
		next = min(next, r.window-1-late) // catch up
	}
	return next
}

// take takes the samples of a window of spent milliseconds, and returns after how many milliseconds the next one ends.
func (r *rate) take(now, spent int64, counts *[job.NDirs]uint64) int64 {
	next := r.window
	for d, n := range counts {
		delta := n - r.seen[d]
		if delta == 0 {
			continue
		}
		var v uint64
		if spent > 0 {
			v = PerSecond(delta, uint64(spent)) / r.divisor
		}
		r.samples[d].Add(v)
		if r.log != nil {
			next = min(next, r.log(now, job.Dir(d), v))
		}
		r.seen[d] = n
	}
	r.last = now
	return next
}

// Store puts the samples into j, where there are any.
func (s *Sampler) Store(j *Job) {
	for d := range j.Dirs {
		if s.cfg.BW > 0 {
			j.Dirs[d].BW = s.bw.samples[d]
		}
		if s.cfg.IOPS > 0 {
			j.Dirs[d].IOPS = s.iops.samples[d]
		}
	}
}
