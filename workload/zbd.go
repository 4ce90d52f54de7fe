package workload

import (
	"fiord/engines"
	"fiord/job"
)

// Zones moves the I/Os of a job with zonemode=zbd to where the zones of its files take them. Offsets are of the whole file.
type Zones interface {
	// Adjust decides about an I/O of file i; base is where the job's range starts at the moment. check says that the I/O is
	// to be a read that verifies, before a zone can be written again. Without ok the file has no such I/O left, unless Err
	// says what is wrong. After an ok without check comes Take, with the length that it is issued with, or Drop.
	Adjust(i int, op engines.Op, offset, length, base uint64) (at, n uint64, check, ok bool)
	Take(n uint64)
	Drop()
	Err() error
	// Start comes when file i starts over.
	Start(i int) error
	// At is the zone at a position: where it starts and ends, where its capacity ends and where it is written next.
	At(i int, at uint64) (start, wp, capEnd, end uint64)
}

// formZoned is form for a job with zones.
func (g *Generator) formZoned(f *file, op engines.Op, r *Req) bool {
	d := op.Dir()
	g.nextZone(f, d)
	random, ok := g.place(f, d)
	if !ok {
		return false
	}
	n := g.lengthOf(f, d, random)
	if n == 0 {
		return false
	}
	drawn := g.offset // it stays marked in the random map, wherever the I/O goes
	at, n, check, ok := g.zbd.Adjust(f.number, op, drawn, n, f.base)
	if !ok {
		g.err = g.zbd.Err()
		return false
	}
	if check {
		op, d = engines.Read, job.Read
	}
	if at+n > f.size {
		g.offset = at
		g.zbd.Drop()
		return false
	}
	if f.blocks != nil {
		n = g.mark(f, d, n)
	}
	g.offset = at
	g.zoneBytes += n
	f.begin[d], f.pos[d] = at, at+n
	g.unmarked = false
	r.Op, r.Offset, r.Len = op, int64(at), int(n)
	g.quota = 0
	if !check {
		g.zbd.Take(n)
		g.account(op, 1, n)
	}
	return true
}

// nextZone moves a sequential job from a zone that it is done with to the next one: behind the capacity of a zone, and
// past those that zoneskip names.
func (g *Generator) nextZone(f *file, d job.Dir) {
	if g.rw.Random {
		return
	}
	_, wp, capEnd, end := g.zbd.At(f.number, f.pos[d])
	if d == job.Write && capEnd < end && f.pos[d] >= capEnd {
		f.pos[d] = end
	}
	if g.zoneSkip == 0 {
		return
	}
	if g.zoneBytes >= g.zoneSize || f.pos[d] >= end || d == job.Read && !g.job.ReadBeyondWP && f.pos[d] >= wp {
		g.zoneBytes = 0
		f.base += g.zoneSize + g.zoneSkip
		if f.base >= min(f.size, f.start+f.length) { // fio differs: it leaves the job's range and dies
			f.base = f.start
		}
		f.pos[d] = f.base
	}
}

// zonedDir is the direction in place of d: a mixed job writes first, as there would be nothing to read.
func (g *Generator) zonedDir(f *file, d job.Dir) job.Dir {
	if d != job.Read || !g.mixed || f.begin[job.Write] != nowhere || g.job.ReadBeyondWP || g.job.RWMixWrite == 0 {
		return d
	}
	return job.Write
}

// startOver puts f back to its start, and its zones with it.
func (g *Generator) startOver(f *file) {
	f.reset(g.seeds[OffsetStream])
	if g.zbd == nil {
		return
	}
	if err := g.zbd.Start(f.number); err != nil && g.err == nil {
		g.err = err
	}
}
