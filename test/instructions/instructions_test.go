// Package instructions holds the hot loop to the number of instructions that an I/O took when it was last looked at. The
// number hardly depends on how fast or busy the machine is, so it shows a loss that a measurement of time would drown.
//
// It owns the cases, the recorded counts and the reading of callgrind. It must not know how the loop works, and it knows
// nothing of time: an instruction counts as one whatever it costs, and those of the kernel do not count.
//
// Each case runs twice under valgrind, with few I/Os and with many; the difference divided by the I/Os between has no
// start-up in it. make instructions runs the cases; they are skipped without FIORD_INSTRUCTIONS=1 in the environment, because
// they take half a minute.
package instructions

import (
	"flag"
	"go/version"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

var (
	update   = flag.Bool("update", false, "record the counts of now")
	profiles = flag.String("profiles", "", "leave the profiles of the long runs in this `folder`, an absolute path")
)

// By how much of the recorded count an I/O may take more. Runs of one program differ by less than one percent; another
// release of Go compiles to other code, and what is left to see then is a great loss.
const (
	tolerance = 0.05
	loosely   = 0.20
)

// TestInstructionsPerIO compares the instructions of an I/O with the recorded ones.
func TestInstructionsPerIO(t *testing.T) {
	need(t)
	old, err := readRecord(recordFile)
	if err != nil && !(*update && os.IsNotExist(err)) {
		t.Fatal(err)
	}
	allowed := tolerance
	if here := runtime.Version(); !*update && !sameRelease(here, old.goVersion) {
		t.Logf("recorded with %s, this is %s, which compiles other code: %.0f%% more are let pass", old.goVersion, here, 100*loosely)
		allowed = loosely
	}
	program := build(t)
	now := record{goVersion: runtime.Version(), counts: map[string]float64{}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := c.perIO(t, program)
			now.counts[c.name] = got
			if *update {
				return
			}
			want, ok := old.counts[c.name]
			if !ok {
				t.Fatalf("%.1f instructions per I/O, and none recorded: make instructions INSTRUCTIONS=-update", got)
			}
			delete(old.counts, c.name)
			report(t, compare(got, want, allowed), got, want)
		})
	}
	switch {
	case *update && len(now.counts) < len(cases):
		t.Error("nothing recorded: not all cases were run")
	case *update:
		if err := now.write(recordFile); err != nil {
			t.Error(err)
		}
	case len(now.counts) == len(cases):
		for name := range old.counts {
			t.Errorf("%s: recorded, but no case: make instructions INSTRUCTIONS=-update", name)
		}
	}
}

// sameRelease tells whether two versions of Go are of one release, such as 1.26.1 and 1.26.8, which compile to nearly the same
// code.
func sameRelease(a, b string) bool {
	return version.IsValid(a) && version.Lang(a) == version.Lang(b)
}

// A verdict is what is to be said about a count.
type verdict int

const (
	same verdict = iota
	fewer
	more
)

// compare judges a count by the recorded one, of which it may be off by the fraction allowed.
func compare(got, want, allowed float64) verdict {
	switch {
	case !(got <= want*(1+allowed)): // also where there is no number
		return more
	case got < want*(1-allowed):
		return fewer
	}
	return same
}

func report(t *testing.T, v verdict, got, want float64) {
	t.Helper()
	const line = "%.1f instructions per I/O, %+.1f%% of the %.1f recorded%s"
	change := 100 * (got/want - 1)
	switch v {
	case more:
		t.Errorf(line, got, change, want, "; if they are worth it: make instructions INSTRUCTIONS=-update")
	case fewer:
		t.Logf(line, got, change, want, "; keep it so: make instructions INSTRUCTIONS=-update")
	default:
		t.Logf(line, got, change, want, "")
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		got, want, allowed float64
		verdict            verdict
	}{
		{100, 100, 0.05, same},
		{104.9, 100, 0.05, same},
		{105.1, 100, 0.05, more},
		{100, 90, 0.05, more},
		{95.1, 100, 0.05, same},
		{94.9, 100, 0.05, fewer},
		{119, 100, 0.2, same},
		{121, 100, 0.2, more},
		{math.NaN(), 100, 0.2, more},
		{100, 0, 0.2, more},
	} {
		if got := compare(c.got, c.want, c.allowed); got != c.verdict {
			t.Errorf("compare(%v, %v, %v) = %v, want %v", c.got, c.want, c.allowed, got, c.verdict)
		}
	}
}

func TestSameRelease(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"go1.26.8", "go1.26.1", true},
		{"go1.26.8", "go1.26", true},
		{"go1.27.0", "go1.26.8", false},
		{"go1.26.8", "", false},
		{"devel go1.28-1a2b3c", "devel go1.28-1a2b3c", false},
	} {
		if sameRelease(c.a, c.b) != c.same {
			t.Errorf("sameRelease(%q, %q) = %v", c.a, c.b, !c.same)
		}
	}
}

// need skips where nothing can be counted.
func need(t *testing.T) {
	t.Helper()
	if os.Getenv("FIORD_INSTRUCTIONS") != "1" && !*update {
		t.Skip("runs fiord under valgrind for half a minute: make instructions, or FIORD_INSTRUCTIONS=1")
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		cannot(t, "needs valgrind: %v", err)
	}
	if _, err := os.Stat(recordFile); err != nil && !*update && runtime.GOARCH != "amd64" {
		t.Skipf("no counts recorded for %s: %v", runtime.GOARCH, err)
	}
}

// cannot skips, or with FIORD_NEED_TOOLS=1 in the environment fails.
func cannot(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("FIORD_NEED_TOOLS") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
