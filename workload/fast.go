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
	g.fast = fastNone
	f := &g.files[0]
	d := g.only
	plain := len(g.files) == 1 && !g.mixed && !g.trimWrite && g.pace == nil && !g.strided && g.minBS[d] == g.maxBS[d] &&
		!g.bsBySeq && g.barrier == 0 && g.fsync == 0 && g.fdatasync == 0 && g.syncRange == 0 && f.open && !f.closing &&
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
	if f.blocks != nil {
		if g.minBS[d] != g.align[d] {
			g.fast = fastNone
			return
		}
		g.fast = fastMapped
	}
}

// allowed is how many of want I/Os of size bytes may be issued before the pass ends.
func (g *Generator) allowed(want int, size uint64) int {
	if g.timeBased {
		return want
	}
	bytes := g.issuedBytes()
	if bytes >= g.limit || g.passQueued >= g.passLimit {
		return 0
	}
	left := (g.limit - bytes + size - 1) / size
	if g.async {
		left = min(left, (g.passLimit-g.passQueued+size-1)/size)
	}
	if g.numberIOs != 0 {
		most := g.numberIOs * g.loops
		if g.done >= most {
			return 0
		}
		left = min(left, most-g.done)
	}
	return int(min(left, uint64(want)))
}

// fillFast fills reqs as far as the plain loop goes. 0 means that Next must look at what happens: the end of the range or
// of the pass.
func (g *Generator) fillFast(reqs []Req) int {
	d := g.only
	size := g.minBS[d]
	n := g.allowed(len(reqs), size)
	if n == 0 {
		return 0
	}
	f := &g.files[0]
	switch g.fast {
	case fastSequential:
		n = g.fillSequential(f, reqs[:n], size)
	case fastRandom:
		g.fillRandom(f, reqs[:n], size)
	default:
		n = g.fillMapped(f, reqs[:n], size)
	}
	if n == 0 {
		return 0
	}
	op := engines.Op(d)
	g.offset = uint64(reqs[n-1].Offset)
	f.begin[d], f.pos[d] = g.offset, g.offset+size
	g.zoneBytes += uint64(n) * size
	g.rwmixDir = d
	g.account(op, uint64(n), size)
	return n
}

// fillSequential stops where the range or the file ends.
func (g *Generator) fillSequential(f *file, reqs []Req, size uint64) int {
	at := f.pos[g.only]
	end := min(f.base+f.length, f.size)
	if at >= end || f.size-at < size {
		return 0
	}
	n := min(uint64(len(reqs)), (end-at+size-1)/size, (f.size-at)/size)
	op := engines.Op(g.only)
	for i := range reqs[:n] {
		reqs[i] = Req{Op: op, Offset: int64(at), Len: int(size)}
		at += size
	}
	return int(n)
}

func (g *Generator) fillRandom(f *file, reqs []Req, size uint64) {
	op := engines.Op(g.only)
	blocks, align, base := float64(f.last[g.only]), int64(g.align[g.only]), int64(f.base)
	t := g.offsetRand.t32
	for i := range reqs {
		b := int64(blocks * (float64(t.next()) * fraction32))
		reqs[i] = Req{Op: op, Offset: base + b*align, Len: int(size)}
	}
	g.offsetRand.t32 = t
}

// fillMapped stops when every block has been visited.
func (g *Generator) fillMapped(f *file, reqs []Req, size uint64) int {
	op := engines.Op(g.only)
	blocks, base, m := float64(f.last[g.only]), int64(f.base), f.blocks
	t := g.offsetRand.t32
	for i := range reqs {
		before := t
		b := uint64(int64(blocks * (float64(t.next()) * fraction32)))
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
