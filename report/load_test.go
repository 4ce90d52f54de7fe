package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"fiord/job"
	"fiord/stats"
)

// The loader reads a json+ report back into a Result, so that what fio wrote can be rendered again and compared: with
// the report itself, and with the other formats of the same run.

type loadedLat struct {
	Min, Max     uint64
	Mean, Stddev float64
	N            uint64
	Percentile   json.RawMessage
	Bins         map[string]uint64
}

type loadedPrio struct {
	Prioclass, Prio, Priohint uint16
	Clat                      *loadedLat `json:"clat_ns"`
	Lat                       *loadedLat `json:"lat_ns"`
}

type loadedDir struct {
	Bytes   uint64 `json:"io_bytes"`
	Runtime uint64
	IOs     uint64    `json:"total_ios"`
	Short   uint64    `json:"short_ios"`
	Drop    uint64    `json:"drop_ios"`
	Slat    loadedLat `json:"slat_ns"`
	Clat    loadedLat `json:"clat_ns"`
	Lat     loadedLat `json:"lat_ns"`
	Prios   []loadedPrio

	BWMin       uint64  `json:"bw_min"`
	BWMax       uint64  `json:"bw_max"`
	BWAgg       float64 `json:"bw_agg"`
	BWMean      float64 `json:"bw_mean"`
	BWDev       float64 `json:"bw_dev"`
	BWSamples   uint64  `json:"bw_samples"`
	IOPSMin     uint64  `json:"iops_min"`
	IOPSMax     uint64  `json:"iops_max"`
	IOPSMean    float64 `json:"iops_mean"`
	IOPSDev     float64 `json:"iops_stddev"`
	IOPSSamples uint64  `json:"iops_samples"`
}

type loadedJob struct {
	Jobname           string
	Groupid           int
	Start             int64 `json:"job_start"`
	Error             int
	Eta, Elapsed      uint64
	Options           json.RawMessage `json:"job options"`
	Read, Write, Trim loadedDir
	Mixed             *loadedDir
	Sync              loadedDir
	Runtime           uint64  `json:"job_runtime"`
	UserCPU           float64 `json:"usr_cpu"`
	SysCPU            float64 `json:"sys_cpu"`
	Ctx, Majf, Minf   uint64
	Level             map[string]float64 `json:"iodepth_level"`
	Submit            map[string]float64 `json:"iodepth_submit"`
	Complete          map[string]float64 `json:"iodepth_complete"`
	LatNs             map[string]float64 `json:"latency_ns"`
	LatUs             map[string]float64 `json:"latency_us"`
	LatMs             map[string]float64 `json:"latency_ms"`
	TotalErr          *uint64            `json:"total_err"`
	FirstError        int                `json:"first_error"`
	LatencyDepth      int                `json:"latency_depth"`
	LatencyTarget     uint64             `json:"latency_target"`
	LatencyPercentile float64            `json:"latency_percentile"`
	LatencyWindow     uint64             `json:"latency_window"`
	Desc              string
	Steady            *struct {
		SS                 string
		Duration, Attained uint64
		Criterion          string
		MaxDeviation       float64 `json:"max_deviation"`
		Slope              float64
		Data               struct {
			IOPS, BW []uint64
			Lat      []uint64 `json:"lat_ns"`
		}
	} `json:"steadystate"`
	ZoneResets *uint64 `json:"zone_resets"`
}

type loadedDisk struct {
	Name         string
	ReadIOs      uint64 `json:"read_ios"`
	WriteIOs     uint64 `json:"write_ios"`
	ReadSectors  uint64 `json:"read_sectors"`
	WriteSectors uint64 `json:"write_sectors"`
	ReadMerges   uint64 `json:"read_merges"`
	WriteMerges  uint64 `json:"write_merges"`
	ReadTicks    uint64 `json:"read_ticks"`
	WriteTicks   uint64 `json:"write_ticks"`
	InQueue      uint64 `json:"in_queue"`
	Util         float64
}

type loadedDoc struct {
	Version string          `json:"fio version"`
	Ms      int64           `json:"timestamp_ms"`
	Global  json.RawMessage `json:"global options"`
	Jobs    []loadedJob
	Disks   []loadedDisk    `json:"disk_util"`
	Idle    json.RawMessage `json:"cpu_idleness"`
}

// ordered reads an object of strings or numbers in the order of its text.
func ordered(t *testing.T, raw json.RawMessage) []job.Setting {
	t.Helper()
	if raw == nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var list []job.Setting
	for i := 0; ; i++ {
		tok, err := dec.Token()
		if err != nil {
			t.Fatalf("options: %v", err)
		}
		switch {
		case i == 0:
		case tok == json.Delim('}'):
			return list
		case i%2 == 1:
			list = append(list, job.Setting{Name: fmt.Sprint(tok)})
		default:
			list[len(list)-1].Value = fmt.Sprint(tok)
		}
	}
}

// loadJSON makes a Result of a json+ report.
func loadJSON(t *testing.T, text []byte) *Result {
	t.Helper()
	var doc loadedDoc
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("golden report: %v", err)
	}
	r := &Result{Version: doc.Version, Time: time.UnixMilli(doc.Ms).UTC(), Global: ordered(t, doc.Global), Final: true}
	var all []*stats.Job
	for i := range doc.Jobs {
		r.Jobs = append(r.Jobs, doc.Jobs[i].result(t, r.Global))
	}
	for i := range r.Jobs {
		if g := r.Jobs[i].Group; g >= 0 && g < 1000 { // a job with stats=0 has none
			all = append(all, &r.Jobs[i].Job)
		}
	}
	_, r.Groups = stats.BuildGroups(all)
	for _, d := range doc.Disks {
		r.ShowDisk = true
		r.Disks = append(r.Disks, stats.Disk{Name: d.Name, IOs: [2]uint64{d.ReadIOs, d.WriteIOs},
			Sectors: [2]uint64{d.ReadSectors, d.WriteSectors}, Merges: [2]uint64{d.ReadMerges, d.WriteMerges},
			Ticks: [2]uint64{d.ReadTicks, d.WriteTicks}, InQueue: d.InQueue, Util: d.Util})
	}
	if doc.Idle != nil {
		r.Idle = &Idle{}
		for _, p := range ordered(t, doc.Idle) {
			v, _ := strconv.ParseFloat(p.Value, 64)
			switch p.Name {
			case "system":
				r.Idle.System = v
			case "unit_mean":
				r.Idle.UnitMean = v
			case "unit_stddev":
				r.Idle.UnitStdDev = v
			default:
				r.Idle.CPUs = append(r.Idle.CPUs, len(r.Idle.PerCPU))
				r.Idle.PerCPU = append(r.Idle.PerCPU, v)
			}
		}
	}
	return r
}

func (l *loadedJob) result(t *testing.T, global []job.Setting) Job {
	t.Helper()
	j := Job{Given: ordered(t, l.Options), EtaSec: l.Eta}
	j.Name, j.Group, j.JobStart, j.Error, j.Elapsed = l.Jobname, l.Groupid, l.Start, l.Error, l.Elapsed
	j.Members, j.Desc = 1, l.Desc
	j.Opt.Unified = stats.UnifiedNone
	dirs := []*loadedDir{&l.Read, &l.Write, &l.Trim}
	switch {
	case l.Mixed != nil && l.Read.Slat.Percentile == nil && l.Read.Bytes == 0:
		j.Opt.Unified, dirs = stats.UnifiedMixed, []*loadedDir{l.Mixed}
	case l.Mixed != nil:
		j.Opt.Unified = stats.UnifiedBoth
	}
	for i, d := range dirs {
		d.fill(t, &j, &j.Dirs[i])
	}
	j.SyncIOs, j.SyncLat = l.Sync.IOs, l.Sync.Lat.result()
	l.Sync.Lat.percentiles(t, &j, new(bool))
	j.Opt.KBBase, j.Opt.UnitBase, j.Opt.SigFigs = 1024, 8, 4
	for name, v := range map[string]*int{"kb_base": &j.Opt.KBBase, "unit_base": &j.Opt.UnitBase, "significant_figures": &j.Opt.SigFigs} {
		text, ok := setting(j.Given, name)
		if !ok {
			text, ok = setting(global, name)
		}
		if ok {
			*v, _ = strconv.Atoi(text)
		}
	}
	j.RunMs, j.Ctx, j.MajFlt, j.MinFlt = l.Runtime, l.Ctx, l.Majf, l.Minf
	j.UserNs, j.SysNs = uint64(l.UserCPU*float64(l.Runtime)*1e4+0.5), uint64(l.SysCPU*float64(l.Runtime)*1e4+0.5)
	total := j.TotalIOs()
	counted(j.Depth[:], depthNames, l.Level, total)
	if counted(j.Submit[:], batchNames, l.Submit, 1e8) {
		j.Submits = 1e8
	}
	if counted(j.Complete[:], batchNames, l.Complete, 1e8) {
		j.Reaps = 1e8
	}
	counted(j.LatNs[:], bucketNames, l.LatNs, total)
	counted(j.LatUs[:], bucketNames, l.LatUs, total)
	counted(j.LatMs[:], bucketNamesMs, l.LatMs, total)
	if l.TotalErr != nil {
		j.Continue, j.TotalErr, j.FirstError = true, *l.TotalErr, l.FirstError
	}
	j.LatencyDepth, j.LatencyTargetNs = l.LatencyDepth, l.LatencyTarget
	j.LatencyPercentile, j.LatencyWindowUs = l.LatencyPercentile, l.LatencyWindow
	j.Steady = l.steady()
	if l.ZoneResets != nil {
		j.CountZoneResets, j.ZoneResets = true, *l.ZoneResets
	}
	return j
}

func (d *loadedDir) fill(t *testing.T, j *Job, s *stats.Dir) {
	t.Helper()
	s.Bytes, s.Runtime, s.IOs, s.Short, s.Dropped = d.Bytes, d.Runtime, d.IOs, d.Short, d.Drop
	s.Slat, s.Clat, s.Lat = d.Slat.result(), d.Clat.result(), d.Lat.result()
	d.Slat.percentiles(t, j, &j.Opt.SlatPct)
	d.Clat.percentiles(t, j, &j.Opt.ClatPct)
	d.Lat.percentiles(t, j, &j.Opt.LatPct)
	for _, p := range d.Prios {
		l := p.Clat
		if l == nil {
			l = p.Lat
		}
		s.Prios = append(s.Prios, stats.Prio{Value: p.Prioclass<<13 | p.Priohint<<3 | p.Prio, Latency: l.result()})
	}
	s.BW.Sum = stats.Summary(d.BWSamples, d.BWMin, d.BWMax, d.BWMean, d.BWDev)
	s.IOPS.Sum = stats.Summary(d.IOPSSamples, d.IOPSMin, d.IOPSMax, d.IOPSMean, d.IOPSDev)
	s.BWAgg = d.BWAgg
}

func (l *loadedLat) result() stats.Latency {
	lat := stats.Latency{Sum: stats.Summary(l.N, l.Min, l.Max, l.Mean, l.Stddev)}
	if l.Bins == nil {
		return lat
	}
	lat.Hist = new(stats.Hist)
	for text, n := range l.Bins {
		v, _ := strconv.ParseUint(text, 10, 64)
		lat.Hist.Buckets[stats.Index(v)] += n
	}
	return lat
}

func (l *loadedLat) percentiles(t *testing.T, j *Job, on *bool) {
	t.Helper()
	if l.Percentile == nil {
		return
	}
	*on = true
	j.Opt.Percentiles = nil
	for _, p := range ordered(t, l.Percentile) {
		v, _ := strconv.ParseFloat(p.Name, 64)
		j.Opt.Percentiles = append(j.Opt.Percentiles, v)
	}
}

// counted turns percentages back into counts, reporting whether there were any.
func counted(counts []uint64, names []string, percent map[string]float64, total uint64) (some bool) {
	for i, name := range names {
		v := percent[name]
		counts[i] = uint64(v*float64(total)/100 + 0.5)
		if v > 0 && counts[i] == 0 {
			counts[i] = 1
		}
		some = some || v > 0
	}
	return some
}

var steadyText = regexp.MustCompile(`^(\w+):([\d.]+)(%?)$`)

func (l *loadedJob) steady() *stats.Steady {
	s := l.Steady
	if s == nil {
		return nil
	}
	m := steadyText.FindStringSubmatch(s.SS)
	limit, _ := strconv.ParseFloat(m[2], 64)
	criterion, _ := strconv.ParseFloat(strings.TrimSuffix(s.Criterion, "%"), 64)
	return &stats.Steady{Kind: m[1], Limit: limit, Percent: m[3] != "", Attained: s.Attained == 1,
		DurationMs: 1000 * s.Duration, Slope: s.Slope, Deviation: s.MaxDeviation, Criterion: criterion,
		IOPS: s.Data.IOPS, BW: s.Data.BW, Lat: s.Data.Lat}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
