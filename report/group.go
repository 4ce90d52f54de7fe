package report

import (
	"fmt"
	"io"

	"fiord/job"
	"fiord/stats"
)

var groupNames = job.PerDir[string]{"   READ", "  WRITE", "   TRIM"}

// normalGroup writes what the jobs of one group did together, a line a direction.
func (p *printer) normalGroup(g *stats.Group) {
	sc := newScale(g.KBBase, g.UnitBase, g.SigFigs)
	p.printf("\nRun status group %d (all jobs):\n", g.Index)
	for d := range job.Dir(job.NDirs) {
		if g.MaxRun[d] == 0 {
			continue
		}
		name := groupNames[d]
		if g.Unified == stats.UnifiedMixed {
			name = "  MIXED"
		}
		p.groupLine(name, sc, groupRow{g.AggBW[d], g.MinBW[d], g.MaxBW[d], g.Bytes[d], g.MinRun[d], g.MaxRun[d]})
	}
	if g.Unified == stats.UnifiedBoth {
		p.groupLine("  MIXED", sc, mixedRow(g))
	}
}

// groupRow is one such line: bandwidths in bytes/s, run times in ms.
type groupRow struct{ bw, minBW, maxBW, bytes, minRun, maxRun uint64 }

// mixedRow joins the directions of a group that shows them apart and together.
func mixedRow(g *stats.Group) groupRow {
	var row groupRow
	first := true
	for d := range g.MaxRun {
		if g.MaxRun[d] == 0 {
			continue
		}
		if first {
			row.minBW, row.minRun, first = g.MinBW[d], g.MinRun[d], false
		}
		row.bytes += g.Bytes[d]
		row.bw += g.AggBW[d]
		row.minBW, row.maxBW = min(row.minBW, g.MinBW[d]), max(row.maxBW, g.MaxBW[d])
		row.minRun, row.maxRun = min(row.minRun, g.MinRun[d]), max(row.maxRun, g.MaxRun[d])
	}
	return row
}

func (p *printer) groupLine(name string, sc scale, g groupRow) {
	p.printf("%s: bw=%s (%s), %s-%s (%s-%s), io=%s (%s), run=%d-%dmsec\n", name,
		sc.rate(g.bw), sc.altRate(g.bw), sc.rate(g.minBW), sc.rate(g.maxBW), sc.altRate(g.minBW), sc.altRate(g.maxBW),
		sc.bytes(g.bytes), sc.altBytes(g.bytes), g.minRun, g.maxRun)
}

// normalIdle writes what --idle-prof measured.
func (p *printer) normalIdle(idle *Idle) {
	if idle == nil {
		return
	}
	p.printf("\nCPU idleness:\n  system: %3.2f%%\n", finite(idle.System))
	for i, v := range idle.PerCPU {
		if i == 0 {
			p.printf("  percpu: ")
		} else {
			p.printf(", ")
		}
		p.printf("%3.2f%%", finite(v))
	}
	if len(idle.PerCPU) > 0 {
		p.printf("\n")
	}
	p.idleUnit(idle)
}

func (p *printer) idleUnit(idle *Idle) {
	p.printf("  unit work: mean=%3.2fus, stddev=%3.2f\n", finite(idle.UnitMean), finite(idle.UnitStdDev))
}

// Calibration writes what --idle-prof=calibrate found out.
func Calibration(w io.Writer, idle *Idle) error {
	var p printer
	p.printf("CPU idleness:\n")
	p.idleUnit(idle)
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
