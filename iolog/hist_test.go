package iolog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiord/job"
	"fiord/stats"

	"github.com/google/go-cmp/cmp"
)

// TestHistLines plays back the latencies of a log that fio 3.42 wrote, and wants the same text.
func TestHistLines(t *testing.T) {
	want := read(t, "testdata/hist.log")
	path := filepath.Join(t.TempDir(), "log")
	l := newHistLog(newFile(t, path), 200, 0)
	l.Begin(1, 0)
	seen := [job.NDirs]bool{}
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		n := numbers(t, line)
		at, dir, bs := 1+int64(n[0])*ms, job.Dir(n[1]), n[2]
		if len(n) != 3+stats.HistBuckets {
			t.Fatalf("line of %d fields", len(n))
		}
		first := at - 3*ms
		if !seen[dir] {
			first, seen[dir] = 1+3*ms, true // the first completion starts the first period
		}
		var all []uint64
		for i, c := range n[3:] {
			for range c {
				all = append(all, stats.Value(i))
			}
		}
		for _, v := range all[:len(all)-1] {
			l.Add(first, v, dir, bs)
		}
		l.Add(at, all[len(all)-1], dir, bs)
	}
	l.Add(1+500*ms, 1, job.Read, 4096) // in a period that does not end
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, read(t, path)); d != "" {
		t.Errorf("(-fio +fiord):\n%s", d)
	}
}

func TestHistCoarse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := newHistLog(newFile(t, path), 10, 6)
	l.Begin(0, 1000)
	l.Add(5*ms, 3, job.Write, 512)
	l.Add(6*ms, 63, job.Write, 512)
	l.Add(7*ms, 1<<40, job.Write, 512)
	l.Add(16*ms, 64, job.Write, 8192)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("1016, 1, 8192, 2, 1, "+strings.Repeat("0, ", 26)+"1\n", read(t, path)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestHistOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := newHistLog(newFile(t, path), 0, 0)
	l.Add(99*ms, 3, job.Write, 512)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("without a period: %v, %v", info, err)
	}
}
