package workload

import "fiord/engines"

// Other counts an I/O that the caller issues beside the generator's: a read or trim of what the job has written before.
// It counts for number_ios and for what a pass may queue, as in fio.
func (g *Generator) Other(op engines.Op, bytes uint64) {
	g.done++
	if g.isAsync(op) {
		g.passQueued += bytes
	}
	g.quota = 0
}

// Hold keeps file i from being closed until the next Completed of it; for I/Os beside the generator's, of a job that needs
// completions.
func (g *Generator) Hold(i int) {
	if g.tracked {
		g.files[i].refs++
		g.inflight++
	}
}

// Limits says how far a pass goes.
type Limits uint8

// The limits of a pass. Replays have none, since they repeat what has been issued within them.
const (
	withinLimits Limits = iota
	pastLimits          // what one pass may queue still counts
)

// Beyond lets the generator go on though the job has issued all that it may, as fio does while writes wait to be trimmed.
func (g *Generator) Beyond(on bool) {
	before := g.beyond
	if g.beyond = withinLimits; on {
		g.beyond = pastLimits
	}
	if before != g.beyond {
		g.quota = 0
	}
}

// Replayed takes back that the last I/O, a write or trim of n bytes, was issued as such: it is issued as a read.
func (g *Generator) Replayed(op engines.Op, n uint64) {
	g.issues[op]--
	g.bytes[op] -= n
	g.issues[engines.Read]++
	g.bytes[engines.Read] += n
	if g.isAsync(op) {
		g.passQueued -= n
	}
}

// Exhausted reports whether the pass has issued all that the job may, leaving aside that some jobs go by time.
func (g *Generator) Exhausted() bool { return g.exhausted() }

// OffsetState is where the stream of the offsets stands: the words of its generator, and whether that is the 64-bit one.
func (g *Generator) OffsetState() (wide bool, words []uint64) {
	if t := &g.offsetRand.t64; g.offsetRand.wide {
		return true, []uint64{t.s1, t.s2, t.s3, t.s4, t.s5}
	}
	t := &g.offsetRand.t32
	return false, []uint64{uint64(t.s1), uint64(t.s2), uint64(t.s3)}
}
