package run

import (
	"time"

	"fiord/stats"
)

// steadyUnit is what one steadystate search judges: a job, or with group_reporting all jobs of its group together. It
// belongs to the helper.
type steadyUnit struct {
	workers  []*worker
	search   *stats.SteadySearch
	meters   []stats.SteadyMeter
	ramp     int64 // ns before the first interval
	interval int64 // ns
	next     int64 // when the next interval ends; 0: not begun
	done     bool
}

// newSteadyUnits finds the jobs that want a steady state.
func newSteadyUnits(r *runner) []*steadyUnit {
	var units []*steadyUnit
	groups := map[int]*steadyUnit{}
	for _, w := range r.workers {
		o := &w.job.Options
		if o.Steadystate.Kind == "" || o.SteadystateDuration == 0 {
			continue
		}
		if u := groups[w.job.Group]; u != nil && w.job.GroupReporting {
			u.add(w)
			continue
		}
		u := &steadyUnit{ramp: int64(o.SteadystateRampTime), interval: int64(max(o.SteadystateCheckInterval, time.Millisecond)),
			search: stats.NewSteadySearch(stats.SteadyConfig{Kind: o.Steadystate.Kind, Limit: o.Steadystate.Limit,
				Percent: o.Steadystate.Percent, Duration: o.SteadystateDuration, Interval: o.SteadystateCheckInterval})}
		u.add(w)
		units = append(units, u)
		if w.job.GroupReporting {
			groups[w.job.Group] = u
		}
	}
	return units
}

func (u *steadyUnit) add(w *worker) {
	u.workers = append(u.workers, w)
	u.meters = append(u.meters, stats.SteadyMeter{})
	w.steady = u
}

// tick measures when an interval is over, ends the jobs once they are steady, and returns after how many milliseconds the
// next interval ends.
func (u *steadyUnit) tick(now int64) int64 {
	const idle = 250
	if u.done || !u.running() {
		return idle
	}
	if u.next == 0 {
		first := int64(0)
		for _, w := range u.workers {
			first = max(first, w.epoch.Load())
		}
		if now < first+u.ramp {
			return min(idle, (first+u.ramp-now)/1e6+1)
		}
		u.measure(now) // the first look only starts the meters
		u.next = now + u.interval
	}
	if now >= u.next {
		u.next += u.interval
		if u.search.Add(u.measure(now)) {
			u.done = true
			for _, w := range u.workers {
				w.terminate()
			}
		}
	}
	return max(1, (u.next-now)/1e6+1)
}

// running reports whether all jobs of the unit are in the part that is measured.
func (u *steadyUnit) running() bool {
	for _, w := range u.workers {
		if w.get() != stateRunning {
			return false
		}
	}
	return true
}

// measure adds up what the jobs did since the last time: IOPS, bytes a second and mean completion latency.
func (u *steadyUnit) measure(now int64) (iops, bw, lat uint64) {
	var sum, count uint64
	for i, w := range u.workers {
		bytes, ios := w.counters()
		t := stats.SteadyTotals{Bytes: bytes[0] + bytes[1] + bytes[2], IOs: ios[0] + ios[1] + ios[2],
			LatSumNs: w.latSum.Load(), LatCount: w.latCount.Load()}
		b, n, s, c := u.meters[i].Measure(time.Duration(now), time.Duration(u.interval), t)
		iops, bw, sum, count = iops+n, bw+b, sum+s, count+c
	}
	if count > 0 {
		lat = sum / count
	}
	return iops, bw, lat
}

// publishLat lets the helper see the completion latencies so far, for a steady state of latencies.
func (w *worker) publishLat() {
	var sum, count uint64
	for d := range w.st.Dirs {
		c := &w.st.Dirs[d].Clat
		sum += uint64(c.Mean() * float64(c.N))
		count += c.N
	}
	w.latSum.Store(sum)
	w.latCount.Store(count)
}
