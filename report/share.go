package report

import (
	"fiord/job"
	"fiord/stats"
)

// totalBytes sums what a job moved over the three directions.
func totalBytes(j *Job) (n uint64) {
	for d := range j.Dirs {
		n += j.Dirs[d].Bytes
	}
	return n
}

// cpuShare are the user and system time of a job as percent of its run time.
func cpuShare(j *Job) (user, sys float64) {
	ms := float64(j.RunMs)
	return ratio(float64(j.UserNs)/1e4, ms), ratio(float64(j.SysNs)/1e4, ms)
}

// group finds the group statistics of a job; nil when there are none.
func (r *Result) group(index int) *stats.Group {
	for i := range r.Groups {
		if r.Groups[i].Index == index {
			return &r.Groups[i]
		}
	}
	return nil
}

// terseBandwidthShare is a mean bandwidth in KiB/s as percent of its group's. The other formats have it from stats, where
// fio cuts the mean to whole KiB; in the terse format the mean is exact and the group's sum is cut.
func terseBandwidthShare(g *stats.Group, d job.Dir, meanKiB float64) float64 {
	if g == nil || g.AggBW[d] < 1024 {
		return 100
	}
	return min(100, finite(meanKiB*100/float64(g.AggBW[d]/1024)))
}

// dirName is the name of a direction in reports.
func dirName(j *Job, d job.Dir) string {
	if j.Opt.Unified == stats.UnifiedMixed {
		return "mixed"
	}
	return d.String()
}

// prios are the priorities of a direction that have samples; nil unless there are at least two.
func prios(d *stats.Dir) []*stats.Prio {
	var out []*stats.Prio
	for i := range d.Prios {
		if d.Prios[i].N > 0 {
			out = append(out, &d.Prios[i])
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// splitPrio takes an ioprio value apart, as the kernel packs it: class in 3 bits, hint in 10, level in 3.
func splitPrio(v uint16) (class, level, hint uint16) {
	return v >> 13, v & 7, v >> 3 & 0x3ff
}

// mixed is a job with all its directions in the place of reads, as unified_rw_reporting=both shows them beside the
// others. Its share of the bandwidth is of the group's reads, as in fio.
func mixed(j *Job, g *stats.Group) Job {
	m := *j
	m.Job = *j.Mixed()
	bw := &m.Dirs[job.Read]
	if bw.BWAgg = 0; bw.BW.N > 0 {
		bw.BWAgg = 100
		if g != nil && g.AggBW[job.Read] > 1024 {
			bw.BWAgg = min(100, float64(int64(bw.BW.Mean()))*100/(float64(g.AggBW[job.Read])/1024))
		}
	}
	return m
}
