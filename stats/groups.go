package stats

import (
	"fmt"

	"fiord/job"
)

// BuildGroups merges jobs, given in thread order, into the rows of a report and adds up the groups, all as fio's
// __show_run_stats does. A job without group_reporting is a row of its own; one with it joins the row before it if that
// ends in its group. Jobs with stats=0 are left out. The jobs are left as they are; a row of one job has its histograms.
//
// fio counts the rows by another rule than it fills them. What it counts too many are empty rows without a name, of group
// -1; they are here too, because readers count rows.
func BuildGroups(jobs []*Job) (rows []*Job, groups []Group) {
	top := -1
	var row *Job
	lastGroup := -1
	for _, j := range jobs {
		top = max(top, j.Group)
		if j.Opt.NoStats {
			continue
		}
		if row == nil || !j.Opt.GroupReporting || lastGroup != j.Group {
			row = newRow(j)
			rows = append(rows, row)
		} else if j.IOPrio != row.IOPrio {
			row.Opt.DisablePrio = false
		}
		lastGroup = j.Group
		for i := range j.Dirs {
			if len(j.Dirs[i].Prios) != 0 {
				row.Opt.DisablePrio = false
			}
		}
		row.Members++
	}
	fillRows(rows, jobs)
	groups = sumGroups(rows, top+1)
	for _, r := range rows {
		for d := range r.Dirs {
			r.Dirs[d].setAgg(&groups[r.Group], job.Dir(d))
		}
	}
	for n := countRows(jobs); len(rows) < n; {
		rows = append(rows, &Job{Group: -1, Elapsed: rowTime(jobs)})
	}
	return rows, groups
}

// countRows is how many rows fio reserves: one for each job without group_reporting, shown or not, and one for each run of
// jobs with it in one group.
func countRows(jobs []*Job) (n int) {
	last := -1
	for _, j := range jobs {
		switch {
		case !j.Opt.GroupReporting:
			n++
		case !j.Opt.NoStats && last != j.Group:
			last = j.Group
			n++
		}
	}
	return n
}

// rowTime is the time that the run has taken, which a row without jobs shows like all others.
func rowTime(jobs []*Job) (sec uint64) {
	for _, j := range jobs {
		sec = max(sec, j.Elapsed)
	}
	return sec
}

// newRow makes an empty row that carries what a row has from its first job. Latencies by priority are of interest only
// where there are several priorities; the caller finds out.
func newRow(first *Job) *Job {
	r := &Job{Name: first.Name, Desc: first.Desc, Group: first.Group, Number: first.Number, Pid: first.Pid,
		JobStart: first.JobStart, IOPrio: first.IOPrio, Opt: first.Opt}
	r.Opt.Unified = unifiedName(unifiedBits(first.Opt.Unified))
	r.Opt.DisablePrio = true
	return r
}

// fillRows merges the jobs into their rows, which hold Members jobs each in order.
func fillRows(rows, jobs []*Job) {
	r, left := -1, 0
	for _, j := range jobs {
		if j.Opt.NoStats {
			continue
		}
		if left == 0 {
			r++
			left = rows[r].Members
		}
		left--
		rows[r].describe(j)
		rows[r].merge(j, rows[r].Members == 1) // a report of hundreds of jobs would mostly copy histograms
	}
}

// describe takes over from j what a row has from the last of its jobs, and from the first that has it an error.
func (j *Job) describe(src *Job) {
	j.Last = src.Number
	j.Opt.ClatPct, j.Opt.LatPct, j.Opt.SlatPct = src.Opt.ClatPct, src.Opt.LatPct, src.Opt.SlatPct
	j.Opt.Percentiles = src.Opt.Percentiles
	j.Continue = src.Continue
	j.FirstError = src.FirstError
	j.TotalErr += src.TotalErr
	if j.Error == 0 {
		if src.ErrorText != "" {
			j.ErrorText = src.ErrorText // also of a job that failed without an errno
		}
		switch {
		case src.Error != 0:
			j.Error, j.ErrorText = src.Error, src.ErrorText
		case src.Continue && src.FirstError != 0:
			j.Error, j.ErrorText = src.FirstError, src.ErrorText
		}
	}
	j.LatencyDepth = src.LatencyDepth
	j.LatencyTargetNs, j.LatencyWindowUs = src.LatencyTargetNs, src.LatencyWindowUs
	j.LatencyPercentile = src.LatencyPercentile
	j.Steady = src.Steady
	j.Elapsed = max(j.Elapsed, src.Elapsed)
}

// sumGroups adds the rows up by group. Minimum and maximum are over rows, so with group_reporting they are equal.
func sumGroups(rows []*Job, n int) []Group {
	groups := make([]Group, n)
	unified := make([]uint, n)
	for i := range groups {
		groups[i].Index = i
	}
	for _, r := range rows {
		g := &groups[r.Group]
		g.KBBase, g.UnitBase, g.SigFigs = r.Opt.KBBase, r.Opt.UnitBase, r.Opt.SigFigs
		unified[r.Group] |= unifiedBits(r.Opt.Unified)
		for d := range r.Dirs {
			g.addDir(job.Dir(d), r.Dirs[d].Bytes, r.Dirs[d].Runtime)
		}
	}
	for i := range groups {
		g := &groups[i]
		g.Unified = unifiedName(unified[i])
		for d, run := range g.MaxRun {
			if run != 0 {
				g.AggBW[d] = PerSecond(g.Bytes[d], run)
			}
		}
	}
	return groups
}

// addDir adds one row's direction, which moved bytes in run milliseconds; 0 means that it did not run.
func (g *Group) addDir(d job.Dir, bytes, run uint64) {
	if run == 0 {
		return
	}
	bw := PerSecond(bytes, run)
	if g.MaxRun[d] == 0 {
		g.MinRun[d], g.MinBW[d] = run, bw
	}
	g.MinRun[d], g.MaxRun[d] = min(g.MinRun[d], run), max(g.MaxRun[d], run)
	g.MinBW[d], g.MaxBW[d] = min(g.MinBW[d], bw), max(g.MaxBW[d], bw)
	g.Bytes[d] += bytes
}

// BaseNotes are the notes on rows whose jobs differ in the units that they are shown in.
func BaseNotes(jobs []*Job) []string {
	var row *Job
	kb, unit := "", ""
	for _, j := range jobs {
		switch {
		case j.Opt.NoStats:
		case row == nil || !j.Opt.GroupReporting || row.Group != j.Group:
			row = j
		case row.Opt.KBBase != j.Opt.KBBase && kb == "":
			kb = fmt.Sprintf("jobs reported together have different kb_base, they are shown with %d", row.Opt.KBBase)
		case row.Opt.UnitBase != j.Opt.UnitBase && unit == "":
			unit = fmt.Sprintf("jobs reported together have different unit_base, they are shown with %d", row.Opt.UnitBase)
		}
	}
	var notes []string
	for _, n := range []string{kb, unit} {
		if n != "" {
			notes = append(notes, n)
		}
	}
	return notes
}

// unifiedBits is fio's number of the option's value. Rows of one group combine by or: mixed with both gives 3, which
// then counts as neither.
func unifiedBits(v string) uint {
	switch v {
	case UnifiedMixed, "1":
		return 1
	case UnifiedBoth, "2":
		return 2
	}
	return 0
}

func unifiedName(bits uint) string {
	switch bits {
	case 1:
		return UnifiedMixed
	case 2:
		return UnifiedBoth
	}
	return UnifiedNone
}
