package layout

import "fiord/job"

// minBS is the least block size over all directions, used or not, as fio's td_min_bs, in bytes.
func minBS(j *job.Job) uint64 {
	return max(min(j.MinBS[job.Read], j.MinBS[job.Write], j.MinBS[job.Trim]), 1)
}

// maxBS is the largest block size of one direction, in bytes.
func maxBS(j *job.Job, d job.Dir) uint64 { return max(j.MaxBS[d], 1) }

// bytes is a size option in bytes: 0 when it was not given or is a percentage. Zones count zonesize, which only strided
// zones have here (fio's zbd_recalc_options_with_zone_granularity).
func (s *Set) bytes(z job.Size) uint64 {
	switch z.Kind {
	case job.Bytes:
		return z.Value
	case job.Zones:
		return z.Value * s.job.ZoneSize
	}
	return 0
}

// percent is a size option's percentage, 0 when it is none.
func percent(z job.Size) uint64 {
	if z.Kind == job.Percent {
		return z.Value
	}
	return 0
}
