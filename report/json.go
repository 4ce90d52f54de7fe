package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"fiord/job"
	"fiord/stats"
)

// writeJSON writes one document and a line end; plus adds the latency histograms (json+), own what only fiord measures.
func writeJSON(b *bytes.Buffer, r *Result, plus, own bool) {
	d := document{r: r, plus: plus, ownKeys: own}
	d.object("", func() {
		d.text("fio version", r.Version)
		d.integer("timestamp", r.Time.Unix())
		d.integer("timestamp_ms", r.Time.UnixMilli())
		d.text("time", r.Time.Format(timeLayout))
		d.settings("global options", r.Global, false)
		d.list("jobs", func() {
			for i := range r.Jobs {
				d.object("", func() { d.job(&r.Jobs[i]) })
			}
		})
		d.jsonDisks(r)
		d.idle(r.Idle)
		if own || len(r.Warnings) > 0 {
			d.own()
		}
	})
	b.Write(d.buf.Bytes())
	b.WriteByte('\n')
}

// document is one JSON report being written.
type document struct {
	jsonText
	r       *Result
	plus    bool
	ownKeys bool
}

// settings writes options as given. With merge, of one that was given several times the last is shown, but for file names,
// which add up. fio differs: it shows all, and the same key several times in an object.
func (d *document) settings(key string, list []job.Setting, merge bool) {
	if len(list) == 0 {
		return
	}
	var once []job.Setting
	for _, s := range list {
		if !merge {
			once = list
			break
		}
		i := slices.IndexFunc(once, func(earlier job.Setting) bool { return earlier.Name == s.Name })
		switch {
		case i < 0:
			once = append(once, s)
		case s.Name == "filename":
			once[i].Value += ":" + s.Value
		default:
			once[i].Value = s.Value
		}
	}
	d.object(key, func() {
		for _, s := range once {
			d.text(s.Name, s.Value)
		}
	})
}

func (d *document) job(j *Job) {
	d.text("jobname", j.Name)
	d.count("groupid", uint64(uint32(j.Group))) // fio prints -1, the group of a row without jobs, unsigned
	d.integer("job_start", j.JobStart)
	d.integer("error", int64(j.Error))
	d.count("eta", j.EtaSec)
	d.count("elapsed", j.Elapsed)
	d.settings("job options", j.Given, true)

	list := d.r.percentiles(j)
	for dir := range job.Dir(job.NDirs) {
		if j.Opt.Unified != stats.UnifiedMixed || dir == job.Read {
			d.dir(j, dir, list)
		}
	}
	if j.Opt.Unified != stats.UnifiedMixed {
		d.object("sync", func() {
			d.count("total_ios", j.SyncIOs)
			d.latency("lat_ns", &j.SyncLat, j.Opt.LatPct || j.Opt.ClatPct, list)
		})
	}
	if j.Opt.Unified == stats.UnifiedBoth {
		m := mixed(j, d.r.group(j.Group))
		d.dir(&m, job.Read, list)
	}
	d.usage(j)
	d.distributions(j)
	d.extras(j)
	if d.ownKeys {
		d.ownJob(j)
	}
}

// dir writes the object of one direction.
func (d *document) dir(j *Job, dir job.Dir, list percentileList) {
	s := &j.Dirs[dir]
	bw := stats.PerSecond(s.Bytes, s.Runtime)
	d.object(dirName(j, dir), func() {
		d.count("io_bytes", s.Bytes)
		d.count("io_kbytes", s.Bytes>>10)
		d.count("bw_bytes", bw)
		d.count("bw", bw/1024)
		d.float("iops", ratio(1000*float64(s.IOs), float64(s.Runtime)))
		d.count("runtime", s.Runtime)
		d.count("total_ios", s.IOs)
		d.count("short_ios", s.Short)
		d.count("drop_ios", s.Dropped)
		d.latency("slat_ns", &s.Slat, j.Opt.SlatPct, list)
		d.latency("clat_ns", &s.Clat, j.Opt.ClatPct, list)
		d.latency("lat_ns", &s.Lat, j.Opt.LatPct, list)
		d.prios(j, s, list)

		v, _ := summarizeRate(&s.BW)
		d.count("bw_min", v.min)
		d.count("bw_max", v.max)
		d.float("bw_agg", s.BWAgg)
		d.float("bw_mean", v.mean)
		d.float("bw_dev", v.dev)
		d.count("bw_samples", s.BW.N)
		v, _ = summarizeRate(&s.IOPS)
		d.count("iops_min", v.min)
		d.count("iops_max", v.max)
		d.float("iops_mean", v.mean)
		d.float("iops_stddev", v.dev)
		d.count("iops_samples", s.IOPS.N)
	})
}

// latency writes a latency object: percentiles where wanted and there are samples, bins with them in json+.
func (d *document) latency(key string, l *stats.Latency, percentiles bool, list percentileList) {
	v, _ := summarize(&l.Sum)
	d.object(key, func() {
		d.count("min", v.min)
		d.count("max", v.max)
		d.float("mean", v.mean)
		d.float("stddev", v.dev)
		d.count("N", l.N)
		if !percentiles || l.N == 0 || l.Hist == nil {
			return
		}
		values := list.of(l.Hist, l.N)
		d.object("percentile", func() {
			for i, v := range values {
				d.count(fmt.Sprintf("%f", list.at[i]), v)
			}
		})
		if d.plus {
			d.bins(l.Hist)
		}
	})
}

// bins writes the buckets that are not empty, each under the value it stands for.
func (d *document) bins(h *stats.Hist) {
	d.object("bins", func() {
		for i, n := range h.Buckets {
			if n > 0 {
				d.count(fmt.Sprint(stats.Value(i)), n)
			}
		}
	})
}

// prios writes the latencies by priority, where at least two were used.
func (d *document) prios(j *Job, s *stats.Dir, list percentileList) {
	used := prios(s)
	if used == nil {
		return
	}
	key := "clat_ns"
	if j.Opt.LatPct {
		key = "lat_ns"
	}
	d.list("prios", func() {
		for _, p := range used {
			class, level, hint := splitPrio(p.Value)
			d.object("", func() {
				d.count("prioclass", uint64(class))
				d.count("prio", uint64(level))
				d.count("priohint", uint64(hint))
				d.latency(key, &p.Latency, j.Opt.ClatPct || j.Opt.LatPct, list)
			})
		}
	})
}

func (d *document) usage(j *Job) {
	user, sys := cpuShare(j)
	d.count("job_runtime", j.RunMs)
	d.float("usr_cpu", user)
	d.float("sys_cpu", sys)
	d.count("ctx", j.Ctx)
	d.count("majf", j.MajFlt)
	d.count("minf", j.MinFlt)
}

func (d *document) distributions(j *Job) {
	depth, submit, complete := stats.Percent(j.Depth, j.TotalIOs()), stats.Percent(j.Submit, j.Submits), stats.Percent(j.Complete, j.Reaps)
	d.floats("iodepth_level", depthNames, depth[:])
	d.floats("iodepth_submit", batchNames, submit[:])
	d.floats("iodepth_complete", batchNames, complete[:])
	ns, us, ms := j.LatPercent()
	d.floats("latency_ns", bucketNames, ns[:])
	d.floats("latency_us", bucketNames, us[:])
	d.floats("latency_ms", bucketNamesMs, ms[:])
}

// extras writes the keys that only some jobs have.
func (d *document) extras(j *Job) {
	if j.Continue {
		d.count("total_err", j.TotalErr)
		d.integer("first_error", int64(j.FirstError))
	}
	if j.LatencyDepth != 0 {
		d.integer("latency_depth", int64(j.LatencyDepth))
		d.count("latency_target", j.LatencyTargetNs)
		d.count("latency_target_ns", j.LatencyTargetNs)
		d.float("latency_percentile", j.LatencyPercentile)
		d.count("latency_window", j.LatencyWindowUs)
		d.count("latency_window_us", j.LatencyWindowUs)
	}
	if j.Desc != "" {
		d.text("desc", j.Desc)
	}
	if j.Steady != nil {
		d.jsonSteady(j.Steady)
	}
	if j.CountZoneResets {
		d.count("zone_resets", j.ZoneResets)
	}
}

func (d *document) idle(idle *Idle) {
	if idle == nil {
		return
	}
	d.object("cpu_idleness", func() {
		d.float("system", idle.System)
		for i, v := range idle.PerCPU {
			d.float(fmt.Sprintf("cpu-%d", idle.CPUs[i]), v)
		}
		d.float("unit_mean", idle.UnitMean)
		d.float("unit_stddev", idle.UnitStdDev)
	})
}

// ownJob writes fiord's own numbers of a job.
func (d *document) ownJob(j *Job) {
	x := &j.Extra
	ios := float64(j.TotalIOs())
	d.object("fiord", func() {
		if x.CountsCalls {
			d.calls(x)
		}
		if ios > 0 {
			d.float("user_ns_per_io", float64(j.UserNs)/ios)
			d.float("sys_ns_per_io", float64(j.SysNs)/ios)
			d.float("ctx_per_io", float64(j.Ctx)/ios)
		}
		d.count("gc_cycles", x.GCCycles)
		d.placement(x.CPUs)
		if x.Clock != "" {
			d.text("clock", x.Clock)
		}
		if len(x.Features) > 0 {
			d.texts("features", x.Features)
		}
		if j.Error != 0 || j.ErrorText != "" {
			d.text("error_text", errorText(j))
		}
	})
}

// own writes fiord's own keys of the document; notes and warnings stand here and not around it.
func (d *document) own() {
	d.object("fiord", func() {
		_, version, _ := strings.Cut(d.r.Version, "-fiord-")
		d.text("version", version)
		if d.r.Run.Kernel != "" {
			d.text("kernel", d.r.Run.Kernel)
		}
		if d.r.Run.CPU != "" {
			d.text("cpu", d.r.Run.CPU)
		}
		if d.r.Run.GOMAXPROCS > 0 {
			d.integer("gomaxprocs", int64(d.r.Run.GOMAXPROCS))
		}
		if d.r.Run.Clock != "" {
			d.text("clock", d.r.Run.Clock)
		}
		if d.ownKeys && d.r.Env != nil {
			d.environment(d.r.Env)
		}
		if len(d.r.Warnings) > 0 {
			d.texts("warnings", d.r.Warnings)
		}
	})
}
