package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"fiord/job"
	"fiord/stats"
)

// csvPercentiles are the percentiles of each latency. They do not follow percentile_list, so that columns stay in place.
var csvPercentiles = []float64{50, 90, 95, 99, 99.9, 99.99}

// csvRow is what one row is about: a direction of a job, or its syncs, or the job alone when it did nothing.
type csvRow struct {
	r    *Result
	j    *Job
	name string     // of the direction; empty: none
	dir  *stats.Dir // nil: none
}

// csvColumn is one column. A value that was not measured is empty.
type csvColumn struct {
	name  string
	value func(c *csvRow) string
}

// csvColumns are all columns, in order. New ones come at the end.
var csvColumns = csvAll()

func csvAll() []csvColumn {
	list := []csvColumn{
		{"timestamp_ms", func(c *csvRow) string { return strconv.FormatInt(c.r.Time.UnixMilli(), 10) }},
		{"version", func(c *csvRow) string { return c.r.Version }},
		{"job", func(c *csvRow) string { return c.j.Name }},
		{"group", func(c *csvRow) string { return strconv.Itoa(c.j.Group) }},
		{"number", func(c *csvRow) string { return strconv.Itoa(c.j.Number) }},
		{"members", func(c *csvRow) string { return strconv.Itoa(c.j.Members) }},
		{"dir", func(c *csvRow) string { return c.name }},
		{"error", func(c *csvRow) string { return strconv.Itoa(c.j.Error) }},
		{"runtime_ms", ofRun(func(d *stats.Dir) string { return text(d.Runtime) })},
		{"ios", ofDir(func(d *stats.Dir) string { return text(d.IOs) })},
		{"bytes", ofDir(func(d *stats.Dir) string { return text(d.Bytes) })},
		{"iops", ofRun(func(d *stats.Dir) string { return decimal(ratio(1000*float64(d.IOs), float64(d.Runtime))) })},
		{"bw_bytes", ofRun(func(d *stats.Dir) string { return text(stats.PerSecond(d.Bytes, d.Runtime)) })},
		{"short_ios", ofDir(func(d *stats.Dir) string { return text(d.Short) })},
		{"drop_ios", ofDir(func(d *stats.Dir) string { return text(d.Dropped) })},
	}
	for _, l := range []struct {
		name string
		of   func(d *stats.Dir) *stats.Latency
	}{
		{"slat", func(d *stats.Dir) *stats.Latency { return &d.Slat }},
		{"clat", func(d *stats.Dir) *stats.Latency { return &d.Clat }},
		{"lat", func(d *stats.Dir) *stats.Latency { return &d.Lat }},
	} {
		list = append(list, csvLatency(l.name, l.of)...)
	}
	list = append(list, csvSamples("bw_kib", func(d *stats.Dir) *stats.Sample { return &d.BW })...)
	list = append(list, csvSamples("iops", func(d *stats.Dir) *stats.Sample { return &d.IOPS })...)
	return append(list, csvJob()...)
}

// csvJob are the columns that all rows of a job share.
func csvJob() []csvColumn {
	return []csvColumn{
		{"usr_cpu", func(c *csvRow) string { user, _ := cpuShare(c.j); return decimal(user) }},
		{"sys_cpu", func(c *csvRow) string { _, sys := cpuShare(c.j); return decimal(sys) }},
		{"ctx", func(c *csvRow) string { return text(c.j.Ctx) }},
		{"majf", func(c *csvRow) string { return text(c.j.MajFlt) }},
		{"minf", func(c *csvRow) string { return text(c.j.MinFlt) }},
		{"submit_calls", ofCalls(func(x *stats.Extra) string { return text(x.SubmitCalls) })},
		{"ios_per_submit", ofCalls(func(x *stats.Extra) string { return decimal(ratio(float64(x.SubmittedIOs), float64(x.SubmitCalls))) })},
		{"reap_calls", ofCalls(func(x *stats.Extra) string { return text(x.ReapCalls) })},
		{"ios_per_reap", ofCalls(func(x *stats.Extra) string { return decimal(ratio(float64(x.ReapedIOs), float64(x.ReapCalls))) })},
		{"user_ns_per_io", perIO(func(j *Job) uint64 { return j.UserNs })},
		{"sys_ns_per_io", perIO(func(j *Job) uint64 { return j.SysNs })},
		{"ctx_per_io", perIO(func(j *Job) uint64 { return j.Ctx })},
		{"gc_cycles", func(c *csvRow) string { return text(c.j.Extra.GCCycles) }},
		{"features", func(c *csvRow) string { return strings.Join(c.j.Extra.Features, " ") }},
		{"cpus", func(c *csvRow) string { return cpuList(c.j.Extra.CPUs) }},
		{"clock", func(c *csvRow) string { return c.r.Run.Clock }},
		{"kernel", func(c *csvRow) string { return c.r.Run.Kernel }},
		{"cpu", func(c *csvRow) string { return c.r.Run.CPU }},
		{"devices", func(c *csvRow) string { return strings.Join(deviceNames(c.r), " ") }},
	}
}

func deviceNames(r *Result) (names []string) {
	if r.Env != nil {
		for i := range r.Env.Devices {
			names = append(names, r.Env.Devices[i].Name)
		}
	}
	return names
}

func text(n uint64) string { return strconv.FormatUint(n, 10) }

func decimal(v float64) string { return strconv.FormatFloat(finite(v), 'f', 6, 64) }

func ofDir(f func(*stats.Dir) string) func(*csvRow) string {
	return func(c *csvRow) string {
		if c.dir == nil {
			return ""
		}
		return f(c.dir)
	}
}

// ofRun is for what needs the time in which a direction ran; syncs have none of their own.
func ofRun(f func(*stats.Dir) string) func(*csvRow) string {
	return ofDir(func(d *stats.Dir) string {
		if d.Runtime == 0 {
			return ""
		}
		return f(d)
	})
}

func ofCalls(f func(*stats.Extra) string) func(*csvRow) string {
	return func(c *csvRow) string {
		if !c.j.Extra.CountsCalls {
			return ""
		}
		return f(&c.j.Extra)
	}
}

func perIO(f func(*Job) uint64) func(*csvRow) string {
	return func(c *csvRow) string {
		if c.j.TotalIOs() == 0 {
			return ""
		}
		return decimal(float64(f(c.j)) / float64(c.j.TotalIOs()))
	}
}

// csvLatency are the columns of one kind of latency, in ns.
func csvLatency(name string, of func(*stats.Dir) *stats.Latency) []csvColumn {
	column := func(what string, f func(*stats.Latency) string) csvColumn {
		return csvColumn{name + "_" + what + "_ns", ofDir(func(d *stats.Dir) string {
			if l := of(d); l.N > 0 {
				return f(l)
			}
			return ""
		})}
	}
	list := []csvColumn{
		column("min", func(l *stats.Latency) string { return text(l.Min) }),
		column("max", func(l *stats.Latency) string { return text(l.Max) }),
		column("mean", func(l *stats.Latency) string { return decimal(l.Mean()) }),
		column("stddev", func(l *stats.Latency) string { return decimal(l.StdDev()) }),
	}
	for _, p := range csvPercentiles {
		list = append(list, column(fmt.Sprintf("p%g", p), func(l *stats.Latency) string {
			if l.Hist == nil {
				return ""
			}
			return text(l.Hist.Percentiles([]float64{p}, l.N)[0])
		}))
	}
	return list
}

// csvSamples are the columns of what was sampled while the job ran.
func csvSamples(name string, of func(*stats.Dir) *stats.Sample) []csvColumn {
	column := func(what string, f func(*summary) string) csvColumn {
		return csvColumn{name + "_" + what, ofDir(func(d *stats.Dir) string {
			if v, ok := summarizeRate(of(d)); ok {
				return f(&v)
			}
			return ""
		})}
	}
	return []csvColumn{
		column("min", func(v *summary) string { return text(v.min) }),
		column("max", func(v *summary) string { return text(v.max) }),
		column("mean", func(v *summary) string { return decimal(v.mean) }),
		column("stddev", func(v *summary) string { return decimal(v.dev) }),
		{name + "_samples", ofDir(func(d *stats.Dir) string { return text(of(d).N) })},
	}
}

// rowsOf are the rows of a job: one a direction that did something, one of its syncs, or one without a direction.
func rowsOf(r *Result, j *Job) []csvRow {
	var rows []csvRow
	for d := range job.Dir(job.NDirs) {
		if s := &j.Dirs[d]; s.IOs > 0 || s.Bytes > 0 {
			rows = append(rows, csvRow{r, j, dirName(j, d), s})
		}
	}
	if j.Opt.Unified == stats.UnifiedBoth && len(rows) > 0 {
		m := mixed(j, r.group(j.Group))
		rows = append(rows, csvRow{r, j, "mixed", &m.Dirs[job.Read]})
	}
	if j.SyncIOs > 0 {
		rows = append(rows, csvRow{r, j, "sync", &stats.Dir{IOs: j.SyncIOs, Lat: j.SyncLat}})
	}
	if rows == nil && j.Name != "" {
		rows = append(rows, csvRow{r: r, j: j})
	}
	return rows
}

// writeCSV writes a line of column names and one line a job and direction (RFC 4180, but lines end in a line feed).
func writeCSV(b *bytes.Buffer, r *Result) error {
	w := csv.NewWriter(b)
	line := make([]string, len(csvColumns))
	for i := range csvColumns {
		line[i] = csvColumns[i].name
	}
	if err := w.Write(line); err != nil {
		return err
	}
	for i := range r.Jobs {
		for _, row := range rowsOf(r, &r.Jobs[i]) {
			for k := range csvColumns {
				line[k] = csvColumns[k].value(&row)
			}
			if err := w.Write(line); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}
