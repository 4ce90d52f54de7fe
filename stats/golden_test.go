package stats

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// latency is a latency object of a json+ report by fio.
type latency struct {
	N          uint64
	Min, Max   uint64
	Mean       json.Number
	StdDev     json.Number
	Percentile map[string]uint64
	Bins       map[string]uint64
}

// latencies collects all latency objects of a report, by their place in it.
func latencies(t *testing.T, path string) map[string]latency {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	out := map[string]latency{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for i := range v {
				walk(fmt.Sprintf("%s/%d", at, i), v[i])
			}
		case map[string]any:
			if _, ok := v["stddev"]; ok {
				again, _ := json.Marshal(v)
				var l latency
				if err := json.Unmarshal(again, &l); err != nil {
					t.Fatalf("%s: %s: %v", path, at, err)
				}
				out[at] = l
			}
			for k := range v {
				walk(at+"/"+k, v[k])
			}
		}
	}
	walk("", doc)
	return out
}

func (l latency) hist(t *testing.T) *Hist {
	t.Helper()
	var h Hist
	for k, n := range l.Bins {
		v, err := strconv.ParseUint(k, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		i := Index(v)
		if Value(i) != v {
			t.Errorf("bin %d: Value(Index) = %d", v, Value(i))
		}
		h.Buckets[i] += n
	}
	return &h
}

func (l latency) sum(t *testing.T) Sum {
	t.Helper()
	mean, err1 := l.Mean.Float64()
	dev, err2 := l.StdDev.Float64()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return Summary(l.N, l.Min, l.Max, mean, dev)
}

// TestGolden checks buckets, percentiles and sums against reports that fio 3.42 wrote.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no reports in testdata: %v", err)
	}
	for _, path := range paths {
		seen := 0
		for at, l := range latencies(t, path) {
			if len(l.Bins) == 0 {
				continue
			}
			seen++
			h := l.hist(t)
			if h.Count() != l.N {
				t.Errorf("%s: %s: bins hold %d values, want %d", path, at, h.Count(), l.N)
			}
			var list []float64
			for k := range l.Percentile {
				p, _ := strconv.ParseFloat(k, 64)
				list = append(list, p)
			}
			got := map[string]uint64{}
			values := h.Percentiles(list, l.N)
			for i, p := range PercentileList(list) {
				got[strconv.FormatFloat(p, 'f', 6, 64)] = values[i]
			}
			if d := cmp.Diff(l.Percentile, got); d != "" {
				t.Errorf("%s: %s: percentiles (-fio +fiord):\n%s", path, at, d)
			}
			s := l.sum(t)
			if m, d := fmt.Sprintf("%f", s.Mean()), fmt.Sprintf("%f", s.StdDev()); m != roundTo6(l.Mean) || d != roundTo6(l.StdDev) {
				t.Errorf("%s: %s: Summary gives mean %s, deviation %s, want %s, %s", path, at, m, d, l.Mean, l.StdDev)
			}
		}
		if seen == 0 {
			t.Errorf("%s: no latency with bins", path)
		}
	}
}

func roundTo6(n json.Number) string {
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'f', 6, 64)
}

// TestGoldenMixed merges the directions of a report with unified_rw_reporting=both and compares with what fio made of
// them.
func TestGoldenMixed(t *testing.T) {
	all := latencies(t, "testdata/06-unified-both.json")
	for _, kind := range []string{"clat_ns", "lat_ns"} {
		var j Job
		for d, dir := range []string{"read", "write", "trim"} {
			l, ok := all["/jobs/0/"+dir+"/"+kind]
			if !ok {
				t.Fatalf("no %s %s in the report", dir, kind)
			}
			j.Dirs[d].Clat = Latency{Sum: l.sum(t), Hist: l.hist(t)}
			j.Dirs[d].IOs = l.N
		}
		want := all["/jobs/0/mixed/"+kind]
		got := &j.Mixed().Dirs[0].Clat
		if got.N != want.N || got.Min != want.Min || got.Max != want.Max {
			t.Errorf("%s: N, Min, Max = %d, %d, %d, want %d, %d, %d", kind, got.N, got.Min, got.Max, want.N, want.Min, want.Max)
		}
		if m, d := fmt.Sprintf("%f", got.Mean()), fmt.Sprintf("%f", got.StdDev()); m != roundTo6(want.Mean) || d != roundTo6(want.StdDev) {
			t.Errorf("%s: mean %s, deviation %s, want %s, %s", kind, m, d, want.Mean, want.StdDev)
		}
		if len(want.Bins) != 0 && *got.Hist != *want.hist(t) {
			t.Errorf("%s: histograms differ", kind)
		}
	}
}
