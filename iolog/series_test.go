package iolog

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

const ms = int64(1e6)

func newFile(t *testing.T, path string) *file {
	t.Helper()
	f, err := openFile(path, os.O_TRUNC)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// numbers reads the fields of a line of a log.
func numbers(t *testing.T, line string) []uint64 {
	t.Helper()
	var out []uint64
	for _, f := range strings.Split(line, ", ") {
		n, err := strconv.ParseUint(f, 0, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, n)
	}
	return out
}

// TestLines reads logs that fio 3.42 wrote, records what they say, and wants the same text.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		log string
		cfg config
	}{
		{"plain", config{}},
		{"offset", config{offset: true}},
		{"prio", config{prio: true}},
		{"offset-prio-issue", config{offset: true, prio: true, issue: true}},
		{"both", config{window: Both}},
	} {
		want := read(t, "testdata/"+c.log+".log")
		path := filepath.Join(t.TempDir(), "log")
		c.cfg.entries = 7 // several chunks
		s := newSeries(newFile(t, path), c.cfg)
		s.Begin(5*ms, 0)
		for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
			n := numbers(t, line)
			at, value := 5*ms+int64(n[0])*ms+999, n[1]
			if c.cfg.window == Both {
				p := s.queue.next()
				*p = point{ms: int64(n[0]), value: value, peak: n[2], dir: job.Dir(n[3]), bs: n[4]}
				continue
			}
			var offset uint64
			var prio uint16
			var issued int64
			rest := n[4:]
			if c.cfg.offset {
				offset, rest = rest[0], rest[1:]
			}
			if c.cfg.prio {
				prio = uint16(rest[0])
			}
			if c.cfg.issue {
				issued = 5*ms + int64(rest[1])
			}
			s.Add(at, value, job.Dir(n[2]), n[3], offset, prio, issued)
		}
		if err := s.Close(0); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, read(t, path)); d != "" {
			t.Errorf("%s (-fio +fiord):\n%s", c.log, d)
		}
	}
}

func TestWindows(t *testing.T) {
	type in struct {
		at    int64 // ms
		value uint64
		dir   job.Dir
		left  int64
	}
	for _, c := range []struct {
		name  string
		cfg   config
		epoch int64
		in    []in
		end   int64
		want  string
	}{
		{"average, rounded", config{avgMs: 100}, 0, []in{
			{10, 1, 0, 90}, {99, 2, 0, 1}, {100, 2, 0, 100}, {150, 7, 0, 50}, {250, 8, 0, 100}, {299, 5, 0, 1},
		}, 310, "100, 2, 0, 0, 0\n250, 8, 0, 0, 0\n310, 5, 0, 0, 0\n"},
		{"directions apart", config{avgMs: 100}, 0, []in{
			{100, 4, 1, 100}, {105, 6, 0, 100}, {110, 8, 2, 100},
		}, 120, "100, 4, 1, 0, 0\n105, 6, 0, 0, 0\n110, 8, 2, 0, 0\n"},
		{"largest", config{avgMs: 100, window: Maximum}, 0, []in{{10, 9, 0, 90}, {120, 3, 0, 100}}, 130, "120, 9, 0, 0, 0\n"},
		{"both, all columns", config{avgMs: 100, window: Both, offset: true, prio: true, issue: true}, 0,
			[]in{{10, 9, 0, 90}, {120, 3, 0, 100}}, 130, "120, 6, 9, 0, 0, 0, 0x0000, 0\n"},
		{"a timer that is early", config{avgMs: 100, slack: true}, 0, []in{{99, 5, 0, 100}, {198, 6, 0, 100}}, 199,
			"99, 5, 0, 0, 0\n198, 6, 0, 0, 0\n"},
		{"another epoch", config{avgMs: 100}, 1700000000000, []in{{100, 5, 0, 100}}, 150, "1700000000100, 5, 0, 0, 0\n"},
		{"nothing", config{avgMs: 100}, 0, nil, 100, ""},
	} {
		path := filepath.Join(t.TempDir(), "log")
		s := newSeries(newFile(t, path), c.cfg)
		s.Begin(3*ms, c.epoch)
		for _, v := range c.in {
			if left := s.Add(3*ms+v.at*ms, v.value, v.dir, 4096, 8192, 1<<13, 77); left != v.left {
				t.Errorf("%s: at %d ms: %d ms left, want %d", c.name, v.at, left, v.left)
			}
		}
		if err := s.Close(3*ms + c.end*ms); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, read(t, path)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestPriorityColumn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	s := newSeries(newFile(t, path), config{window: Both})
	s.Add(0, 1, 0, 512, 0, 1<<13|4, 0) // realtime
	s.Add(0, 2, 0, 512, 0, 2<<13|4, 0) // best effort
	if err := s.Close(0); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("0, 1, 0, 0, 512, 1\n0, 2, 0, 0, 512, 0\n", read(t, path)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func BenchmarkSeriesAdd(b *testing.B) {
	f, err := openFile(os.DevNull, 0)
	if err != nil {
		b.Fatal(err)
	}
	s := newSeries(f, config{entries: 1024})
	b.ReportAllocs()
	for i := range b.N {
		s.Add(int64(i), uint64(i), job.Read, 4096, 0, 0, 0)
	}
	b.StopTimer()
	if err := s.Close(0); err != nil {
		b.Fatal(err)
	}
}
