package workload

import (
	"fiord/engines"
	"fiord/job"
)

// operation decides what the next I/O does: a sync that is due, or data in a direction. It reports false when Pace ends
// the pass.
func (g *Generator) operation(f *file) (engines.Op, bool) {
	if g.lastOp == engines.Write {
		if op := g.dueSync(); op != engines.Write {
			return op, true
		}
	}
	d := g.only
	if g.mixed {
		d = g.mix()
	}
	if g.pace != nil {
		if d = g.pace(d); d >= job.NDirs {
			return 0, false
		}
	}
	g.rwmixDir = d
	if g.zbd != nil {
		d = g.zonedDir(f, d)
	}
	if g.trimWrite {
		d = job.Write
		if f.begin[job.Write] == f.begin[job.Trim] {
			d = job.Trim
		}
	}
	return engines.Op(d), true
}

// dueSync is the sync that follows the write just issued, or Write for none.
func (g *Generator) dueSync() engines.Op {
	n := g.issues[job.Write]
	switch {
	case n == 0:
	case g.fsync != 0 && n%g.fsync == 0:
		return engines.Sync
	case g.fdatasync != 0 && n%g.fdatasync == 0:
		return engines.DataSync
	case g.syncRange != 0 && n%g.syncRange == 0:
		return engines.SyncFileRange
	}
	return engines.Write
}

// mix is the direction of a job that reads and writes: drawn anew whenever the current direction has had its share.
func (g *Generator) mix() job.Dir {
	if g.issues[g.rwmixDir] < g.rwmixUntil {
		return g.rwmixDir
	}
	d := job.Write
	if g.mixRand.Between(1, 100) <= g.readShare {
		d = job.Read
	}
	if d != g.rwmixDir {
		g.rwmixUntil = g.issues[g.rwmixDir] * g.otherShare[g.rwmixDir] / 100
	}
	g.rwmixDir = d
	return d
}
