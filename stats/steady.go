package stats

import (
	"math"
	"slices"
	"strings"
	"time"
)

// SteadyConfig is what a search for a steady state goes by.
type SteadyConfig struct {
	Kind     string  // iops, bw or lat: the largest deviation from the mean; with _slope: that of a line through all
	Limit    float64 // steady is what stays below
	Percent  bool    // Limit is percent of the mean
	Duration time.Duration
	Interval time.Duration // between values; Duration holds a whole number of them
}

// SteadySearch finds out when the values of the last Duration are steady (fio's steadystate.c). It is used by one
// goroutine.
type SteadySearch struct {
	cfg           SteadyConfig
	slope         bool
	n             int // values in Duration
	iops, bw, lat []uint64
	state         Steady
}

// NewSteadySearch makes a search that has seen nothing.
func NewSteadySearch(cfg SteadyConfig) *SteadySearch {
	_, slope := strings.CutSuffix(cfg.Kind, "_slope")
	n := 1
	if cfg.Interval > 0 {
		n = max(int(cfg.Duration/cfg.Interval), 1)
	}
	return &SteadySearch{cfg: cfg, slope: slope, n: n, state: Steady{Kind: cfg.Kind, Limit: cfg.Limit, Percent: cfg.Percent,
		DurationMs: uint64(cfg.Duration.Milliseconds())}}
}

// Add takes what one interval brought: IOPS, bytes per second and the mean completion latency in ns. It reports whether
// the state is steady; after that nothing changes any more.
func (s *SteadySearch) Add(iops, bw, lat uint64) bool {
	if s.state.Attained {
		return true
	}
	s.iops, s.bw, s.lat = s.push(s.iops, iops), s.push(s.bw, bw), s.push(s.lat, lat)
	if len(s.iops) < s.n {
		return false
	}
	values := s.lat
	switch {
	case strings.HasPrefix(s.cfg.Kind, "iops"):
		values = s.iops
	case strings.HasPrefix(s.cfg.Kind, "bw"):
		values = s.bw
	}
	size := s.judge(values)
	s.state.Attained = size < s.cfg.Limit
	return s.state.Attained
}

func (s *SteadySearch) push(values []uint64, v uint64) []uint64 {
	if len(values) == s.n {
		values = slices.Delete(values, 0, 1)
	}
	return append(values, v)
}

// judge computes slope or deviation and the criterion, and returns the criterion's size.
func (s *SteadySearch) judge(values []uint64) float64 {
	var sum uint64
	for _, v := range values {
		sum += v
	}
	st := &s.state
	if s.slope {
		st.Slope = lineSlope(values)
		st.Criterion = st.Slope
		if st.Percent {
			st.Criterion = 100 * st.Slope / float64(sum/uint64(len(values))) // fio cuts this mean
		}
		return math.Abs(st.Criterion)
	}
	mean := float64(sum) / float64(len(values))
	st.Deviation = 0
	for _, v := range values {
		st.Deviation = max(st.Deviation, math.Abs(float64(v)-mean))
	}
	st.Criterion = st.Deviation
	if st.Percent {
		st.Criterion = 100 * st.Deviation / mean
	}
	return st.Criterion
}

// lineSlope is the slope of the least-squares line through the values, one unit apart. A single value has none: NaN, so
// that it is never steady.
func lineSlope(values []uint64) float64 {
	n := float64(len(values))
	var x, xx, y, xy float64
	for i, v := range values {
		x += float64(i)
		xx += float64(i) * float64(i)
		y += float64(v)
		xy += float64(i) * float64(v)
	}
	return (xy - x*y/n) / (xx - x*x/n)
}

// State is how far the search has come. Its lists have a place for each interval of Duration, 0 where none came yet.
func (s *SteadySearch) State() *Steady {
	st := s.state
	fill := func(values []uint64) []uint64 {
		out := make([]uint64, s.n)
		copy(out, values)
		return out
	}
	st.IOPS, st.BW, st.Lat = fill(s.iops), fill(s.bw), fill(s.lat)
	return &st
}

// SteadyTotals are what a job, in all directions, has done so far.
type SteadyTotals struct {
	Bytes, IOs         uint64
	LatSumNs, LatCount uint64 // completion latencies
}

// SteadyMeter turns one job's totals into what it did in an interval. The jobs of a group that is judged together add
// their results up.
type SteadyMeter struct {
	last time.Duration
	seen SteadyTotals
}

// Measure returns bytes and I/Os a second since the last call, which was about one interval ago, and the sum and number
// of completion latencies since then. now counts from any start.
func (m *SteadyMeter) Measure(now, interval time.Duration, t SteadyTotals) (bw, iops, latSumNs, latCount uint64) {
	spent := uint64((now - m.last).Milliseconds())
	per := interval.Milliseconds()
	scale := uint64(max(per*per/1000, 1)) // fio multiplies by the time that has passed, not the interval
	bw, iops = spent*(t.Bytes-m.seen.Bytes)/scale, spent*(t.IOs-m.seen.IOs)/scale
	latSumNs, latCount = t.LatSumNs-m.seen.LatSumNs, t.LatCount-m.seen.LatCount
	*m = SteadyMeter{last: now, seen: t}
	return bw, iops, latSumNs, latCount
}
