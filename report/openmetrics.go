package report

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fiord/internal/sysfs"
	"fiord/job"
	"fiord/stats"
)

// writeMetrics writes the result as OpenMetrics text, which ends with its # EOF. Times are in seconds, amounts in bytes.
// Every sample of a job carries the labels jobname, group and number (the job's thread, so that clones stay apart), and dir
// where it is of one direction.
func writeMetrics(b *bytes.Buffer, r *Result) {
	m := metrics{b: b}
	rows := metricRows(r)
	m.rates(rows)
	m.latencies(rows)
	m.jobs(r)
	m.disks(r)
	m.environment(r)
	b.WriteString("# EOF\n")
}

// metricRows are the rows that csv has. Directions together are left out where they stand apart as well, because sums over
// dir would count them twice.
func metricRows(r *Result) (rows []csvRow) {
	for i := range r.Jobs {
		for _, row := range rowsOf(r, &r.Jobs[i]) {
			if row.dir != nil && !(row.name == "mixed" && row.j.Opt.Unified == stats.UnifiedBoth) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// metrics writes one family after the other.
type metrics struct{ b *bytes.Buffer }

// labels are names and values in turn.
type labels []string

// family begins a family. The unit, if any, is the end of the name, as the format demands.
func (m *metrics) family(name, kind, unit, help string) {
	fmt.Fprintf(m.b, "# TYPE %s %s\n", name, kind)
	if unit != "" {
		fmt.Fprintf(m.b, "# UNIT %s %s\n", name, unit)
	}
	fmt.Fprintf(m.b, "# HELP %s %s\n", name, help)
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// sample writes one line.
func (m *metrics) sample(name string, l labels, value string) {
	m.b.WriteString(name)
	for i := 0; i+1 < len(l); i += 2 {
		open := ","
		if i == 0 {
			open = "{"
		}
		fmt.Fprintf(m.b, `%s%s="%s"`, open, l[i], labelEscapes.Replace(strings.ToValidUTF8(l[i+1], "\uFFFD")))
	}
	if len(l) > 0 {
		m.b.WriteByte('}')
	}
	m.b.WriteString(" " + value + "\n")
}

func metricNumber(v float64) string { return strconv.FormatFloat(finite(v), 'g', -1, 64) }

// seconds writes nanoseconds as seconds.
func seconds(ns float64) string { return metricNumber(finite(ns) / 1e9) }

func jobLabels(j *Job) labels {
	return labels{"jobname", j.Name, "group", strconv.Itoa(j.Group), "number", strconv.Itoa(j.Number)}
}

func rowLabels(c *csvRow) labels { return append(jobLabels(c.j), "dir", c.name) }

// each writes a family of one sample a row.
func (m *metrics) each(rows []csvRow, name, kind, unit, help string, value func(d *stats.Dir) string) {
	m.family(name, kind, unit, help)
	if kind == "counter" {
		name += "_total"
	}
	for i := range rows {
		if v := value(rows[i].dir); v != "" {
			m.sample(name, rowLabels(&rows[i]), v)
		}
	}
}

// rates are what was moved, and how fast.
func (m *metrics) rates(rows []csvRow) {
	m.each(rows, "fiord_ios", "counter", "", "Completed I/Os.", func(d *stats.Dir) string { return text(d.IOs) })
	data := slices.DeleteFunc(slices.Clone(rows), func(c csvRow) bool { return c.name == "sync" })
	m.each(data, "fiord_io_bytes", "counter", "bytes", "Bytes moved or trimmed.", func(d *stats.Dir) string { return text(d.Bytes) })
	m.each(data, "fiord_short_ios", "counter", "", "Transfers that moved less than asked.",
		func(d *stats.Dir) string { return text(d.Short) })
	m.each(data, "fiord_dropped_ios", "counter", "", "I/Os that were dropped.", func(d *stats.Dir) string { return text(d.Dropped) })
	m.each(data, "fiord_runtime_seconds", "gauge", "seconds", "Time in which the direction ran.",
		func(d *stats.Dir) string { return seconds(float64(d.Runtime) * 1e6) })
	m.each(data, "fiord_iops", "gauge", "", "I/Os a second over the runtime.",
		func(d *stats.Dir) string { return metricNumber(ratio(1000*float64(d.IOs), float64(d.Runtime))) })
	m.each(data, "fiord_bandwidth_bytes_per_second", "gauge", "bytes_per_second", "Bytes a second over the runtime.",
		func(d *stats.Dir) string { return metricNumber(ratio(1000*float64(d.Bytes), float64(d.Runtime))) })
}

// latencies are a summary of each kind. Quantile 0 is the least and quantile 1 the largest value.
func (m *metrics) latencies(rows []csvRow) {
	for _, l := range []struct {
		name, help string
		of         func(d *stats.Dir) *stats.Latency
	}{
		{"submission", "Time from taking up an I/O to its submission.", func(d *stats.Dir) *stats.Latency { return &d.Slat }},
		{"completion", "Time from submission to completion.", func(d *stats.Dir) *stats.Latency { return &d.Clat }},
		{"total", "Time from taking up an I/O to its completion.", func(d *stats.Dir) *stats.Latency { return &d.Lat }},
	} {
		name := "fiord_" + l.name + "_latency_seconds"
		m.family(name, "summary", "seconds", l.help)
		for i := range rows {
			if lat := l.of(rows[i].dir); lat.N > 0 {
				m.summary(name, &rows[i], lat)
			}
		}
		m.each(rows, "fiord_"+l.name+"_latency_stddev_seconds", "gauge", "seconds", "Deviation of a sample of the same.",
			func(d *stats.Dir) string {
				lat := l.of(d)
				if lat.N == 0 {
					return ""
				}
				return seconds(lat.StdDev())
			})
	}
}

func (m *metrics) summary(name string, row *csvRow, l *stats.Latency) {
	last := ""
	quantile := func(q string, ns uint64) {
		if q != last { // two percentiles may be one number as it is written
			m.sample(name, append(rowLabels(row), "quantile", q), seconds(float64(ns)))
		}
		last = q
	}
	quantile("0", l.Min)
	if l.Hist != nil {
		list := row.r.percentiles(row.j)
		for i, ns := range list.of(l.Hist, l.N) {
			if q := strconv.FormatFloat(list.at[i]/100, 'g', 12, 64); q != "1" {
				quantile(q, ns)
			}
		}
	}
	quantile("1", l.Max)
	m.sample(name+"_count", rowLabels(row), text(l.N))
	m.sample(name+"_sum", rowLabels(row), seconds(l.Mean()*float64(l.N)))
}

// perJob writes a family of what a job has as a whole. More are pairs of further labels and values.
func (m *metrics) perJob(r *Result, name, kind, unit, help string, value func(j *Job, put func(v string, more ...string))) {
	m.family(name, kind, unit, help)
	if kind == "counter" {
		name += "_total"
	}
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.Name != "" {
			value(j, func(v string, more ...string) { m.sample(name, append(jobLabels(j), more...), v) })
		}
	}
}

func (m *metrics) jobs(r *Result) {
	type put = func(v string, more ...string)
	m.perJob(r, "fiord_job", "info", "", "What the job was measured with.", func(j *Job, _ put) {
		m.sample("fiord_job_info", append(jobLabels(j), "members", strconv.Itoa(j.Members), "clock", r.Run.Clock,
			"features", strings.Join(j.Extra.Features, " "), "cpus", cpuList(j.Extra.CPUs)), "1")
	})
	m.perJob(r, "fiord_job_error", "gauge", "", "Number of the error that ended the job, 0 for none.",
		func(j *Job, out put) { out(strconv.Itoa(j.Error)) })
	m.perJob(r, "fiord_passed_errors", "counter", "", "Errors that continue_on_error passed over.",
		func(j *Job, out put) { out(text(j.TotalErr)) })
	m.perJob(r, "fiord_cpu_seconds", "counter", "seconds", "CPU time of the job.", func(j *Job, out put) {
		out(seconds(float64(j.UserNs)), "mode", "user")
		out(seconds(float64(j.SysNs)), "mode", "system")
	})
	m.perJob(r, "fiord_context_switches", "counter", "", "Context switches of the job.",
		func(j *Job, out put) { out(text(j.Ctx)) })
	m.perJob(r, "fiord_page_faults", "counter", "", "Page faults of the job.", func(j *Job, out put) {
		out(text(j.MajFlt), "kind", "major")
		out(text(j.MinFlt), "kind", "minor")
	})
	m.perJob(r, "fiord_system_calls", "counter", "", "System calls to submit I/Os and to reap them, where the engine counts them.",
		func(j *Job, out put) {
			if x := &j.Extra; x.CountsCalls {
				out(text(x.SubmitCalls), "kind", "submit")
				out(text(x.ReapCalls), "kind", "reap")
			}
		})
	m.perJob(r, "fiord_collector_cycles", "counter", "", "Cycles of the garbage collector within the run.",
		func(j *Job, out put) { out(text(j.Extra.GCCycles)) })
}

// disks are what the block devices did.
func (m *metrics) disks(r *Result) {
	if !r.ShowDisk || len(r.Disks) == 0 {
		return
	}
	dirs := [2]string{job.Read.String(), job.Write.String()}
	perDir := func(name, unit, help string, value func(d *stats.Disk, i int) string) {
		m.family(name, "counter", unit, help)
		for k := range r.Disks {
			for i, dir := range dirs {
				m.sample(name+"_total", labels{"device", r.Disks[k].Name, "dir", dir}, value(&r.Disks[k], i))
			}
		}
	}
	perDir("fiord_disk_ios", "", "Requests that the device completed.", func(d *stats.Disk, i int) string { return text(d.IOs[i]) })
	perDir("fiord_disk_bytes", "bytes", "Bytes that the device moved.",
		func(d *stats.Disk, i int) string { return text(d.Sectors[i] * 512) })
	perDir("fiord_disk_merges", "", "Requests that were merged with others.", func(d *stats.Disk, i int) string { return text(d.Merges[i]) })
	m.family("fiord_disk_util_ratio", "gauge", "ratio", "Share of the time in which the device was busy.")
	for k := range r.Disks {
		m.sample("fiord_disk_util_ratio", labels{"device", r.Disks[k].Name}, metricNumber(percent(r.Disks[k].Util)/100))
	}
}

// environment is where the run ran.
func (m *metrics) environment(r *Result) {
	m.family("fiord_run", "info", "", "The program and the machine.")
	l := labels{"version", r.Version, "kernel", r.Run.Kernel, "cpu", r.Run.CPU, "clock", r.Run.Clock}
	if r.Env != nil {
		l = append(l, factLabels(r.Env.Machine)...)
		l = append(l, factLabels(r.Env.Cgroup)...)
	}
	m.sample("fiord_run_info", l, "1")
	if r.Env == nil {
		return
	}
	if len(r.Env.Devices) > 0 {
		m.family("fiord_device", "info", "", "The devices below the files of the run.")
	}
	for _, d := range r.Env.Devices {
		l := append(labels{"device", d.Name}, factLabels(d.Facts)...)
		var slaves []string
		for _, s := range d.Slaves {
			slaves = append(slaves, s.Name)
		}
		if len(slaves) > 0 {
			l = append(l, "slaves", strings.Join(slaves, " "))
		}
		m.sample("fiord_device_info", l, "1")
	}
	if len(r.Env.FileSystems) > 0 {
		m.family("fiord_filesystem", "info", "", "The file systems that the files of the run lie on.")
	}
	for _, f := range r.Env.FileSystems {
		m.sample("fiord_filesystem_info", labels{"mount_point", f.MountPoint, "type", f.Type, "source", f.Source,
			"options", f.Options, "super_options", f.SuperOptions, "device", f.Disk}, "1")
	}
}

func factLabels(list []sysfs.Fact) (l labels) {
	for _, f := range list {
		l = append(l, f.Name, f.Text)
	}
	return l
}
