package stats

import (
	"slices"

	"fiord/job"
)

// Values of unified_rw_reporting as Show.Unified has them.
const (
	UnifiedNone  = "none"
	UnifiedMixed = "mixed"
	UnifiedBoth  = "both"
)

// Merge adds what src measured to j (fio's sum_thread_stats). Counts, CPU times and total run times add up, a
// direction's run time is the longest. Where j reports mixed, everything goes to its first direction. Names, errors and
// the like are not touched: see BuildGroups.
func (j *Job) Merge(src *Job) { j.merge(src, false) }

// merge is Merge. With share it takes histograms of src over as they are where j has none: j must be empty and nothing may
// be added to it, or to src, afterwards.
func (j *Job) merge(src *Job, share bool) {
	share = share && j.Opt.Unified != UnifiedMixed
	for i := range src.Dirs {
		to := i
		if j.Opt.Unified == UnifiedMixed {
			to = 0
		}
		if !j.Opt.DisablePrio {
			j.Dirs[to].mergePrios(&src.Dirs[i], src)
		}
		j.Dirs[to].merge(&src.Dirs[i], share)
	}
	j.SyncIOs += src.SyncIOs
	j.SyncLat.merge(src.SyncLat, share)
	j.RunMs += src.RunMs

	j.UserNs += src.UserNs
	j.SysNs += src.SysNs
	j.Ctx += src.Ctx
	j.MajFlt += src.MajFlt
	j.MinFlt += src.MinFlt

	add(j.Depth[:], src.Depth[:])
	add(j.Submit[:], src.Submit[:])
	add(j.Complete[:], src.Complete[:])
	j.Submits += src.Submits
	j.Reaps += src.Reaps
	add(j.LatNs[:], src.LatNs[:])
	add(j.LatUs[:], src.LatUs[:])
	add(j.LatMs[:], src.LatMs[:])

	if src.CountZoneResets {
		j.CountZoneResets = true
		j.ZoneResets += src.ZoneResets
	}
	j.Extra.merge(&src.Extra)
}

// Mixed is a copy of j whose first direction is all directions together, as unified_rw_reporting=both shows beside
// the others.
func (j *Job) Mixed() *Job {
	m := &Job{Name: j.Name, Group: j.Group, Members: j.Members, Opt: j.Opt}
	m.Opt.Unified = UnifiedMixed
	m.Merge(j)
	return m
}

func (d *Dir) merge(src *Dir, share bool) {
	d.IOs += src.IOs
	d.Bytes += src.Bytes
	d.Short += src.Short
	d.Dropped += src.Dropped
	d.Runtime = max(d.Runtime, src.Runtime)
	d.Slat.merge(src.Slat, share)
	d.Clat.merge(src.Clat, share)
	d.Lat.merge(src.Lat, share)
	d.BW.Merge(src.BW)
	d.IOPS.Merge(src.IOPS)
}

// mergePrios adds the latencies by priority. A job whose I/Os all have its own priority keeps no list of them; its
// latencies as a whole are those of that priority.
func (d *Dir) mergePrios(src *Dir, owner *Job) {
	prios := src.Prios
	if len(prios) == 0 {
		own := Prio{Value: owner.IOPrio, Latency: src.Clat}
		if owner.Opt.LatPct {
			own.Latency = src.Lat
		}
		prios = []Prio{own}
	}
	for _, p := range prios {
		if p.N == 0 {
			continue
		}
		i := slices.IndexFunc(d.Prios, func(q Prio) bool { return q.Value == p.Value })
		if i < 0 {
			i = len(d.Prios)
			d.Prios = append(d.Prios, Prio{Value: p.Value})
		}
		d.Prios[i].Latency.merge(p.Latency, false)
	}
}

// merge adds src. With share its histogram becomes that of l if there is none yet.
func (l *Latency) merge(src Latency, share bool) {
	l.Sum.Merge(src.Sum)
	if src.Hist == nil {
		return
	}
	if share && l.Hist == nil {
		l.Hist = src.Hist
		return
	}
	if l.Hist == nil {
		l.Hist = new(Hist)
	}
	if src.N > 0 { // most of a thousand jobs' histograms are empty
		l.Hist.Merge(src.Hist)
	}
}

func (e *Extra) merge(src *Extra) {
	e.SubmitCalls += src.SubmitCalls
	e.ReapCalls += src.ReapCalls
	e.SubmittedIOs += src.SubmittedIOs
	e.ReapedIOs += src.ReapedIOs
	e.GCCycles = max(e.GCCycles, src.GCCycles) // the collector is one for all jobs
	for _, f := range src.Features {
		if !slices.Contains(e.Features, f) {
			e.Features = append(e.Features, f)
		}
	}
	if e.Clock == "" {
		e.Clock = src.Clock
	}
	e.CountsCalls = e.CountsCalls || src.CountsCalls
	if len(src.CPUs) > 0 {
		e.CPUs = append(slices.Clone(e.CPUs), src.CPUs...)
		slices.Sort(e.CPUs)
		e.CPUs = slices.Compact(e.CPUs)
	}
}

func add(dst, src []uint64) {
	for i, n := range src {
		dst[i] += n
	}
}

// setAgg sets the direction's mean bandwidth as percent of what the group did in direction of; without samples it is 0,
// without a group of note 100.
func (d *Dir) setAgg(g *Group, of job.Dir) {
	d.BWAgg = 0
	if d.BW.N == 0 {
		return
	}
	d.BWAgg = 100
	if g != nil && g.AggBW[of] > 1024 {
		mean := float64(int(d.BW.Mean())) // fio passes the mean as an int
		d.BWAgg = min(mean*100/(float64(g.AggBW[of])/1024), 100)
	}
}
