package workload

import (
	"fmt"

	"fiord/job"
)

// place finds the offset of the next I/O in f, and whether it was chosen at random. It reports false when the file has
// nothing left.
func (g *Generator) place(f *file, d job.Dir) (random, ok bool) {
	var at uint64
	fresh := g.seqLeft <= 1 // time for a new random offset
	if fresh {
		g.seqLeft = g.seqNr
	} else {
		g.seqLeft--
	}
	switch {
	case g.rw.Random && g.trimWrite && d == job.Write:
		g.unmarked, random, ok = true, true, true
		at = f.begin[job.Trim] - f.base
	case fresh && !g.rw.Random:
		at, ok = g.follow(f, d)
	case fresh && g.drawsRandom(d):
		random = true
		at, ok = g.randomOffset(f, d)
	case !fresh && g.identical:
		g.unmarked, ok = true, true
		if f.begin[d] != nowhere {
			at = f.begin[d] - f.base
		}
	default:
		g.unmarked = true
		if at, ok = g.follow(f, d); !ok {
			at, ok = g.randomOffset(f, d)
		}
	}
	if !ok {
		return random, false
	}
	g.offset = at
	if at >= f.length {
		return random, false
	}
	g.offset += f.base
	if g.offset >= f.size {
		return random, false
	}
	if g.rw.Random && g.trimWrite && d == job.Trim && f.begin[job.Trim] == g.offset {
		// The same block again: the last write must differ from it, or the next operation would be a trim too.
		f.begin[job.Write]--
	}
	return random, true
}

// drawsRandom decides for percentage_random whether the next I/O of a random job is random.
func (g *Generator) drawsRandom(d job.Dir) bool {
	return g.randPct[d] == 100 || g.pctRand[d].Between(1, 100) <= g.randPct[d]
}

// follow is the offset in the range behind the last I/O of direction d.
func (g *Generator) follow(f *file, d job.Dir) (uint64, bool) {
	if f.pos[d] >= f.length+f.start && (g.rewindWhole || g.timeBased && len(g.files) == 1) {
		f.pos[d] = f.base
		g.rewound(f)
	}
	if f.pos[d] >= f.size {
		return 0, false
	}
	end := min(f.size, f.length)
	backwards := int64(g.seqAdd) < 0
	if backwards && f.pos[d] == f.base && f.base != 0 {
		f.pos[d] = end // a backwards job starts at the end
	}
	at := f.pos[d] - f.base
	if at == 0 || g.seqAdd == 0 {
		return at, true
	}
	at += g.seqAdd
	if at < f.size {
		return at, true
	}
	if backwards {
		return end + g.seqAdd, true
	}
	return f.base, true
}

// rewound tells the events that f starts over.
func (g *Generator) rewound(f *file) {
	if g.rewind == nil {
		return
	}
	for i := range g.files {
		if &g.files[i] == f {
			g.rewind.RewindFile(i)
		}
	}
}

// randomOffset draws a block and returns its offset in the range. A file that has none left starts over when the job goes
// by time or picks its files unevenly.
func (g *Generator) randomOffset(f *file, d job.Dir) (uint64, bool) {
	b, ok := g.randomBlock(f, d)
	if !ok && (g.timeBased || g.service == serveSkewed) {
		g.startOver(f)
		g.rewound(f)
		b, ok = g.randomBlock(f, d)
	}
	return b * g.align[d], ok
}

func (g *Generator) randomBlock(f *file, d job.Dir) (uint64, bool) {
	if g.spr != nil && d == job.Write {
		b, ok := g.spr.next(f.lfsr)
		g.full = g.full || !ok
		return b, ok
	}
	switch g.pick {
	case pickUniform:
		if f.last[d] == 0 {
			return 0, false
		}
		return g.uniformBlock(f, f.last[d])
	case pickSkewed:
		if f.skew == nil {
			return 0, false
		}
		return f.skew.next(), true
	case pickSequence:
		return g.sequenceBlock(f, d)
	}
	return g.zonedBlock(f, d)
}

// uniformBlock draws one of n blocks, or the next free one behind it when the random map says that it is taken.
func (g *Generator) uniformBlock(f *file, n uint64) (uint64, bool) {
	var b uint64
	if f.lfsr != nil {
		var ok bool
		if b, ok = f.lfsr.next(); !ok {
			return 0, false
		}
	} else {
		b = g.offsetRand.Below(n)
	}
	if f.blocks == nil || !f.blocks.visited(b) {
		return b, true
	}
	return f.blocks.nextFree(b)
}

// sequenceBlock follows the list of random_distribution=sequence.
func (g *Generator) sequenceBlock(f *file, d job.Dir) (uint64, bool) {
	n := uint64(len(g.sequence))
	if n == 0 {
		return 0, false
	}
	round, i := g.issues[d]/n, g.issues[d]%n
	b := g.sequence[i]
	if g.stride {
		b += round * n
	}
	if f.length > 0 {
		most := f.length / g.minBS[d]
		if b >= most {
			if g.sequence[i] >= most {
				g.err = fmt.Errorf("random_distribution=sequence: want blocks below %d, the end of the file, got %d", most, g.sequence[i])
			}
			return 0, false
		}
	}
	return b, true
}

// reset puts f back to its start. seed is what a shift register starts over from.
func (f *file) reset(seed uint64) {
	f.rewind()
	switch {
	case f.blocks != nil:
		f.blocks.reset()
	case f.lfsr != nil:
		f.lfsr.reset(seed)
	}
}

// rewind puts the places of f back to its start. A new random map is not touched: most of a huge one may never be.
func (f *file) rewind() {
	for d := range f.pos {
		f.pos[d], f.begin[d] = f.base, nowhere
	}
}

// enterZone moves a strided job to the next zone once it has done its bytes in this one.
func (g *Generator) enterZone(f *file, d job.Dir) {
	if g.zoneBytes >= g.zoneSize {
		g.zoneBytes = 0
		f.base += g.zoneRange + g.zoneSkip
		if f.base >= f.size {
			f.base = f.start
		}
		f.pos[d] = f.base
	}
	if f.pos[d] >= f.base+g.zoneRange {
		f.pos[d] = f.base // zonesize above zonerange: the same zone again
	}
	if g.zoneBytes%g.zoneRange == 0 {
		f.reset(g.seeds[OffsetStream])
	}
}
