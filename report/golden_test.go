package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fiord/internal/environ"
	"fiord/internal/sysfs"
	"fiord/job"
	"fiord/stats"
)

var update = flag.Bool("update", false, "write the golden files anew")

// latencies makes a Latency of values in nanoseconds.
func latencies(values ...uint64) stats.Latency {
	l := stats.Latency{Hist: new(stats.Hist)}
	for _, v := range values {
		l.Add(v)
		l.Hist.Add(v)
	}
	return l
}

func samples(values ...uint64) stats.Sample {
	var s stats.Sample
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// madeUp is a result that has something of everything.
func madeUp() *Result {
	show := stats.Show{Unified: stats.UnifiedNone, ClatPct: true, SlatPct: true, LatPct: true,
		Percentiles: []float64{50, 90, 99, 99.9}, SigFigs: 4, KBBase: 1024, UnitBase: 8}

	mix := Job{EtaSec: 0, Given: []job.Setting{{Name: "rw", Value: "randrw"}, {Name: "group_reporting", Flag: true},
		{Name: "write_lat_log", Value: `a "b\c" <d>&é`}}}
	mix.Name, mix.Desc, mix.Members, mix.Pid, mix.JobStart = "mix", "both; ways", 2, 4242, 1796034331634
	mix.Elapsed, mix.RunMs, mix.UserNs, mix.SysNs = 3, 4000, 600_000_000, 1_400_000_000
	mix.Ctx, mix.MajFlt, mix.MinFlt = 1234, 1, 65
	mix.Opt = show
	mix.Dirs[job.Read] = stats.Dir{IOs: 4, Bytes: 16384, Runtime: 2000, Short: 1,
		Slat: latencies(1000, 1200, 1400, 2_000), Clat: latencies(2_100, 150_000, 90_000, 12_000),
		Lat: latencies(3_100, 151_200, 91_400, 14_000), BW: samples(7, 9), IOPS: samples(1, 3), BWAgg: 98.765432}
	mix.Dirs[job.Write] = stats.Dir{IOs: 3, Bytes: 3 << 30, Runtime: 1500, Dropped: 1,
		Clat: latencies(3_000_000, 200_000_000, 2_100_000_000), Lat: latencies(3_100_000, 200_100_000, 2_100_100_000),
		BW: samples(2_097_152, 2_100_000, 2_090_000), IOPS: samples(1), BWAgg: 100}
	mix.Dirs[job.Write].Prios = []stats.Prio{
		{Value: 1<<13 | 2, Latency: latencies(3_100_000)},
		{Value: 2<<13 | 5<<3 | 7, Latency: latencies(200_100_000, 2_100_100_000)},
	}
	mix.SyncIOs, mix.SyncLat = 2, latencies(377_000, 660_000)
	mix.Depth = [7]uint64{1, 2, 4}
	mix.Submit, mix.Submits = [7]uint64{0, 5, 1}, 6
	mix.Complete, mix.Reaps = [7]uint64{1, 3}, 4
	mix.LatNs, mix.LatUs, mix.LatMs = [10]uint64{9: 1}, [10]uint64{1: 1, 3: 1, 5: 1, 6: 1}, [12]uint64{6: 1, 11: 1}
	mix.Continue, mix.TotalErr, mix.FirstError = true, 3, 5
	mix.LatencyDepth, mix.LatencyTargetNs, mix.LatencyWindowUs, mix.LatencyPercentile = 4, 500_000_000, 2500, 99
	mix.CountZoneResets, mix.ZoneResets = true, 7
	mix.Steady = &stats.Steady{Kind: "bw_slope", Limit: 0.1, Percent: true, Attained: true, DurationMs: 2000,
		Slope: -147.5, Criterion: -1.796376, IOPS: []uint64{2026, 1990}, BW: []uint64{8298823, 8151072}}
	mix.Extra = stats.Extra{SubmitCalls: 6, SubmittedIOs: 7, ReapCalls: 4, ReapedIOs: 7, GCCycles: 1, CountsCalls: true, CPUs: []int{0, 1, 4},
		Clock: "tsc", Features: []string{"fixedbufs", "defer_taskrun"}}

	failed := Job{EtaSec: math.MaxInt32}
	failed.Name, failed.Group, failed.Members, failed.Error = "failed", 1, 1, 5
	failed.ErrorText = "file:uring.go:12, func=io_u error, error=Input/output error"
	failed.Opt = show
	failed.Dirs[job.Trim] = stats.Dir{IOs: 1, Bytes: 512, Runtime: 1, Clat: latencies(10), Lat: latencies(12)}

	idle := Job{}
	idle.Name, idle.Group, idle.Members, idle.Opt = "idle", 1, 1, show

	return &Result{
		Version: "fio-3.42-fiord-0.1.0", Time: time.Date(2026, 11, 30, 10, 25, 31, 752e6, time.UTC),
		Jobs:   []Job{mix, failed, idle},
		Global: []job.Setting{{Name: "direct", Value: "1"}},
		Groups: []stats.Group{
			{Index: 0, KBBase: 1024, UnitBase: 8, SigFigs: 4, MinRun: [3]uint64{2000, 1500}, MaxRun: [3]uint64{2000, 1500},
				MinBW: [3]uint64{8192, 2 << 30}, MaxBW: [3]uint64{8192, 2 << 30}, AggBW: [3]uint64{8192, 2 << 30},
				Bytes: [3]uint64{16384, 3 << 30}, Unified: stats.UnifiedBoth},
			{Index: 1, KBBase: 1000, UnitBase: 1, SigFigs: 6, MinRun: [3]uint64{2: 1}, MaxRun: [3]uint64{2: 1},
				MinBW: [3]uint64{2: 512000}, MaxBW: [3]uint64{2: 512000}, AggBW: [3]uint64{2: 512000}, Bytes: [3]uint64{2: 512}},
		},
		ShowDisk: true,
		Disks: []stats.Disk{
			{Name: "md0", IOs: [2]uint64{897, 127}, Sectors: [2]uint64{7176, 976}, Merges: [2]uint64{1, 2},
				Ticks: [2]uint64{68, 22}, InQueue: 92, Util: 123.4,
				Agg: &stats.DiskAgg{IOs: [2]uint64{901, 131}, Sectors: [2]uint64{7200, 1000}, Merges: [2]uint64{3, 5},
					Ticks: [2]uint64{71, 25}, InQueue: 99, MaxUtil: 12.5, SlaveCount: 2}},
			{Name: "nvme0n1", IOs: [2]uint64{450, 60}, Util: 2.594},
		},
		Warnings: []string{"io_uring: sqthread_poll needs Linux 5.11; off", "second \"note\"\nof two lines"},
		Final:    true,
		Env:      madeUpPlace(),
		Run:      RunInfo{Kernel: "6.12.0", CPU: "Made Up 9000", GOMAXPROCS: 2, Clock: "tsc"},
		Idle:     &Idle{System: 15.53, PerCPU: []float64{17.89, 13.17}, CPUs: []int{0, 1}, UnitMean: 16.63, UnitStdDev: 11.89},
	}
}

// madeUpPlace is an environment that has something of everything.
func madeUpPlace() *environ.Environment {
	return &environ.Environment{
		Machine: []sysfs.Fact{{Name: "cpus_online", Text: "0-7"}, {Name: "governor", Text: "performance"},
			{Name: "turbo", Text: "0", Number: true}},
		Nodes:  []environ.Node{{Number: 0, CPUs: []int{0, 1, 2, 3}, Memory: 8 << 30}, {Number: 1, CPUs: []int{4, 5, 6, 7}}},
		Cgroup: []sysfs.Fact{{Name: "cpu_limit", Text: "1.500000", Number: true}},
		Devices: []environ.Device{{Name: "md0", Facts: []sysfs.Fact{{Name: "md_level", Text: "raid1"}},
			Slaves: []environ.Device{{Name: "nvme0n1", Facts: []sysfs.Fact{{Name: "model", Text: `Made "Up"`},
				{Name: "lba_format", Text: "1", Number: true}}}}}},
		FileSystems: []environ.FileSystem{{MountPoint: "/a\\b\n", Type: "ext4", Source: "/dev/md0", Options: "rw", SuperOptions: "rw,discard",
			Disk: "md0", Files: 2}, {MountPoint: "/tmp", Type: "tmpfs", Source: "tmpfs", Options: "rw", Files: 1}},
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check(t, name, string(readFile(t, path)), string(got))
}

func TestGolden(t *testing.T) {
	for name, o := range map[string]Options{
		"normal": {}, "json": {Formats: []Format{JSON}}, "json+": {Formats: []Format{JSONPlus}},
		"terse2": {Formats: []Format{Terse}, TerseVersion: 2}, "terse3": {Formats: []Format{Terse}},
		"terse4": {Formats: []Format{Terse}, TerseVersion: 4}, "terse5": {Formats: []Format{Terse}, TerseVersion: 5},
		"table": {Formats: []Format{Table}}, "csv": {Formats: []Format{CSV}}, "openmetrics": {Formats: []Format{Metrics}},
		"json+own": {Formats: []Format{JSONPlus}, Own: true},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, madeUp(), o); err != nil {
				t.Fatal(err)
			}
			compareGolden(t, name, b.Bytes())
		})
	}
}

// Whatever the order asked for, formats come in one order and each once.
func TestOrderOfFormats(t *testing.T) {
	formats, err := ParseFormats("openmetrics,table,json,csv,normal,terse,json+,json")
	if err != nil {
		t.Fatal(err)
	}
	var all, want bytes.Buffer
	if err := Write(&all, madeUp(), Options{Formats: formats}); err != nil {
		t.Fatal(err)
	}
	for _, f := range []Format{Terse, JSONPlus, Normal, Table, CSV, Metrics} {
		if err := Write(&want, madeUp(), Options{Formats: []Format{f}}); err != nil {
			t.Fatal(err)
		}
	}
	check(t, "all formats", want.String(), all.String())
}

func TestParseFormats(t *testing.T) {
	if got, err := ParseFormats("minimal"); err != nil || len(got) != 1 || got[0] != Terse {
		t.Errorf("minimal: %v, %v", got, err)
	}
	for _, bad := range []string{"", "xml", "json,", "JSON"} {
		if got, err := ParseFormats(bad); err == nil {
			t.Errorf("%q: %v, want an error", bad, got)
		}
	}
	if err := Write(&bytes.Buffer{}, madeUp(), Options{Formats: []Format{Terse}, TerseVersion: 6}); err == nil {
		t.Error("terse version 6 was accepted")
	}
}

// jsonLine is the layout that scripts and the checkers of fio's JSON expect of each line.
var jsonLine = regexp.MustCompile(`^ *(?:"(?:[^"\\]|\\.)*" : )?(?:[\[{]|-?\d+|-?\d+\.\d{6}|"(?:[^"\\]|\\.)*")?,?$|^ *[}\]],?$`)

// A hostile result: no numbers at all, and numbers that are none.
func TestHostileResult(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	r := &Result{Jobs: make([]Job, 1), Groups: make([]stats.Group, 1), Disks: make([]stats.Disk, 1), ShowDisk: true,
		Warnings: []string{"bad \xff utf-8 \x00\x1b"}, Idle: &Idle{System: nan, PerCPU: []float64{inf}, CPUs: []int{0}, UnitMean: -inf}}
	j := &r.Jobs[0]
	j.Name, j.Desc, j.Error = "x\n\"y;", "\n", 1
	j.LatencyPercentile, j.LatencyDepth = nan, 1
	j.Continue = true
	j.Opt = stats.Show{ClatPct: true, LatPct: true, Unified: stats.UnifiedBoth, Percentiles: []float64{100, 0.0001, 50}}
	j.Steady = &stats.Steady{Kind: "lat_slope", Limit: inf, Criterion: nan, Slope: nan, Deviation: inf}
	j.Dirs[job.Read] = stats.Dir{Bytes: 1, IOs: 1, Runtime: 1, BWAgg: nan, Clat: stats.Latency{Sum: stats.Sum{N: 1}}}
	r.Disks[0].Util = nan
	r.Disks[0].Agg = &stats.DiskAgg{}
	bad := regexp.MustCompile(`(?i)\b-?(nan|inf)\b`)
	for _, f := range []Format{Normal, Terse, JSON, JSONPlus, Table, CSV, Metrics} {
		var b bytes.Buffer
		if err := Write(&b, r, Options{Formats: []Format{f}}); err != nil {
			t.Fatal(err)
		}
		if m := bad.FindString(b.String()); m != "" {
			t.Errorf("%s holds %q", f, m)
		}
		if f == Terse && strings.Count(b.String(), "\n") != 1 {
			t.Errorf("%s: not one line: %q", f, b.String())
		}
		if f != JSON && f != JSONPlus {
			continue
		}
		if !json.Valid(b.Bytes()) {
			t.Errorf("%s is not valid", f)
		}
		for i, line := range strings.Split(b.String(), "\n") {
			if !jsonLine.MatchString(line) {
				t.Errorf("%s, line %d: %q", f, i+1, line)
			}
		}
	}
}

// An empty run still gives whole documents.
func TestEmptyResult(t *testing.T) {
	for _, f := range []Format{Normal, Terse, JSON, JSONPlus, Table, CSV, Metrics} {
		var b bytes.Buffer
		if err := Write(&b, &Result{}, Options{Formats: []Format{f}}); err != nil {
			t.Fatal(err)
		}
		if (f == JSON || f == JSONPlus) && !json.Valid(b.Bytes()) {
			t.Errorf("%s is not valid: %s", f, b.String())
		}
	}
}
