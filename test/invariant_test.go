package test

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newerKeys are keys of fio 3.42 that older versions do not write. Option values are left out as well: the older ones drop
// switches.
var newerKeys = regexp.MustCompile(`/(job_start|latency_target_ns|latency_window_us|latency_depth|latency_target|latency_percentile|latency_window|prios|` +
	`priohint|(aggr_)?(read|write)_sectors|job options|global options)(/|$)`)

// samePaths compares the keys of two reports, as paths; the numbers under bins and the devices of the machine are left out.
func samePaths(t *testing.T, fio, fiord []byte) {
	t.Helper()
	if i := bytes.IndexByte(fio, '{'); i > 0 {
		fio = fio[i:]
	}
	want, got := paths(t, fio), paths(t, fiord)
	older := func(p string) bool { return newerKeys.MatchString(p) }
	want, got = slices.DeleteFunc(want, older), slices.DeleteFunc(got, older)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-fio +fiord):\n%s", diff)
	}
}

func paths(t *testing.T, text []byte) (out []string) {
	t.Helper()
	docs, err := shapesOf(text)
	if err != nil || len(docs) == 0 {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
	var walk func(s *shape, at string)
	walk = func(s *shape, at string) {
		for _, k := range s.kids {
			out = append(out, at+"/"+k.key)
			walk(k, at+"/"+k.key)
		}
	}
	last := docs[len(docs)-1]
	last.prune()
	walk(last, "")
	return out
}

// latencyJSON is a latency object of a report.
type latencyJSON struct {
	Min, Max   uint64
	Mean       float64
	Stddev     float64
	N          uint64
	Percentile map[string]uint64
}

type sideJSON struct {
	Bytes   uint64 `json:"io_bytes"`
	BW      uint64 `json:"bw_bytes"`
	IOPS    float64
	Runtime uint64
	IOs     uint64      `json:"total_ios"`
	Slat    latencyJSON `json:"slat_ns"`
	Clat    latencyJSON `json:"clat_ns"`
	Lat     latencyJSON `json:"lat_ns"`
}

type jobJSON struct {
	Name              string `json:"jobname"`
	Error             int
	Read, Write, Trim sideJSON
	Levels            map[string]float64 `json:"iodepth_level"`
	Submit            map[string]float64 `json:"iodepth_submit"`
	Complete          map[string]float64 `json:"iodepth_complete"`
	Ns                map[string]float64 `json:"latency_ns"`
	Us                map[string]float64 `json:"latency_us"`
	Ms                map[string]float64 `json:"latency_ms"`
	User              float64            `json:"usr_cpu"`
	Sys               float64            `json:"sys_cpu"`
}

// invariants checks what must hold in the report of any run that was not cut short. syncs says that a job syncs, which the
// depths count beside the I/Os.
func invariants(t *testing.T, text []byte, syncs bool) {
	t.Helper()
	var doc struct{ Jobs []jobJSON }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for i := range doc.Jobs {
		j := &doc.Jobs[i]
		var latencies uint64
		for _, s := range []*sideJSON{&j.Read, &j.Write, &j.Trim} {
			s.check(t)
			latencies += s.Clat.N
		}
		for name, p := range map[string]map[string]float64{"iodepth_level": j.Levels, "iodepth_submit": j.Submit, "iodepth_complete": j.Complete} {
			if s := total(p); s != 0 && math.Abs(s-100) > 0.5 && !syncs {
				t.Errorf("%s: %s adds up to %v", j.Name, name, s)
			}
		}
		if s := total(j.Ns) + total(j.Us) + total(j.Ms); latencies > 0 && math.Abs(s-100) > 0.5 {
			t.Errorf("%s: latency classes add up to %v", j.Name, s)
		}
	}
}

func total(p map[string]float64) (s float64) {
	for _, v := range p {
		s += v
	}
	return s
}

func (s *sideJSON) check(t *testing.T) {
	t.Helper()
	if s.Runtime > 0 {
		if want := s.Bytes * 1000 / s.Runtime; s.BW != want {
			t.Errorf("bw_bytes %d, but %d bytes in %d ms are %d", s.BW, s.Bytes, s.Runtime, want)
		}
		if want := 1000 * float64(s.IOs) / float64(s.Runtime); math.Abs(s.IOPS-want) > want*1e-6 {
			t.Errorf("iops %v, want %v", s.IOPS, want)
		}
	}
	if s.Slat.N == s.Lat.N && s.Clat.N == s.Lat.N && s.Lat.N > 0 {
		if d := s.Slat.Mean + s.Clat.Mean - s.Lat.Mean; math.Abs(d) > 1 {
			t.Errorf("mean of slat and clat %v + %v, of lat %v", s.Slat.Mean, s.Clat.Mean, s.Lat.Mean)
		}
	}
	for _, l := range []*latencyJSON{&s.Slat, &s.Clat, &s.Lat} {
		l.check(t)
	}
}

// check wants order among the numbers. A percentile is the middle of its bucket, whose width is a 64th of it.
func (l *latencyJSON) check(t *testing.T) {
	t.Helper()
	if l.N == 0 {
		if l.Max != 0 || l.Mean != 0 || l.Percentile != nil {
			t.Errorf("a latency of nothing: %+v", l)
		}
		return
	}
	if float64(l.Min) > l.Mean+1 || l.Mean > float64(l.Max)+1 || l.Stddev > float64(l.Max-l.Min)+1 {
		t.Errorf("latency out of order: %+v", l)
	}
	type at struct{ p, v float64 }
	var list []at
	for name, v := range l.Percentile {
		var p float64
		if err := json.Unmarshal([]byte(name), &p); err != nil {
			t.Fatal(err)
		}
		list = append(list, at{p, float64(v)})
	}
	slices.SortFunc(list, func(a, b at) int { return int(math.Copysign(1, a.p-b.p)) })
	for i, x := range list {
		if x.v < float64(l.Min)*63/64-1 || x.v > float64(l.Max)*65/64+1 || i > 0 && x.v < list[i-1].v {
			t.Errorf("percentile %v is %v: %+v", x.p, x.v, l)
		}
	}
}
