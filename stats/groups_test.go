package stats

import (
	"testing"

	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// measured makes a job that moved bytes in ms milliseconds in each direction that is given.
func measured(name string, number, group int, moved map[job.Dir][2]uint64) *Job {
	j := &Job{Name: name, Number: number, Group: group, RunMs: 10, UserNs: 1e6, Ctx: 2, Submits: 4, Reaps: 3,
		Opt: Show{KBBase: 1024, UnitBase: 8, SigFigs: 4, Unified: "none"}}
	for d, m := range moved {
		j.Dirs[d].Bytes, j.Dirs[d].Runtime, j.Dirs[d].IOs = m[0], m[1], m[0]/4096
	}
	return j
}

// row is what a test compares of a row.
type row struct {
	Name            string
	Number, Last    int
	Group, Members  int
	Bytes, Runtimes [3]uint64
}

func summary(rows []*Job) []row {
	var out []row
	for _, j := range rows {
		r := row{Name: j.Name, Number: j.Number, Last: j.Last, Group: j.Group, Members: j.Members}
		for d := range j.Dirs {
			r.Bytes[d], r.Runtimes[d] = j.Dirs[d].Bytes, j.Dirs[d].Runtime
		}
		out = append(out, r)
	}
	return out
}

func TestBuildGroupsRows(t *testing.T) {
	w := map[job.Dir][2]uint64{job.Write: {4096, 2}}
	for _, c := range []struct {
		name  string
		setup func() []*Job
		want  []row
	}{
		{"each on its own", func() []*Job {
			return []*Job{measured("a", 1, 0, w), measured("b", 2, 0, w)}
		}, []row{
			{"a", 1, 1, 0, 1, [3]uint64{0, 4096}, [3]uint64{0, 2}},
			{"b", 2, 2, 0, 1, [3]uint64{0, 4096}, [3]uint64{0, 2}},
		}},
		{"merged by group, run time is the longest", func() []*Job {
			j := []*Job{measured("a", 1, 0, w), measured("a", 2, 0, map[job.Dir][2]uint64{job.Write: {8192, 5}}),
				measured("b", 3, 1, w)}
			for i := range j {
				j[i].Opt.GroupReporting = true
			}
			return j
		}, []row{
			{"a", 1, 2, 0, 2, [3]uint64{0, 12288}, [3]uint64{0, 5}},
			{"b", 3, 3, 1, 1, [3]uint64{0, 4096}, [3]uint64{0, 2}},
		}},
		{"one that groups joins a row of its group that does not", func() []*Job {
			j := []*Job{measured("a", 1, 0, w), measured("b", 2, 0, w), measured("c", 3, 0, w)}
			j[1].Opt.GroupReporting = true
			return j
		}, []row{
			{"a", 1, 2, 0, 2, [3]uint64{0, 8192}, [3]uint64{0, 2}},
			{"c", 3, 3, 0, 1, [3]uint64{0, 4096}, [3]uint64{0, 2}},
			{Group: -1},
		}},
		{"stats=0 leaves an empty row", func() []*Job {
			j := []*Job{measured("a", 1, 0, w), measured("b", 2, 0, w)}
			j[0].Opt.NoStats = true
			return j
		}, []row{{"b", 2, 2, 0, 1, [3]uint64{0, 4096}, [3]uint64{0, 2}}, {Group: -1}}},
		{"stats=0 in a group is left out", func() []*Job {
			j := []*Job{measured("a", 1, 0, w), measured("b", 2, 0, w), measured("c", 3, 0, w)}
			for i := range j {
				j[i].Opt.GroupReporting = true
			}
			j[0].Opt.NoStats = true
			return j
		}, []row{{"b", 2, 3, 0, 2, [3]uint64{0, 8192}, [3]uint64{0, 2}}}},
		{"mixed goes to the first direction", func() []*Job {
			j := measured("a", 1, 0, map[job.Dir][2]uint64{job.Read: {4096, 3}, job.Write: {8192, 2}})
			j.Opt.Unified = "1"
			return []*Job{j}
		}, []row{{"a", 1, 1, 0, 1, [3]uint64{12288}, [3]uint64{3}}}},
		{"no jobs", func() []*Job { return nil }, nil},
	} {
		rows, _ := BuildGroups(c.setup())
		if d := cmp.Diff(c.want, summary(rows)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestBuildGroupsSums(t *testing.T) {
	a := measured("a", 1, 0, map[job.Dir][2]uint64{job.Read: {1 << 20, 10}, job.Write: {4096, 4}})
	b := measured("b", 2, 0, map[job.Dir][2]uint64{job.Read: {3 << 20, 20}})
	c := measured("c", 3, 2, map[job.Dir][2]uint64{job.Trim: {1000, 1}})
	a.Dirs[0].BW.Add(51200)
	rows, groups := BuildGroups([]*Job{a, b, c})
	want := []Group{
		{MinRun: [3]uint64{10, 4}, MaxRun: [3]uint64{20, 4}, MinBW: [3]uint64{104857600, 1024000},
			MaxBW: [3]uint64{157286400, 1024000}, Bytes: [3]uint64{4 << 20, 4096}, AggBW: [3]uint64{209715200, 1024000},
			KBBase: 1024, UnitBase: 8, Unified: "none", SigFigs: 4},
		{Index: 1, Unified: "none"},
		{MinRun: [3]uint64{2: 1}, MaxRun: [3]uint64{2: 1}, MinBW: [3]uint64{2: 1000000}, MaxBW: [3]uint64{2: 1000000},
			Bytes: [3]uint64{2: 1000}, AggBW: [3]uint64{2: 1000000}, KBBase: 1024, UnitBase: 8, Unified: "none",
			Index: 2, SigFigs: 4},
	}
	if d := cmp.Diff(want, groups); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// 51200 KiB/s of the group's 204800.
	if got := rows[0].Dirs[0].BWAgg; got != 25 {
		t.Errorf("share of the group is %v, want 25", got)
	}
	if got := rows[1].Dirs[0].BWAgg; got != 0 {
		t.Errorf("share without samples is %v, want 0", got)
	}
}

func TestUnifiedOfGroups(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"none", "none", "none"},
		{"none", "mixed", "mixed"},
		{"2", "0", "both"},
		{"mixed", "both", "none"},
	} {
		a, b := measured("a", 1, 0, nil), measured("b", 2, 0, nil)
		a.Opt.Unified, b.Opt.Unified = c.a, c.b
		if _, g := BuildGroups([]*Job{a, b}); g[0].Unified != c.want {
			t.Errorf("%s with %s: %s, want %s", c.a, c.b, g[0].Unified, c.want)
		}
	}
}

func TestMergeAddsUp(t *testing.T) {
	a, b := measured("a", 1, 0, nil), measured("b", 2, 0, nil)
	for i, j := range []*Job{a, b} {
		j.Opt.GroupReporting = true
		j.Dirs[0].Clat = Latency{Hist: new(Hist)}
		for _, v := range []uint64{100, 200} {
			j.Dirs[0].Clat.Add(v + uint64(i))
			j.Dirs[0].Clat.Hist.Add(v + uint64(i))
		}
		j.SyncIOs, j.Depth[1], j.Submit[2], j.Complete[3], j.LatNs[4], j.LatUs[5], j.LatMs[6] = 1, 2, 3, 4, 5, 6, 7
		j.SysNs, j.MajFlt, j.MinFlt, j.CountZoneResets, j.ZoneResets = 8, 9, 10, i == 1, 11
		j.Dirs[0].IOs, j.Dirs[0].Short, j.Dirs[0].Dropped = 2, 1, 1
		j.SyncLat.Add(5)
	}
	rows, _ := BuildGroups([]*Job{a, b})
	r := rows[0]
	d := &r.Dirs[0]
	if d.Clat.N != 4 || d.Clat.Min != 100 || d.Clat.Max != 201 || d.Clat.Hist.Count() != 4 || d.Clat.Mean() != 150.5 {
		t.Errorf("latency: %+v", d.Clat.Sum)
	}
	if a.Dirs[0].Clat.Hist.Count() != 2 {
		t.Error("merging changed the histogram of a job")
	}
	got := []uint64{r.SyncIOs, r.Depth[1], r.Submit[2], r.Complete[3], r.LatNs[4], r.LatUs[5], r.LatMs[6], r.UserNs, r.SysNs,
		r.Ctx, r.MajFlt, r.MinFlt, r.ZoneResets, r.RunMs, r.Submits, r.Reaps, d.IOs, d.Short, d.Dropped, r.SyncLat.N}
	want := []uint64{2, 4, 6, 8, 10, 12, 14, 2e6, 16, 4, 18, 20, 11, 20, 8, 6, 4, 2, 2, 2}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPrios(t *testing.T) {
	lat := func(n int) (l Latency) {
		for range n {
			l.Add(10)
		}
		return l
	}
	group := func(prios ...uint16) (jobs []*Job) {
		for i, p := range prios {
			j := measured("p", i+1, 0, nil)
			j.IOPrio, j.Opt.GroupReporting = p, true
			j.Dirs[0].Clat, j.Dirs[0].Lat = lat(2), lat(5)
			jobs = append(jobs, j)
		}
		return jobs
	}
	counts := func(rows []*Job) map[uint16]uint64 {
		out := map[uint16]uint64{}
		for _, p := range rows[0].Dirs[0].Prios {
			out[p.Value] = p.N
		}
		return out
	}
	same, _ := BuildGroups(group(7, 7))
	if got := counts(same); len(got) != 0 || !same[0].Opt.DisablePrio {
		t.Errorf("one priority: %v", got)
	}
	several, _ := BuildGroups(group(7, 8, 7))
	if d := cmp.Diff(map[uint16]uint64{7: 4, 8: 2}, counts(several)); d != "" {
		t.Errorf("several priorities (-want +got):\n%s", d)
	}
	jobs := group(7)
	jobs[0].Opt.LatPct = true
	jobs = append(jobs, group(7)...)
	jobs[1].Dirs[0].Prios = []Prio{{Value: 7, Latency: lat(1)}, {Value: 9, Latency: lat(1)}, {Value: 10}}
	listed, _ := BuildGroups(jobs)
	if d := cmp.Diff(map[uint16]uint64{7: 6, 9: 1}, counts(listed)); d != "" {
		t.Errorf("with a list, total latency (-want +got):\n%s", d)
	}
}

func TestErrorsOfRows(t *testing.T) {
	a, b, c := measured("a", 1, 0, nil), measured("b", 2, 0, nil), measured("c", 3, 0, nil)
	for _, j := range []*Job{a, b, c} {
		j.Opt.GroupReporting, j.Continue = true, true
	}
	b.FirstError, b.TotalErr, b.ErrorText = 5, 3, "five"
	c.Error, c.ErrorText, c.TotalErr = 22, "twenty-two", 1
	rows, _ := BuildGroups([]*Job{a, b, c})
	r := rows[0]
	if r.Error != 5 || r.ErrorText != "five" || r.TotalErr != 4 || r.FirstError != 0 || !r.Continue {
		t.Errorf("error %d %q, total %d, first %d", r.Error, r.ErrorText, r.TotalErr, r.FirstError)
	}
}

func TestBaseNotes(t *testing.T) {
	a, b, c := measured("a", 1, 0, nil), measured("b", 2, 0, nil), measured("c", 3, 0, nil)
	for _, j := range []*Job{a, b, c} {
		j.Opt.GroupReporting = true
	}
	if got := BaseNotes([]*Job{a, b, c}); got != nil {
		t.Errorf("equal units: %q", got)
	}
	b.Opt.KBBase, c.Opt.UnitBase = 1000, 1
	want := []string{"jobs reported together have different kb_base, they are shown with 1024",
		"jobs reported together have different unit_base, they are shown with 8"}
	if d := cmp.Diff(want, BaseNotes([]*Job{a, b, c})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPerSecond(t *testing.T) {
	tests := []struct{ n, ms, want uint64 }{
		{0, 0, 0}, {5, 0, 0}, {3, 2, 1500}, {2, 3, 666},
		{24 << 50, 2000, 12 << 50}, // 1000 times as much needs more than 64 bits
	}
	for _, tt := range tests {
		if got := PerSecond(tt.n, tt.ms); got != tt.want {
			t.Errorf("PerSecond(%d, %d) = %d, want %d", tt.n, tt.ms, got, tt.want)
		}
	}
}

// TestRowsLeaveJobs checks that a row of one job takes its histograms as they are, and that other rows leave them alone.
func TestRowsLeaveJobs(t *testing.T) {
	make1 := func(grouped bool, unified string) *Job {
		j := &Job{Opt: Show{GroupReporting: grouped, Unified: unified}}
		for d := range j.Dirs {
			l := &j.Dirs[d].Clat
			l.Hist = new(Hist)
			l.Add(5)
			l.Hist.Add(5)
		}
		return j
	}
	for _, c := range []struct {
		jobs   []*Job
		shared bool
		count  uint64 // in the first direction of the first row
	}{
		{[]*Job{make1(false, UnifiedNone), make1(false, UnifiedNone)}, true, 1},
		{[]*Job{make1(true, UnifiedNone), make1(true, UnifiedNone)}, false, 2},
		{[]*Job{make1(false, UnifiedMixed)}, false, 3},
		{[]*Job{make1(false, UnifiedBoth)}, true, 1},
	} {
		rows, _ := BuildGroups(c.jobs)
		h := rows[0].Dirs[0].Clat.Hist
		if shared := h == c.jobs[0].Dirs[0].Clat.Hist; shared != c.shared || h.Count() != c.count {
			t.Errorf("%+v: histogram shared %v with %d values, want %v with %d", c.jobs[0].Opt, shared, h.Count(), c.shared, c.count)
		}
		for _, j := range c.jobs {
			if n := j.Dirs[0].Clat.Hist.Count(); n != 1 {
				t.Errorf("%+v: the job's own histogram has %d values", j.Opt, n)
			}
		}
	}
}
