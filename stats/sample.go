package stats

import "math"

// Sample holds the bandwidth (KiB/s) or IOPS of a job, one value per averaging window. Merging does not pool the values
// of several jobs but adds the jobs up, as fio does for rates (stat.c, sum_stat): minimum, maximum and mean of two jobs
// that ran side by side are the sums of theirs.
type Sample struct {
	Sum
	merged    bool
	mean, dev float64 // of a merged Sample: sum of the means, sum of the squared deviations
}

// Merge adds the rates of another job or direction.
func (s *Sample) Merge(o Sample) {
	if o.N == 0 {
		return
	}
	if s.N == 0 {
		*s = o
		return
	}
	mean, dev := s.Mean()+o.Mean(), s.squares()+o.squares()
	s.Sum = Sum{N: s.N + o.N, Min: s.Min + o.Min, Max: s.Max + o.Max}
	s.merged, s.mean, s.dev = true, mean, dev
}

// Mean is the mean rate, 0 for no windows.
func (s *Sample) Mean() float64 {
	if s.merged {
		return s.mean
	}
	return s.Sum.Mean()
}

// StdDev is the deviation of the rate between windows, 0 for fewer than two.
func (s *Sample) StdDev() float64 {
	if !s.merged {
		return s.Sum.StdDev()
	}
	return math.Sqrt(s.dev / float64(s.N-1))
}

// squares is the sum of squared differences from the mean.
func (s *Sample) squares() float64 {
	if s.merged {
		return s.dev
	}
	d := s.Sum.StdDev()
	return d * d * float64(max(s.N, 1)-1)
}
