package run

import (
	"math"
	"testing"

	"fiord/report"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestIdleResult(t *testing.T) {
	two := &idleReady{CPUs: []int{0, 5}, UnitUs: []float64{2, 4}}
	counts := &idleCounts{Us: 1000, Units: []uint64{100, 300}}
	for _, tt := range []struct {
		name   string
		ready  *idleReady
		counts *idleCounts
		perCPU bool
		want   report.Idle
	}{
		{"system", two, counts, false, report.Idle{System: 60, UnitMean: 3, UnitStdDev: math.Sqrt2}},
		{"percpu", two, counts, true, report.Idle{System: 60, PerCPU: []float64{30, 90}, CPUs: []int{0, 5}, UnitMean: 3, UnitStdDev: math.Sqrt2}},
		{"not begun", two, &idleCounts{Units: []uint64{0, 0}}, false, report.Idle{UnitMean: 3, UnitStdDev: math.Sqrt2}},
		{"one CPU has no deviation", &idleReady{CPUs: []int{3}, UnitUs: []float64{2}}, &idleCounts{Us: 10, Units: []uint64{5}}, true,
			report.Idle{System: 100, PerCPU: []float64{100}, CPUs: []int{3}, UnitMean: 2}},
	} {
		got := tt.ready.result(tt.counts, tt.perCPU)
		if d := cmp.Diff(&tt.want, got, cmpopts.EquateApprox(0, 1e-9)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// TestIdleProbeFails starts a process that is no probe.
func TestIdleProbeFails(t *testing.T) {
	for _, command := range [][]string{{"/bin/false"}, {"/bin/echo", "hello"}, {"/no/such/program"}} {
		if _, err := startIdle(&IdleProfile{Command: command}); err == nil {
			t.Errorf("%v: no error", command)
		}
	}
	if m, err := startIdle(nil); m != nil || err != nil {
		t.Errorf("not asked for: %v, %v", m, err)
	}
}

func TestCalibrate(t *testing.T) {
	page := make([]byte, 4096)
	if us := calibrate(page); us <= 0 {
		t.Errorf("a unit takes %v us", us)
	}
	if page[1] == page[2] {
		t.Error("no work was done")
	}
}
