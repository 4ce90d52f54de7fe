package iolog

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withoutTimes cuts the time off each line after the header.
func withoutTimes(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if first, rest, ok := strings.Cut(line, " "); ok {
			if _, err := strconv.ParseUint(first, 10, 64); err == nil {
				lines[i] = rest
			}
		}
	}
	return strings.Join(lines, "")
}

// TestTrace records what iologs by fio 3.42 tell, and wants the same lines.
func TestTrace(t *testing.T) {
	for _, name := range []string{"files.iolog", "percent.iolog"} {
		want := read(t, "testdata/"+name)
		path := filepath.Join(t.TempDir(), name)
		tr, err := NewTrace(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(want), "\n")[1:] {
			f := strings.Fields(line)
			switch f[2] {
			case "add":
				tr.Add(f[1])
			case "open":
				tr.Open(f[1])
			case "close":
				tr.Close(f[1])
			default:
				at, _ := strconv.ParseInt(f[0], 10, 64)
				offset, _ := strconv.ParseInt(f[3], 10, 64)
				length, _ := strconv.Atoi(f[4])
				tr.IO(tr.start+at*1000+999, f[1], f[2], offset, length)
			}
		}
		if err := tr.Finish(); err != nil {
			t.Fatal(err)
		}
		got := read(t, path)
		if d := cmp.Diff(withoutTimes(want), withoutTimes(got)); d != "" {
			t.Errorf("%s (-fio +fiord):\n%s", name, d)
		}
		if d := cmp.Diff(transfers(want), transfers(got)); d != "" {
			t.Errorf("%s: with times (-fio +fiord):\n%s", name, d)
		}
	}
}

// transfers are the lines of I/Os, with their times.
func transfers(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if len(strings.Fields(line)) == 5 {
			out = append(out, line)
		}
	}
	return out
}

// TestTraceTwice has two jobs add to one file: all lines stay whole.
func TestTraceTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.iolog")
	var traces []*Trace
	for range 2 {
		tr, err := NewTrace(path)
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, tr)
	}
	long := strings.Repeat("n", 3000)
	for i := range 100 {
		traces[i%2].IO(traces[0].start+int64(i)*1000, long, "write", int64(i), 1)
	}
	for _, tr := range traces {
		if err := tr.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	headers, lines := 0, 0
	for _, line := range strings.Split(strings.TrimSpace(read(t, path)), "\n") {
		if line+"\n" == traceHeader {
			headers++
		} else if f := strings.Fields(line); len(f) == 5 && f[1] == long && f[2] == "write" {
			lines++
		} else {
			t.Fatalf("line is cut: %.40q...", line)
		}
	}
	if headers != 2 || lines != 100 {
		t.Errorf("%d headers and %d lines, want 2 and 100", headers, lines)
	}
}

func TestTraceErrors(t *testing.T) {
	if _, err := NewTrace(filepath.Join(t.TempDir(), "no", "folder")); err == nil || !strings.Contains(err.Error(), "write_iolog") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here:", err)
	}
	tr, err := NewTrace("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	for range 10000 {
		tr.IO(tr.start, "name", "read", 0, 4096)
	}
	if err := tr.Finish(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error is %v, want ENOSPC", err)
	}
}

func TestTraceAllocations(t *testing.T) {
	tr, err := NewTrace(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5000, func() { tr.IO(tr.start, "name", "read", 1<<40, 4096) }); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
	if err := tr.Finish(); err != nil {
		t.Fatal(err)
	}
}
