package cmdprio

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/job"
)

func newJob() *job.Job {
	j := &job.Job{Number: 1}
	j.RW = job.RWMode{Read: true, Write: true}
	j.RandSeed, j.RandRepeat = 0x89, true
	return j
}

func TestNone(t *testing.T) {
	if p, err := New(Options{Cmdprio: job.PerDir[int]{3, 3}}, newJob()); p != nil || err != nil {
		t.Errorf("without percentages: %v, %v", p, err)
	}
}

func TestBoth(t *testing.T) {
	o := Options{CmdprioPercentage: job.PerDir[int]{10}, CmdprioBSSplit: "4k/10"}
	if _, err := New(o, newJob()); !errors.Is(err, ErrBoth) {
		t.Errorf("both given: %v", err)
	}
}

func TestPercentage(t *testing.T) {
	o := Options{CmdprioPercentage: job.PerDir[int]{30, 100}, CmdprioClass: job.PerDir[int]{0, 2},
		Cmdprio: job.PerDir[int]{4, 5}, CmdprioHint: job.PerDir[int]{0, 1}}
	p, err := New(o, newJob())
	if err != nil {
		t.Fatal(err)
	}
	const n = 10000
	seen := map[engines.Op]map[uint16]int{}
	for i := range 3 * n {
		u := &engines.IO{Op: engines.Op(i % 3), Len: 4096, Prio: 99}
		p.Pick(u)
		if seen[u.Op] == nil {
			seen[u.Op] = map[uint16]int{}
		}
		seen[u.Op][u.Prio]++
	}
	const rt4, be5h1 = 1<<13 | 4, 2<<13 | 1<<3 | 5
	if got := seen[engines.Read][rt4]; got < n*28/100 || got > n*32/100 || seen[engines.Read][0] != n-got {
		t.Errorf("reads: %v, want about 30 %% of %#x", seen[engines.Read], rt4)
	}
	if diff := cmp.Diff(map[uint16]int{be5h1: n}, seen[engines.Write]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[uint16]int{0: n}, seen[engines.Trim]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]uint16{0, rt4}, p.Values(job.Read)); diff != "" {
		t.Error(diff)
	}
}

func TestParseSplits(t *testing.T) {
	const implied = 7
	for _, c := range []struct {
		text string
		want []split
		err  string
	}{
		{"4k/20/1/2:4k/30/2/0", []split{{4096, 50, []prio{{20, 1<<13 | 2}, {30, 2 << 13}}}}, ""},
		{"8k/10:4k/5", []split{{4096, 5, []prio{{5, implied}}}, {8192, 10, []prio{{10, implied}}}}, ""},
		{"4k/", nil, ""},
		{"4k", nil, ""},
		{"4k/10/2/1/5", []split{{4096, 10, []prio{{10, 2<<13 | 5<<3 | 1}}}}, ""},
		{"4k/200", []split{{4096, 100, []prio{{100, implied}}}}, ""},
		{"4k/10/9/9/9999", []split{{4096, 10, []prio{{10, 3<<13 | 1023<<3 | 7}}}}, ""},
		{"4k/60:4k/50", nil, "more than 100"},
		{"4k/10/1", nil, "want bs/percent"},
		{"4k/10/1/1/1/1", nil, "too many fields"},
		{"4k/x", nil, "no number"},
		{"0/10", nil, "above 0"},
		{"/10", nil, "entry"},
		{strings.Repeat("4k/0:", 65), nil, "more than 64"},
	} {
		got, err := parseSplits(c.text, implied, 1024)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%.30q: error %v, want %q", c.text, err, c.err)
			continue
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(split{}, prio{})); err == nil && diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestSplitPicksByLength(t *testing.T) {
	p, err := New(Options{CmdprioBSSplit: "4k/100/1/1,8k/100/2/2"}, newJob())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op   engines.Op
		len  int
		want uint16
	}{
		{engines.Read, 4096, 1<<13 | 1}, {engines.Read, 8192, 0}, {engines.Write, 8192, 2<<13 | 2}, {engines.Write, 4096, 0},
	} {
		u := &engines.IO{Op: c.op, Len: c.len}
		if picked := p.Pick(u); picked != (c.want != 0) || u.Prio != c.want {
			t.Errorf("%v of %d: picked %v, priority %#x, want %#x", c.op, c.len, picked, u.Prio, c.want)
		}
	}
}

func FuzzParseSplits(f *testing.F) {
	f.Add("4k/20/1/2:4k/30/2/0")
	f.Add("4k/:8k/10/1/1/1")
	f.Fuzz(func(t *testing.T, text string) {
		splits, err := parseSplits(text, 1, 1024)
		if err != nil {
			return
		}
		for _, s := range splits {
			if s.bs <= 0 || s.total == 0 || s.total > 100 {
				t.Errorf("%q gives %+v", text, s)
			}
		}
	})
}
