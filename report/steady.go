package report

import (
	"fmt"
	"strings"

	"fiord/stats"
)

// steadyBase is what a steadystate search watches (iops, bw or lat), and whether it looks at the slope.
func steadyBase(s *stats.Steady) (base string, slope bool) {
	return strings.CutSuffix(s.Kind, "_slope")
}

func percentSign(on bool) string {
	if on {
		return "%"
	}
	return ""
}

// meanOf is the whole mean of one value a window.
func meanOf(values []uint64) uint64 {
	if len(values) == 0 {
		return 0
	}
	var sum uint64
	for _, v := range values {
		sum += v
	}
	return sum / uint64(len(values))
}

func (p *printer) normalSteady(s *stats.Steady, sc scale) {
	if s == nil {
		return
	}
	base, slope := steadyBase(s)
	attained, lat, kind := "no", "", "mean dev"
	if s.Attained {
		attained = "yes"
	}
	if slope {
		kind = "slope"
	}
	if base == "lat" {
		lat = ", lat=" + steadyLatency(meanOf(s.Lat), sc)
	}
	kb := meanOf(s.BW) / uint64(sc.kbBase)
	p.printf("  steadystate  : attained=%s, bw=%s (%s), iops=%s%s, %s %s=%.3f%s\n", attained,
		Number(kb, sc.figures, sc.kbBase, sc.binary, sc.unit), Number(kb, sc.figures, sc.kbBase, !sc.binary, sc.unit),
		sc.count(meanOf(s.IOPS)), lat, base, kind, finite(s.Criterion), percentSign(s.Percent))
}

// steadyLatency never leaves nanoseconds: the scaling rule asks for a deviation, and a mean of means has none.
func steadyLatency(ns uint64, sc scale) string { return sc.count(ns) + "nsec" }

// jsonSteady writes the "steadystate" object.
func (t *jsonText) jsonSteady(s *stats.Steady) {
	base, slope := steadyBase(s)
	kind := base
	if slope {
		kind += "_slope"
	}
	t.object("steadystate", func() {
		t.text("ss", fmt.Sprintf("%s:%f%s", kind, finite(float64(float32(s.Limit))), percentSign(s.Percent)))
		t.count("duration", s.DurationMs/1000)
		attained := uint64(0)
		if s.Attained {
			attained = 1
		}
		t.count("attained", attained)
		t.text("criterion", fmt.Sprintf("%f%s", finite(float64(float32(s.Criterion))), percentSign(s.Percent)))
		t.float("max_deviation", s.Deviation)
		t.float("slope", s.Slope)
		t.object("data", func() {
			t.count("bw_mean", meanOf(s.BW))
			t.count("iops_mean", meanOf(s.IOPS))
			if base == "lat" {
				t.count("lat_mean", meanOf(s.Lat))
				t.counts("lat_ns", s.Lat)
			}
			t.counts("iops", s.IOPS)
			t.counts("bw", s.BW)
		})
	})
}
