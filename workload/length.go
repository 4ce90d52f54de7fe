package workload

import "fiord/job"

// mostDraws bounds the search for a length that fits into the rest of a file. fio draws for ever, which only a huge range
// of lengths makes visible.
const mostDraws = 1 << 22

// lengthOf is how long the I/O at g.offset is; 0 when no length fits there.
func (g *Generator) lengthOf(f *file, d job.Dir, random bool) uint64 {
	if g.rw.Random && g.trimWrite && d == job.Write {
		return f.pos[job.Trim] - f.begin[job.Trim]
	}
	if g.bsBySeq {
		d = job.Read
		if random {
			d = job.Write
		}
	}
	least, most := g.minBS[d], g.maxBS[d]
	if least == most {
		return least
	}
	room := f.length + f.start - g.offset
	if f.length+f.start < g.offset || room < g.fitBS[d] || room < least {
		return 0
	}
	for range mostDraws {
		var n uint64
		if g.splits[d] == nil {
			n = least + g.bsRand[d].Below(most)
		} else {
			n = g.splitLength(d, room)
		}
		if !g.unaligned {
			n -= n % least
		}
		if n = min(n, most); n <= room {
			return n
		}
	}
	return 0
}

// splitLength draws from bssplit: the first length, from the rarest on, whose share is hit and that fits.
func (g *Generator) splitLength(d job.Dir, room uint64) uint64 {
	r, max := g.bsRand[d].Next(), g.bsRand[d].Max()
	var n, share uint64
	for _, e := range g.splits[d] {
		if e.Percent <= 0 {
			continue
		}
		n = e.BS
		share += uint64(e.Percent)
		if r/share <= max/100 && n <= room {
			break
		}
	}
	return n
}

// mark notes the blocks of the I/O in the random map, and shortens the I/O where it runs into a block that has been done.
func (g *Generator) mark(f *file, d job.Dir, n uint64) uint64 {
	if g.unmarked {
		return n
	}
	unit := g.minBS[d]
	marked := f.blocks.markRun((g.offset-f.base)/unit, (n+unit-1)/unit)
	if marked == 0 {
		return n // behind the map
	}
	return min(n, marked*unit)
}
