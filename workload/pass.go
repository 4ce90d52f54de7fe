package workload

import "fiord/job"

// More reports whether another pass must follow when all loops have had theirs, because the job has not moved its bytes
// yet (an io_size above the size, say). moved is how many bytes completed in all directions since the start. Time and
// loops are the caller's business, and so is that a pass which moved nothing is the last.
func (g *Generator) More(moved uint64) bool {
	if g.full || g.enoughIOs() || g.ioSize == 1<<64-1 || moved >= g.ioSize {
		return false
	}
	if g.ioSize-moved < g.mostBS {
		return false
	}
	return g.givenIOSize || !g.allDone()
}

// Full reports whether a job with sprandom=1 has written all of the drive: there is no further pass, whatever time and loops
// say.
func (g *Generator) Full() bool { return g.full }

func (g *Generator) allDone() bool {
	for i := range g.files {
		if !g.files[i].done {
			return false
		}
	}
	return true
}

// NextPass starts the next pass over the files: it closes those that are open, puts all of them back to their start and,
// with randrepeat, the random streams too. Nothing may be in flight.
func (g *Generator) NextPass() {
	g.Close()
	g.zoneBytes = 0
	g.rwmixUntil = 0
	g.passQueued = 0
	if g.restart {
		g.filesDone = 0
	}
	for i := range g.files {
		f := &g.files[i]
		f.done = false
		f.base = f.start
	}
	if g.reseed {
		g.seed(g.wide)
	}
	if g.trimWrite {
		g.numberIOs *= 2 // fio doubles it in every pass
	}
}

// RampOver starts the counting anew at the end of ramp_time: number_ios, the mix of directions and the syncs count from
// here. inflight is how many data I/Os are in flight: they count when they complete.
func (g *Generator) RampOver(inflight int) {
	g.issues = job.PerDir[uint64]{}
	g.done = uint64(max(inflight, 0))
	g.zoneBytes = 0
	g.rwmixUntil = 0
	g.quota = 0
	if g.restart {
		g.filesDone = 0
	}
}
