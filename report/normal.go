package report

import (
	"bytes"
	"fmt"
	"time"

	"fiord/job"
	"fiord/stats"
)

// timeLayout is how the C library's ctime writes a moment.
const timeLayout = "Mon Jan _2 15:04:05 2006"

// writeNormal writes the report for people: a block a job, a line a group and direction, the disks.
func writeNormal(b *bytes.Buffer, r *Result) {
	var p printer
	p.printf("\n") // a status line may stand on the terminal
	for i := range r.Jobs {
		p.normalJob(r, &r.Jobs[i])
	}
	for i := range r.Groups {
		p.normalGroup(&r.Groups[i])
	}
	p.normalDisks(r)
	p.normalIdle(r.Idle)
	b.Write(p.Bytes())
}

func (p *printer) normalJob(r *Result, j *Job) {
	if totalBytes(j) == 0 && j.TotalIOs() == 0 {
		return
	}
	p.printf("%s: (groupid=%d, jobs=%d): err=%2d", j.Name, j.Group, j.Members, j.Error)
	if j.Error != 0 {
		p.printf(" (%s)", errorText(j))
	}
	p.printf(": pid=%d: %s\n", j.Pid, r.Time.Format(timeLayout))
	if j.Desc != "" {
		p.printf("  Description  : [%s]\n", j.Desc)
	}
	list := r.percentiles(j)
	sc := newScale(j.Opt.KBBase, j.Opt.UnitBase, j.Opt.SigFigs)
	for d := range job.Dir(job.NDirs) {
		p.normalDir(j, d, sc, list)
	}
	if j.Opt.Unified == stats.UnifiedBoth {
		m := mixed(j, r.group(j.Group))
		sc := sc
		sc.unit = Plain // fio leaves the unit out here
		p.normalDir(&m, job.Read, sc, list)
	}
	p.normalBuckets(j)
	if j.SyncLat.N > 0 {
		p.printf("  fsync/fdatasync/sync_file_range/syncfs:\n")
		p.latencyLine("sync", &j.SyncLat.Sum)
		if j.SyncLat.Hist != nil {
			p.percentileTable("sync", j.SyncLat.Hist, j.SyncLat.N, list)
		}
	}
	p.normalCounters(j)
	p.normalSteady(j.Steady, newScale(j.Opt.KBBase, j.Opt.UnitBase, j.Opt.SigFigs))
}

// errorText is what stands behind err= in parentheses.
func errorText(j *Job) string {
	if j.ErrorText != "" {
		return j.ErrorText
	}
	return "error=" + ErrnoText(j.Error)
}

// normalDir writes the block of one direction: rates, latencies, percentiles, samples.
func (p *printer) normalDir(j *Job, d job.Dir, sc scale, list percentileList) {
	s := &j.Dirs[d]
	if s.Bytes == 0 || s.Runtime == 0 {
		return
	}
	bw := stats.PerSecond(s.Bytes, s.Runtime)
	p.printf("  %s: IOPS=%s, BW=%s (%s)(%s/%dmsec)", dirName(j, d), sc.count(stats.PerSecond(s.IOs, s.Runtime)),
		sc.rate(bw), sc.altRate(bw), sc.bytes(s.Bytes), s.Runtime)
	if j.CountZoneResets {
		p.printf("; %d zone resets", j.ZoneResets)
	}
	p.printf("\n")

	p.latencyLine("slat", &s.Slat.Sum)
	p.latencyLine("clat", &s.Clat.Sum)
	p.latencyLine(" lat", &s.Lat.Sum)
	kind, total := "clat", s.Clat.N
	if j.Opt.LatPct {
		kind, total = "lat", s.Lat.N
	}
	for _, prio := range prios(s) {
		p.latencyLine(prioName(kind, prio.Value), &prio.Sum)
	}
	p.latencyTable("slat", j.Opt.SlatPct, &s.Slat, list)
	p.latencyTable("clat", j.Opt.ClatPct, &s.Clat, list)
	p.latencyTable("lat", j.Opt.LatPct, &s.Lat, list)
	for _, prio := range prios(s) {
		name := fmt.Sprintf("%s (%.2f%% of IOs)", prioName(kind, prio.Value),
			ratio(100*float64(prio.N), float64(total)))
		p.latencyTable(name, j.Opt.ClatPct || j.Opt.LatPct, &prio.Latency, list)
	}
	p.normalSamples(s, sc)
}

func prioName(kind string, value uint16) string {
	class, level, hint := splitPrio(value)
	return fmt.Sprintf("%s prio %d/%d/%d", kind, class, level, hint)
}

func (p *printer) latencyTable(name string, wanted bool, l *stats.Latency, list percentileList) {
	if wanted && l.N > 0 && l.Hist != nil {
		p.percentileTable(name, l.Hist, l.N, list)
	}
}

// normalSamples writes the bw and iops lines, where windows were sampled.
func (p *printer) normalSamples(s *stats.Dir, sc scale) {
	if v, ok := summarizeRate(&s.BW); ok {
		unit := "kB"
		if sc.binary {
			unit = "KiB"
		}
		if k := float64(sc.kbBase); v.mean > k*k {
			v, unit = v.over(uint64(sc.kbBase)), "MiB"
		}
		p.printf("   bw (%5s/s): min=%5d, max=%5d, per=%3.2f%%, avg=%5.2f, stdev=%5.2f, samples=%d\n",
			unit, v.min, v.max, finite(s.BWAgg), v.mean, v.dev, s.BW.N)
	}
	if v, ok := summarizeRate(&s.IOPS); ok {
		p.printf("   iops        : min=%5d, max=%5d, avg=%5.2f, stdev=%5.2f, samples=%d\n",
			v.min, v.max, v.mean, v.dev, s.IOPS.N)
	}
}

// The upper bounds of the latency buckets; milliseconds have two more.
var (
	bucketNames   = []string{"2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"}
	bucketNamesMs = append(bucketNames[:len(bucketNames):len(bucketNames)], "2000", ">=2000")
)

// normalBuckets writes how the total latencies spread, leaving out empty buckets.
func (p *printer) normalBuckets(j *Job) {
	ns, us, ms := j.LatPercent()
	p.bucketLines("nsec", bucketNames, ns[:])
	p.bucketLines("usec", bucketNames, us[:])
	p.bucketLines("msec", bucketNamesMs, ms[:])
}

func (p *printer) bucketLines(unit string, names []string, share []float64) {
	const perLine = 5
	shown := 0
	for i, v := range share {
		if v <= 0 {
			continue
		}
		switch {
		case shown%perLine != 0:
			p.printf(", ")
		case shown > 0:
			p.printf("\n")
			fallthrough
		default:
			p.printf("  lat (%s)   : ", unit)
		}
		p.printf("%s=%3.2f%%", names[i], v)
		shown++
	}
	if shown > 0 {
		p.printf("\n")
	}
}

// normalCounters writes the lines that every job has: CPU, depths, counts, errors, latency target.
func (p *printer) normalCounters(j *Job) {
	user, sys := cpuShare(j)
	p.printf("  cpu          : usr=%3.2f%%, sys=%3.2f%%, ctx=%d, majf=%d, minf=%d\n",
		user, sys, j.Ctx, j.MajFlt, j.MinFlt)
	p.depthLine("  IO depths    : ", depthNames, stats.Percent(j.Depth, j.TotalIOs()))
	p.depthLine("     submit    : ", batchNames, stats.Percent(j.Submit, j.Submits))
	p.depthLine("     complete  : ", batchNames, stats.Percent(j.Complete, j.Reaps))
	r, w, t := &j.Dirs[job.Read], &j.Dirs[job.Write], &j.Dirs[job.Trim]
	p.printf("     issued rwts: total=%d,%d,%d,%d short=%d,%d,%d,0 dropped=%d,%d,%d,0\n",
		r.IOs, w.IOs, t.IOs, j.SyncIOs, r.Short, w.Short, t.Short, r.Dropped, w.Dropped, t.Dropped)
	if j.Continue {
		p.printf("     errors    : total=%d, first_error=%d/<%s>\n", j.TotalErr, j.FirstError, ErrnoText(j.FirstError))
	}
	if j.LatencyDepth != 0 {
		p.printf("     latency   : target=%s, window=%s, percentile=%.2f%%, depth=%d\n",
			shortTime(j.LatencyTargetNs), shortTime(j.LatencyWindowUs*1000), finite(j.LatencyPercentile), j.LatencyDepth)
	}
}

// The columns of the depth distributions: of the queue, and of the batches submitted and reaped.
var (
	depthNames = []string{"1", "2", "4", "8", "16", "32", ">=64"}
	batchNames = []string{"0", "4", "8", "16", "32", "64", ">=64"}
)

func (p *printer) depthLine(head string, names []string, share [7]float64) {
	p.printf("%s", head)
	for i, v := range share {
		if i > 0 {
			p.printf(", ")
		}
		p.printf("%s=%3.1f%%", names[i], v)
	}
	p.printf("\n")
}

// shortTime writes nanoseconds in the largest unit that leaves at least 2.
func shortTime(ns uint64) string {
	v := float64(ns)
	switch {
	case ns >= uint64(2*time.Second):
		return fmt.Sprintf("%.2fs", v/1e9)
	case ns >= uint64(2*time.Millisecond):
		return fmt.Sprintf("%.2fms", v/1e6)
	case ns >= uint64(2*time.Microsecond):
		return fmt.Sprintf("%.2fus", v/1e3)
	}
	return fmt.Sprintf("%.2fns", v)
}
