package report

import (
	"bytes"
	"strings"

	"fiord/job"
	"fiord/stats"
)

// writeTerse writes one line of fields a job, which scripts read by position. Times are in microseconds. Versions: 2
// has no release and no disks, 3 no trims, 4 trims, 5 also samples.
func writeTerse(b *bytes.Buffer, r *Result, version int) {
	var p printer
	for i := range r.Jobs {
		p.terseJob(r, &r.Jobs[i], version)
	}
	b.Write(p.Bytes())
}

func (p *printer) terseJob(r *Result, j *Job, version int) {
	if version == 2 {
		p.printf("2;%s;%d;%d", field(j.Name), j.Group, j.Error)
	} else {
		p.printf("%d;%s;%s;%d;%d", version, r.Version, field(j.Name), j.Group, j.Error)
	}
	g, list := r.group(j.Group), r.percentiles(j)
	p.terseDir(j, g, job.Read, version, list)
	if j.Opt.Unified != stats.UnifiedMixed {
		p.terseDir(j, g, job.Write, version, list)
		if version != 3 {
			p.terseDir(j, g, job.Trim, version, list)
		}
	}
	if j.Opt.Unified == stats.UnifiedBoth {
		m := mixed(j, g)
		p.terseDir(&m, g, job.Read, version, list)
	}
	user, sys := cpuShare(j)
	p.printf(";%f%%;%f%%;%d;%d;%d", user, sys, j.Ctx, j.MajFlt, j.MinFlt)
	for _, v := range stats.Percent(j.Depth, j.TotalIOs()) {
		p.printf(";%3.1f%%", v)
	}
	p.terseBuckets(j)
	if version >= 3 {
		p.terseDisks(r)
	}
	if j.Continue {
		p.printf(";%d;%d", j.TotalErr, j.FirstError)
	}
	if j.Desc != "" {
		if version == 2 {
			p.printf("\n")
		}
		p.printf(";%s", field(j.Desc))
	}
	p.printf("\n")
}

// field keeps line ends out of a line of fields. Semicolons stay: fio has them too, and a name is the user's choice.
func field(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// terseBuckets writes the latency buckets. There is no place for those below 2 us, so the first takes them all.
func (p *printer) terseBuckets(j *Job) {
	us := j.TerseLatUs()
	_, _, ms := j.LatPercent()
	for i, v := range us {
		if i == 0 && j.TotalIOs() == 0 {
			p.printf(";-nan%%") // fio's mark of a job without I/O: here it divides by their number
			continue
		}
		p.printf(";%3.2f%%", v)
	}
	for _, v := range ms {
		p.printf(";%3.2f%%", v)
	}
}

func (p *printer) terseDir(j *Job, g *stats.Group, d job.Dir, version int, list percentileList) {
	s := &j.Dirs[d]
	p.printf(";%d;%d;%d;%d", s.Bytes>>10, stats.PerSecond(s.Bytes, s.Runtime)/1024, stats.PerSecond(s.IOs, s.Runtime), s.Runtime)
	p.terseLatency(&s.Slat.Sum)
	p.terseLatency(&s.Clat.Sum)
	p.tersePercentiles(j, s, list)
	p.terseLatency(&s.Lat.Sum)
	bw, ok := summarizeRate(&s.BW)
	share := 0.0
	if ok {
		share = terseBandwidthShare(g, d, bw.mean)
	}
	p.printf(";%d;%d;%f%%;%f;%f", bw.min, bw.max, share, bw.mean, bw.dev)
	if version == 5 {
		iops, _ := summarizeRate(&s.IOPS)
		p.printf(";%d;%d;%d;%f;%f;%d", s.BW.N, iops.min, iops.max, iops.mean, iops.dev, s.IOPS.N)
	}
}

func (p *printer) terseLatency(s *stats.Sum) {
	v, _ := summarize(s)
	v = v.over(1000)
	p.printf(";%d;%d;%f;%f", v.min, v.max, v.mean, v.dev)
}

// tersePercentiles always fills its twenty fields.
func (p *printer) tersePercentiles(j *Job, s *stats.Dir, list percentileList) {
	var values []uint64
	switch {
	case j.Opt.LatPct:
		values = list.of(s.Lat.Hist, s.Lat.N)
	case j.Opt.ClatPct:
		values = list.of(s.Clat.Hist, s.Clat.N)
	}
	for i := range maxPercentiles {
		if i < len(values) {
			p.printf(";%f%%=%d", list.at[i], values[i]/1000)
		} else {
			p.printf(";0%%=0")
		}
	}
}
