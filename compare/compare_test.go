package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// load reads reports below testdata, which fio 3.42 and fiord have written.
func load(t *testing.T, names ...string) []*Run {
	t.Helper()
	var runs []*Run
	for _, name := range names {
		f, err := os.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := Read(name, f)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

func threshold(t *testing.T, text string) Threshold {
	t.Helper()
	if text == "" {
		return Threshold{}
	}
	limit, err := ParseThreshold(text)
	if err != nil {
		t.Fatal(err)
	}
	return limit
}

func TestGolden(t *testing.T) {
	const fio, fiord = "fio/", "fiord/"
	for _, c := range []struct {
		name        string
		base, fresh []string
		threshold   string
		metrics     string
		regressions int
	}{
		{name: "fio-one-run", base: []string{fio + "base1.json"}, fresh: []string{fio + "base2.json"}},
		{name: "fiord-one-run", base: []string{fiord + "base1.json"}, fresh: []string{fiord + "base2.json"}},
		{name: "fio-and-fiord", base: []string{fio + "base1.json"}, fresh: []string{fiord + "base1.json"}, metrics: "iops,bw"},
		{name: "fio-runs", base: []string{fio + "base1.json", fio + "base2.json", fio + "base3.json"},
			fresh: []string{fio + "slow1.json", fio + "slow2.json"}, threshold: "iops=5%,bw=5%", regressions: 4},
		{name: "fiord-runs", base: []string{fiord + "base1.json", fiord + "base2.json", fiord + "base3.json"},
			fresh: []string{fiord + "slow1.json", fiord + "slow2.json"}, threshold: "iops=5%,bw=5%", regressions: 4},
		{name: "below-threshold", base: []string{fio + "base1.json"}, fresh: []string{fiord + "slow1.json"},
			threshold: "25%", metrics: "iops,bw"},
		{name: "missing-job", base: []string{fio + "base1.json"}, fresh: []string{fio + "nolog.json"},
			threshold: "50", metrics: "iops,p99", regressions: 2},
		{name: "missing-job-without-threshold", base: []string{fiord + "base1.json"}, fresh: []string{fiord + "nolog.json"},
			metrics: "iops"},
		{name: "missing-in-one-run", base: []string{fiord + "base1.json"},
			fresh: []string{fiord + "base2.json", fiord + "nolog.json"}, threshold: "50%", metrics: "iops", regressions: 1},
		{name: "new-job", base: []string{fio + "nolog.json"}, fresh: []string{fio + "base1.json"}, threshold: "5%",
			metrics: "iops"},
		{name: "clones", base: []string{fio + "clones.json"}, fresh: []string{fiord + "clones.json"}},
		{name: "clones-with-bins", base: []string{fio + "clones+.json"}, fresh: []string{fiord + "clones+.json"},
			metrics: "iops,mean,max,p50,p95,p99.9"},
		{name: "client", base: []string{fio + "client.txt"}, fresh: []string{fio + "client.txt"}},
		{name: "failed-job", base: []string{fio + "clones.json"}, fresh: []string{fiord + "missingfile.txt"}, threshold: "5%",
			metrics: "iops", regressions: 2},
		{name: "job-without-io", base: []string{fio + "clones.json"}, fresh: []string{fio + "missingfile.txt"}, threshold: "5%",
			metrics: "iops", regressions: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Threshold: threshold(t, c.threshold)}
			if c.metrics != "" {
				var err error
				if o.Metrics, err = ParseMetrics(c.metrics); err != nil {
					t.Fatal(err)
				}
			}
			res, err := Compare(load(t, c.base...), load(t, c.fresh...), o)
			if err != nil {
				t.Fatal(err)
			}
			if res.Regressions != c.regressions {
				t.Errorf("%d regressions, want %d", res.Regressions, c.regressions)
			}
			var b bytes.Buffer
			if err := res.WriteTable(&b, o.Threshold); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".txt", b.Bytes())
			b.Reset()
			if err := res.WriteJSON(&b); err != nil {
				t.Fatal(err)
			}
			if !json.Valid(b.Bytes()) {
				t.Errorf("not JSON: %s", b.String())
			}
			if c.name == "fio-runs" || c.name == "missing-job" {
				golden(t, c.name+".json", b.Bytes())
			}
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// The last document of --status-interval counts, whatever stands between them.
func TestSeveralDocuments(t *testing.T) {
	for _, name := range []string{"fio/interval.txt", "fiord/interval.txt"} {
		r := load(t, name)[0]
		if len(r.rows) != 1 || r.rows[0].clat.n != 768 {
			t.Errorf("%s: %+v, want one row of 768 I/Os", name, r.rows)
		}
	}
}

func TestQuirks(t *testing.T) {
	const job = `"jobs" : [ { "jobname" : "a", "read" : { "total_ios" : 2, "io_bytes" : 8192, "iops" : 10.0, "bw" : 40,` +
		` "lat_ns" : { "N" : 2, "mean" : 5.0, "max" : 7 } } } ]`
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"plain", "{" + job + "}", true},
		{"text around", "fio: note {\n{x: (g=0)\n{\n" + job + "\n}\nfio: pid=1\n{y\n", true},
		{"nan", "{\n" + `"a" : -nan, "b" : [ nan, -inf, 1e5 ], "c" : "-nan } {",` + job + "}\n", true},
		{"quotes in strings", `{ "x" : "a\"}{\\", ` + job + "}", true},
		{"other document before", "{\"a\" : 1}\n{" + job + "}", true},
		{"compact, last of two", "{\"jobs\":[]}\n{" + job + "}", true},
		{"cut short", "{" + job + "}\n{ \"fio version\" : \"fio-3.42\", \"jobs\" : [", false},
		{"no text", "{" + job + "}\n\x00", false},
		{"many braces before", strings.Repeat("{}\n", 5000) + "{" + job + "}", true},
		{"no jobs", "{\"a\" : 1}", false},
		{"empty", "", false},
		{"terse", "3;fio-3.42;a;0;0\n", false},
		{"bad type", `{ "jobs" : [ { "jobname" : 5 } ] }`, false},
		{"bad percentile", `{ "jobs" : [ { "jobname" : "a", "read" : { "total_ios" : 1, "clat_ns" : { "N" : 1, "percentile" : { "x" : 1 } } } } ] }`, false},
	} {
		r, err := Read("file", strings.NewReader(c.text))
		if (err == nil) != c.ok {
			t.Errorf("%s: error %v", c.name, err)
		}
		if err == nil && (len(r.rows) != 1 || r.rows[0].dir != "read" || *r.rows[0].bw != 40960 || *r.rows[0].iops != 10) {
			t.Errorf("%s: rows %+v", c.name, r.rows)
		}
	}
	if _, err := Read("file", strings.NewReader("x")); !errors.Is(err, ErrNoReport) {
		t.Errorf("no document: error %v, want ErrNoReport", err)
	}
}

// A change of just the threshold is none by more than it.
// TestManyBraces reads a file in which each line might begin a document: to look behind each would take hours.
func TestManyBraces(t *testing.T) {
	text := strings.Repeat("{ a\n", 1<<18)
	if _, err := Read("file", strings.NewReader(text)); !errors.Is(err, ErrNoReport) {
		t.Errorf("error %v", err)
	}
}

func TestThreshold(t *testing.T) {
	at := func(v float64) *float64 { return &v }
	run := func(iops float64, lat float64) []*Run {
		return []*Run{{rows: []row{{job: "a", dir: "read", iops: at(iops), lat: latency{n: 1, mean: lat}}}}}
	}
	for _, c := range []struct {
		iops, lat   float64
		limit       string
		regressions int
	}{
		{95, 105, "5%", 0}, {94.9, 105.1, "5", 2}, {94.9, 105.1, "iops=5%", 1}, {94.9, 105.1, "5%,mean=6%", 1},
		{200, 1, "0%", 0}, {99.99, 100, "0", 1}, {1, 1000, "", 0},
	} {
		res, err := Compare(run(100, 100), run(c.iops, c.lat), Options{Threshold: threshold(t, c.limit)})
		if err != nil || res.Regressions != c.regressions {
			t.Errorf("%+v: %d regressions, %v", c, res.Regressions, err)
		}
	}
	for _, bad := range []string{"", "x", "-5%", "5%%", "nan", "inf", "iops=", "foo=5%", "p0=5%", "5%,"} {
		if _, err := ParseThreshold(bad); err == nil {
			t.Errorf("threshold %q was accepted", bad)
		}
	}
	for _, bad := range []string{"", "iops,", "p", "p101", "p-1", "pnan", "IOPS"} {
		if _, err := ParseMetrics(bad); err == nil {
			t.Errorf("metric %q was accepted", bad)
		}
	}
}

// Latencies of different kinds are not compared with each other.
func TestKinds(t *testing.T) {
	clat := []*Run{{rows: []row{{job: "a", dir: "read", clat: latency{n: 1, mean: 5, at: []point{{99, 9}}}}}}}
	lat := []*Run{{rows: []row{{job: "a", dir: "read", lat: latency{n: 1, mean: 6, at: []point{{99, 9}}}}}}}
	both := []*Run{{rows: []row{{job: "a", dir: "read", clat: latency{n: 1, mean: 5},
		lat: latency{n: 1, mean: 6, at: []point{{99, 9}}}}}}}
	o := Options{Threshold: threshold(t, "5%")}
	for _, c := range []struct {
		name        string
		base, fresh []*Run
		regressions int
	}{{"clat and lat", clat, lat, 2}, {"clat and both", clat, both, 1}, {"lat and both", lat, both, 0}} {
		res, err := Compare(c.base, c.fresh, o)
		if err != nil || res.Regressions != c.regressions {
			t.Errorf("%s: %v, %+v", c.name, err, res)
		}
	}
	if _, err := Compare([]*Run{{}}, clat, o); !errors.Is(err, ErrNothing) {
		t.Errorf("a base without jobs: error %v", err)
	}
}

// One name in two groups, which run one after the other, is two jobs; in one group it is one.
func TestGroups(t *testing.T) {
	at := func(v float64) *float64 { return &v }
	r := &Run{rows: []row{{job: "a", dir: "read", iops: at(1)}, {job: "a", dir: "read", iops: at(2)},
		{job: "b", dir: "read", iops: at(4)}, {job: "b", group: 1, dir: "read", iops: at(8)}}}
	res, err := Compare([]*Run{r}, []*Run{r}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, l := range res.Lines {
		got[l.Job] = l.Base.Mean
	}
	if d := cmp.Diff(map[string]float64{"a": 3, "b (g=0)": 4, "b (g=1)": 8}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A row without a name and without I/O stands for no job: fio counts some too many.
func TestEmptyRows(t *testing.T) {
	const job = `{"jobs":[{"jobname":"a","read":{"total_ios":1,"iops":1}}`
	var runs []*Run
	for _, text := range []string{job + `,{"jobname":"","groupid":-1,"read":{"total_ios":0}}]}`, job + "]}"} {
		r, err := Read("file", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	res, err := Compare(runs[:1], runs[1:], Options{Threshold: threshold(t, "5%")})
	if err != nil || res.Regressions != 0 || len(res.Lines) != 1 {
		t.Errorf("%+v, %v; want one line and no regression", res, err)
	}
}

// Percentiles of joined bins are those of all values together.
func TestJoin(t *testing.T) {
	a := latency{n: 3, mean: 2, max: 3, bins: []point{{1, 1}, {2, 1}, {3, 1}}}
	b := latency{n: 1, mean: 10, max: 10, bins: []point{{10, 1}}}
	none := latency{}
	l := join([]*latency{&a, &b, &none})
	p50, _ := l.percentile(50)
	p75, _ := l.percentile(75)
	p76, _ := l.percentile(76)
	if l.n != 4 || l.mean != 4 || l.max != 10 || p50 != 2 || p75 != 3 || p76 != 10 {
		t.Errorf("%+v: p50 %v, p75 %v, p76 %v", l, p50, p75, p76)
	}
	if l := join([]*latency{&none}); l.shaped() || l.n != 0 {
		t.Errorf("nothing joined: %+v", l)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("note\n{\n\"fio version\" : \"fio-3.42\", \"jobs\" : [ { \"jobname\" : \"a\", \"read\" : { \"total_ios\" : 1," +
		" \"clat_ns\" : { \"N\" : 1, \"mean\" : -nan, \"percentile\" : { \"99.000000\" : 5 }, \"bins\" : { \"5\" : 1 } } } } ]\n}\n"))
	f.Add([]byte("{\"client_stats\":[{\"jobname\":\"a\",\"hostname\":\"h\"}]}"))
	f.Add([]byte("{\"jobs\":[\"\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read("x", bytes.NewReader(text))
		if err != nil {
			return
		}
		res, err := Compare([]*Run{r}, []*Run{r}, Options{})
		if err != nil {
			return
		}
		if res.Regressions != 0 {
			t.Error("a regression without a threshold")
		}
		if err := res.WriteTable(&bytes.Buffer{}, Threshold{}); err != nil {
			t.Error(err)
		}
	})
}
