package workload

import (
	"math"

	"fiord/job"
)

// Pacer works out when the next I/O of each direction is due under rate or rate_iops. It knows no clock: times are
// nanoseconds since the job's epoch. fio differs: it cuts each gap to whole microseconds, and so issues too many I/Os.
type Pacer struct {
	limits [job.NDirs]limit
	rands  [job.NDirs]Rand
	job    *job.Job
	seeds  *seeds
}

// limit is the rate of one direction.
type limit struct {
	bps   uint64  // bytes per second; 0: no limit
	block uint64  // smallest block size
	gap   float64 // ns between I/Os, fixed or as a mean
	how   gapKind // what makes the schedule
	spent float64 // ns: sum of the gaps so far
}

type gapKind uint8

const (
	gapBytes   gapKind = iota // the bytes issued so far
	gapFixed                  // a fixed gap: rate_iops with bssplit
	gapPoisson                // exponentially distributed gaps
)

// NewPacer makes the pacer of a job. Without a rate every I/O is due at once.
func NewPacer(j *job.Job) *Pacer {
	p := &Pacer{job: j, seeds: newSeeds(j)}
	sizes := newPlan(j, 1)
	for d := range p.limits {
		l := &p.limits[d]
		l.block = max(sizes.minBS[d], 1)
		l.bps = j.Rate[d]
		if l.bps == 0 {
			l.bps = uint64(max(j.RateIOPS[d], 0)) * l.block
		}
		switch iops := float64(max(l.bps, 1)) / float64(l.block); {
		case j.RateProcess == "poisson":
			l.how = gapPoisson
			l.gap = 1e9 / iops
		case j.Rate[d] == 0 && len(j.BSSplit[d]) > 0:
			l.how = gapFixed
			l.gap = 1e9 / iops
		}
	}
	p.seed()
	return p
}

func (p *Pacer) seed() {
	for d, s := range [job.NDirs]Stream{PoissonReadStream, PoissonWriteStream, PoissonTrimStream} {
		p.rands[d] = p.seeds.stream(p.job, s, false)
	}
}

// Due is when the next I/O of direction d may be issued, given the bytes issued since the epoch, the I/O just issued among
// them. It must be called exactly once for each I/O: gaps that do not go by bytes add up.
func (p *Pacer) Due(d job.Dir, issued uint64) int64 {
	l := &p.limits[d]
	if l.bps == 0 {
		return 0
	}
	switch l.how {
	case gapPoisson:
		l.spent += l.gap * -math.Log(p.rands[d].open01())
	case gapFixed:
		l.spent += l.gap
	default:
		return int64(issued/l.bps*1_000_000+issued%l.bps*1_000_000/l.bps) * 1000
	}
	return int64(l.spent)
}

// Skip is for rate_ignore_thinktime: after a pause of so many nanoseconds it returns the bytes that count as issued, so
// that the pause is not caught up, less one block so that I/O goes on at once.
func (p *Pacer) Skip(d job.Dir, issued uint64, pause int64) uint64 {
	l := &p.limits[d]
	us := uint64(max(pause, 0)) / 1000
	if l.bps == 0 || us == 0 {
		return issued
	}
	l.spent += float64(pause)
	missed := l.bps * us / 1_000_000
	if l.block*1_000_000/l.bps <= us {
		missed -= min(missed, l.block)
	}
	return issued + missed
}

// NextPass starts the random gaps anew where all streams start anew with each pass (randrepeat).
func (p *Pacer) NextPass() {
	if repeatable(p.job) {
		p.seed()
	}
}

// Reset makes now the epoch, at the end of ramp_time. The random gaps go on.
func (p *Pacer) Reset() {
	for d := range p.limits {
		p.limits[d].spent = 0
	}
}
