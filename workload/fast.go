package workload

import "fiord/engines"

// fastKind names the plain jobs that have a loop of their own: one file, one direction, one block size, nothing in
// between.
type fastKind uint8

const (
	fastNone fastKind = iota
	fastSequential
	fastRandom // no random map
	fastMapped // with a random map
)

// chooseFast picks the loop for the job, once its only file is open.
func (g *Generator) chooseFast() {
	g.fast, g.quota = fastNone, 0
	f := &g.files[0]
	d := g.only
	plain := len(g.files) == 1 && !g.mixed && !g.trimWrite && g.pace == nil && !g.strided && g.zbd == nil && g.minBS[d] == g.maxBS[d] &&
		!g.bsBySeq && g.mostRanges == 0 && g.fsync == 0 && g.fdatasync == 0 && g.syncRange == 0 && f.open && !f.closing &&
		!f.done && g.err == nil
	if !plain {
		return
	}
	if !g.rw.Random {
		if g.seqAdd == 0 {
			g.fast = fastSequential
		}
		return
	}
	fits := min(f.length, f.size) >= g.minBS[d] && f.base <= f.size && min(f.length, f.size) <= f.size-f.base
	if g.pick != pickUniform || g.wide || g.randPct[d] != 100 || g.seqNr != 1 || f.lfsr != nil || !fits || f.last[d] == 0 {
		return
	}
	g.fast = fastRandom
	f.scale = float64(f.last[d]) * fraction32 // a power of two: no digit is lost, whatever it is multiplied by first
	if f.blocks != nil {
		g.fast = fastMapped
		if g.minBS[d] != g.align[d] || f.blocks.blocks != f.last[d] {
			g.fast = fastNone // the map is of smaller blocks, or reaches farther
		}
	}
}

// maxQuota keeps a quota an int that a batch can be cut to.
const maxQuota = 1 << 30

// allowed is how many I/Os of size bytes may be issued before the pass ends.
func (g *Generator) allowed(size uint64) uint64 {
	if g.beyond != withinLimits {
		return 1 // it may end at any time
	}
	if g.pauses {
		return (g.passLimit - min(g.passQueued, g.passLimit) + size - 1) / size
	}
	if g.timeBased {
		return maxQuota
	}
	if g.exhausted() {
		return 0
	}
	n := (g.limit - g.issuedBytes() + size - 1) / size
	if g.async {
		n = min(n, (g.passLimit-g.passQueued+size-1)/size)
	}
	if g.numberIOs != 0 {
		n = min(n, g.numberIOs*g.loops-g.done)
	}
	return n
}

// newQuota is how many I/Os the plain loop may give before Next must look: at the end of the range or of the pass.
func (g *Generator) newQuota() int {
	size := g.minBS[g.only]
	n := min(g.allowed(size), maxQuota)
	if g.fast == fastSequential {
		f := &g.files[0]
		at, end := f.pos[g.only], f.size
		if f.base < f.size {
			end = f.base + min(f.length, f.size-f.base)
		}
		if at >= end {
			return 0
		}
		n = min(n, (end-at+size-1)/size, (f.size-at)/size)
	}
	return int(n)
}

// fillFast fills reqs as far as the plain loop goes; 0 means that Next must look.
func (g *Generator) fillFast(reqs []Req) int {
	if g.quota == 0 {
		g.quota = g.newQuota()
	}
	n := min(len(reqs), g.quota)
	if n == 0 {
		return 0
	}
	f := &g.files[0]
	d := g.only
	size := g.minBS[d]
	switch g.fast {
	case fastSequential:
		g.fillSequential(f, reqs[:n], size)
	case fastRandom:
		g.fillRandom(f, reqs[:n], size)
	default:
		if n = g.fillMapped(f, reqs[:n], size); n == 0 {
			return 0
		}
	}
	g.quota -= n
	g.offset = uint64(reqs[n-1].Offset)
	f.begin[d], f.pos[d] = g.offset, g.offset+size
	g.rwmixDir = d
	g.account(engines.Op(d), uint64(n), size)
	return n
}

func (g *Generator) fillSequential(f *file, reqs []Req, size uint64) {
	op := engines.Op(g.only)
	at := int64(f.pos[g.only])
	for i := range reqs {
		reqs[i] = Req{Op: op, Offset: at, Len: int(size)}
		at += int64(size)
	}
}

func (g *Generator) fillRandom(f *file, reqs []Req, size uint64) {
	op := engines.Op(g.only)
	scale, align, base := f.scale, int64(g.align[g.only]), int64(f.base)
	t := g.offsetRand.t32
	for i := range reqs {
		b := int64(scale * float64(t.next()))
		reqs[i] = Req{Op: op, Offset: base + b*align, Len: int(size)}
	}
	g.offsetRand.t32 = t
}

// fillMapped stops when every block has been visited.
func (g *Generator) fillMapped(f *file, reqs []Req, size uint64) int {
	op := engines.Op(g.only)
	scale, base, m := f.scale, int64(f.base), f.blocks
	t := g.offsetRand.t32
	for i := range reqs {
		before := t
		b := uint64(int64(scale * float64(t.next())))
		if m.visited(b) {
			var ok bool
			if b, ok = m.nextFree(b); !ok {
				g.offsetRand.t32 = before // Next draws again and finds the same
				return i
			}
		}
		m.mark(b)
		reqs[i] = Req{Op: op, Offset: base + int64(b*size), Len: int(size)}
	}
	g.offsetRand.t32 = t
	return len(reqs)
}
