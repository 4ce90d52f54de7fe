package workload

import (
	"errors"
	"fmt"
	"math"

	"fiord/job"
)

// sprandom gives the offsets of sprandom=1: one pass over the physical capacity of a drive that leaves it as random writes
// would in the long run. The drive is taken as regions of equal size, filled one after another. Of each region a share of
// the blocks, smaller from region to region, is written again later, which makes the first copies invalid: right after the
// region, or, with a cache that would swallow the first copy, one region later.
//
// The shares follow Desnoyers, "Analytic Models of SSD Write Performance" (2012): in the steady state the validity of a
// region times the space that regions of this validity take is the same for all.
type sprandom struct {
	invalid   []uint64 // ten-thousandths of each region's writes that are to be written again
	perRegion uint64   // writes that fill a region
	deferred  bool     // spr_cs: blocks are written again at the end of the next region, not at its start

	region uint64 // the one being filled; the number of regions behind the last
	left   uint64 // writes that it still takes from the register
	due    []uint64
	staged []uint64 // to become due with the next region
	counts [2]uint64
	phase  int

	rand *Rand
}

// wholeShare is the share of all writes of a region, in the unit of sprandom.invalid.
const wholeShare = 10000

// physicalSize is the capacity of a drive that offers logical bytes: with the space that it keeps for itself, in whole
// blocks.
func physicalSize(overProvisioning float64, logical, block uint64) uint64 {
	size := logical + uint64(math.Ceil(float64(logical)*overProvisioning))
	return size - size%block
}

var errOneFile = errors.New("sprandom: want one file")

// newSprandom plans the writes of a job of blocks of block bytes on a range of logical bytes. The numbers that choose what
// is written again come from rand.
func newSprandom(j *job.Job, logical, block uint64, rand *Rand) (*sprandom, error) {
	regions := uint64(max(j.SPRNumRegions, 1))
	total := physicalSize(j.SPROP, logical, block)
	size := total / regions
	if least := max(j.SPRCS, block); size < least {
		return nil, fmt.Errorf("sprandom: a region must hold a block and not less than spr_cs, %d bytes: want spr_num_regions of %d at most, got %d",
			least, total/least, regions)
	}
	s := &sprandom{perRegion: size / block, deferred: j.SPRCS > 0, rand: rand}
	s.left = s.perRegion
	for _, v := range regionValidity(int(regions), j.SPROP) {
		s.invalid = append(s.invalid, uint64(math.Round((1-v)*wholeShare)))
	}
	return s, nil
}

// regionValidity is the share of valid blocks, between 0 and 1, that each of n regions of equal size ends with, the one
// written first and therefore the least valid in front.
//
// The validity that garbage collection finds follows from the write amplification, about 0.5/op + 0.7. Between it and 1,
// n steps of validity have sizes of 1/validity each; that curve is then read at n equal steps of size. The order of the
// operations on floating-point numbers is fio's, since a rounding decides what a region repeats.
func regionValidity(n int, overProvisioning float64) []float64 {
	least := 1 - 1/(0.5/overProvisioning+0.7)
	validity := evenSteps(1, least, n)
	if n == 1 {
		return validity
	}
	size := make([]float64, n) // of all regions up to this one
	sum := 0.0
	for i, v := range validity {
		sum += 1 / v
		size[i] = sum
	}
	out := make([]float64, n)
	at := 0
	for i, x := range evenSteps(size[0], size[n-1], n) {
		for at < n-2 && x > size[at+1] {
			at++
		}
		out[n-1-i] = interpolate(x, size[at:], validity[at:])
	}
	return out
}

// evenSteps is n numbers from the first to the last at equal distances.
func evenSteps(first, last float64, n int) []float64 {
	steps := make([]float64, n)
	steps[0] = first
	if n == 1 {
		return steps
	}
	step := (last - first) / (float64(n) - 1)
	for i := range steps {
		steps[i] = first + float64(float64(i)*step)
	}
	return steps
}

// interpolate reads the curve through the first two points of xs, which rise, and ys at x; outside them it is flat.
func interpolate(x float64, xs, ys []float64) float64 {
	switch {
	case x <= xs[0]:
		return ys[0]
	case x >= xs[1]:
		return ys[1]
	}
	return ys[0] + float64((ys[1]-ys[0])*((x-xs[0])/(xs[1]-xs[0])))
}

// next is the next block to write, fresh ones from the register. It reports false when the drive is full.
func (s *sprandom) next(fresh *lfsr) (uint64, bool) {
	if !s.deferred && len(s.due) > 0 {
		return s.again(), true
	}
	if s.left == 0 {
		if s.deferred && len(s.due) > 0 {
			return s.again(), true
		}
		if s.region >= uint64(len(s.invalid)) {
			return 0, false
		}
		s.nextRegion()
	}
	b, ok := fresh.next()
	if !ok {
		if !s.deferred || len(s.due) == 0 {
			return 0, false
		}
		b, s.due = s.due[0], s.due[1:]
		return b, true
	}
	if s.left > 0 {
		s.left--
	}
	s.maybeRepeat(b)
	return b, true
}

// again takes a block that is due; it may be written once more later.
func (s *sprandom) again() uint64 {
	b := s.due[0]
	s.due = s.due[1:]
	s.maybeRepeat(b)
	return b
}

// nextRegion makes due what was put aside, and leaves room for it in the region.
func (s *sprandom) nextRegion() {
	s.counts[s.phase] = 0
	s.region++
	s.phase ^= 1
	s.left = s.perRegion - s.counts[s.phase]
	s.due, s.staged = append(s.due, s.staged...), s.staged[:0]
}

// maybeRepeat puts b aside with the probability of the region.
func (s *sprandom) maybeRepeat(b uint64) {
	share := uint64(0) // behind the last region
	if s.region < uint64(len(s.invalid)) {
		share = s.invalid[s.region]
	}
	if s.rand.Between(0, wholeShare) <= share {
		s.staged = append(s.staged, b)
		s.counts[s.phase^1]++
	}
}

// setSprandom prepares the generator of a job with sprandom=1: its io_size is the physical capacity.
func (g *Generator) setSprandom(cfg Config) error {
	if len(g.files) != 1 {
		return errOneFile
	}
	f := &g.files[0]
	if f.lfsr == nil {
		return errors.New("sprandom: want random_distribution=random and random_generator=lfsr")
	}
	g.sprRand = g.seeds.stream(cfg.Job, sprandomStream, false)
	var err error
	g.spr, err = newSprandom(cfg.Job, min(f.length, f.size), cfg.Job.BS[job.Write], &g.sprRand)
	return err
}
