package workload

import (
	"errors"
	"fmt"

	"fiord/engines"
	"fiord/job"
)

// Generator gives the I/Os of one job in fio's order. One goroutine uses it.
type Generator struct {
	plan
	files []file

	// Where the schedule stands.
	issues     [job.NDirs]uint64 // I/Os issued since the start, or the end of the ramp
	bytes      [job.NDirs]uint64 // bytes issued since the start
	done       uint64            // data I/Os issued that have not failed: what number_ios counts
	passQueued uint64            // bytes of this pass that were issued asynchronously
	lastOp     engines.Op
	offset     uint64 // of the last I/O: a sync is logged with it
	rwmixDir   job.Dir
	rwmixUntil uint64 // I/Os of rwmixDir after which the direction is drawn again
	seqLeft    int
	unmarked   bool // the I/O in the making leaves the random map alone
	zoneBytes  uint64

	// The choice of the file.
	current     int // -1: none
	nextIndex   int
	serviceLeft int
	filesOpen   int
	filesDone   int
	inflight    int // of a job that tracks completions
	tracked     bool

	// Where passes end.
	size, ioSize uint64
	loops        uint64
	limit        uint64 // bytes over all loops
	numberIOs    uint64 // 0: no limit
	passLimit    uint64 // asynchronous bytes of one pass
	givenIOSize  bool
	beyond       Limits
	pauses       bool // it goes by time, but its passes end all the same, to be verified
	restart      bool // each pass starts with no file done
	reseed       bool

	seeds      *seeds
	wide       bool
	bsRand     [job.NDirs]Rand
	pctRand    [job.NDirs]Rand
	mixRand    Rand
	fileRand   Rand
	fileSkew   *skewed
	offsetRand Rand
	zoneRand   Rand
	spr        *sprandom // nil: no sprandom
	sprRand    Rand
	full       bool // sprandom has written all of the drive
	mostRanges int  // ranges of one trim, when there are several; else 0
	ranges     []engines.Range

	zbd Zones // nil: no zonemode=zbd

	fast   fastKind
	one    [1]Req // what Next fills
	spent  bool   // the only file had no room for the I/O that was tried last
	quota  int    // I/Os that the plain loop may give before its limits are looked at again
	job    *job.Job
	events Events
	closer ClosingEvents
	rewind RewindEvents
	pace   func(job.Dir) job.Dir
	err    error
	notes  []string
}

// file is one file in the generator's eyes. Offsets are of the whole file unless they say otherwise.
type file struct {
	start, length, size uint64            // the job's range, and the file's size
	base                uint64            // start of the range, or of the zone that is in use
	pos                 [job.NDirs]uint64 // end of the last I/O
	begin               [job.NDirs]uint64 // start of the last I/O, or nowhere
	last                [job.NDirs]uint64 // how many blocks a random I/O can choose from
	scale               float64           // of the plain loop: the same, by the range of what is drawn
	blocks              *blockMap
	lfsr                *lfsr
	skew                *skewed
	refs                int // I/Os in flight of a job that tracks completions
	open, closing, done bool
	number              int // place among the files
}

const nowhere = ^uint64(0)

var errNoFiles = errors.New("workload: the job has no file")

// New makes the generator of a job, at the start of its first pass. It fails when the job has no file, a block size is
// 0, or the random map or the generator of the offsets does not fit the files.
func New(cfg Config) (*Generator, error) {
	j := cfg.Job
	if len(cfg.Files) == 0 {
		return nil, errNoFiles
	}
	g := &Generator{plan: newPlan(j, len(cfg.Files)), job: j, events: cfg.Events, pace: cfg.Pace, current: -1, seqLeft: 1, zbd: cfg.Zones}
	for d, bs := range g.minBS {
		if bs == 0 || g.maxBS[d] < bs || g.align[d] == 0 {
			return nil, fmt.Errorf("workload: block sizes of %ss: want above 0, got %d to %d, aligned to %d", job.Dir(d), bs,
				g.maxBS[d], g.align[d])
		}
	}
	g.closer, _ = cfg.Events.(ClosingEvents)
	g.rewind, _ = cfg.Events.(RewindEvents)
	g.tracked = (g.async || g.overlapped) && len(cfg.Files) > 1
	g.seeds, g.wide = newSeeds(j), wideGenerator(j)
	g.setLimits(cfg)
	g.setRanges(j)
	if err := g.setFiles(cfg); err != nil {
		return nil, err
	}
	if j.Sprandom {
		if err := g.setSprandom(cfg); err != nil {
			return nil, err
		}
	}
	g.seed(wideGenerator(j))
	return g, nil
}

func (g *Generator) setLimits(cfg Config) {
	j := cfg.Job
	g.size, g.ioSize = cfg.TotalSize, cfg.IOSize
	if g.ioSize == 0 {
		g.ioSize = g.size
	}
	g.givenIOSize = j.IOSize.Value > 0 && j.IOSize.Kind == job.Bytes
	if j.Sprandom {
		g.ioSize, g.givenIOSize = physicalSize(j.SPROP, uint64(min(cfg.Files[0].Length, cfg.Files[0].Size)), j.BS[job.Write]), true
	}
	g.loops = uint64(max(j.Loops, 1))
	g.limit = g.ioSize * g.loops
	g.numberIOs = j.NumberIOs
	g.rewindWhole = j.RW.Write && g.ioSize > g.size
	g.restart = g.timeBased || g.loops > 1 || j.DoVerify || g.ioSize > g.size
	g.reseed = repeatable(j)
	g.passLimit = g.size
	if j.RW.Write && (!j.RW.Random || g.noMap) {
		g.passLimit = max(g.size, g.ioSize)
	}
	if verifies(j) && j.RW.Write && j.VerifyBacklog > 0 {
		g.passLimit += g.size // the reads of the backlog count too
	}
	g.pauses = g.timeBased && verifies(j) && g.async
	if g.trimWrite {
		g.passLimit += g.limit
		g.numberIOs *= 2
	}
}

// setFiles prepares the files: random maps, registers, and the distributions that are seeded by a file's name.
func (g *Generator) setFiles(cfg Config) error {
	g.files = make([]file, len(cfg.Files))
	zeta := map[uint64]*skewed{}
	for i := range g.files {
		f, c := &g.files[i], &cfg.Files[i]
		*f = file{start: startOffset(g.job, c, g.leastBS), length: uint64(c.Length), size: uint64(c.Size), base: uint64(c.Offset), number: i}
		for d := range f.last {
			f.last[d] = g.lastBlock(f, job.Dir(d))
		}
		if !g.rw.Random {
			f.rewind()
			continue
		}
		if err := g.setRandom(f, c.Name, zeta, cfg.Memory); err != nil {
			return err
		}
		f.rewind()
	}
	return nil
}

// lastBlock is how many blocks a random I/O of direction d can choose from.
func (g *Generator) lastBlock(f *file, d job.Dir) uint64 {
	room := min(f.length, f.size)
	if g.strided {
		room = g.zoneRange
	}
	if g.minBS[d] > g.align[d] {
		room -= g.minBS[d] - g.align[d]
	}
	return room / g.align[d]
}

func (g *Generator) setRandom(f *file, name string, zeta map[uint64]*skewed, memory func(uint64) (Block, error)) error {
	room := min(f.length, f.size)
	switch {
	case g.pick == pickSkewed:
		unit := min(g.minBS[job.Read], g.minBS[job.Write])
		n := (room + unit - 1) / unit
		if n == 0 {
			return nil
		}
		seed := uint64(nameHash(name)) * uint64(g.job.Number) * g.seeds[OffsetStream]
		f.skew = skewedLike(zeta[n], &g.job.RandomDistribution[job.Read], n, uint32(seed))
		zeta[n] = f.skew
		return nil
	case g.pick == pickSequence:
		return nil
	case g.strided:
		room = g.zoneRange
	}
	blocks := room / g.leastBS
	if blocks > 1<<32-1 && g.job.RandomGenerator != "lfsr" && !g.wide && !g.job.IsSet("random_generator") {
		g.wide = true
		g.note("file " + name + " has more blocks than the 32-bit random generator can tell apart: switched to tausworthe64")
	}
	var err error
	switch {
	case g.job.RandomGenerator == "lfsr":
		f.lfsr, err = newLFSR(blocks, g.seeds[OffsetStream])
	case !g.noMap:
		f.blocks, err = newBlockMap(blocks, memory)
		if err != nil && g.job.SoftRandomMap {
			g.note("file " + name + ": no memory for its random map, it goes without (softrandommap)")
			err = nil
		}
	}
	return err
}

// skewedLike makes a file's distribution; what depends on the range alone is taken over from like, which is costly to
// compute for large files.
func skewedLike(like *skewed, dist *job.Distribution, n uint64, seed uint32) *skewed {
	kind := skewKinds[dist.Kind]
	if like == nil || kind != skewZipf {
		return newSkewed(kind, n, dist.Param, dist.Center, seed, true)
	}
	s := *like
	s.rand = seedTaus88(seed)
	s.shift = uint64(s.rand.next())
	if dist.Center >= 0 {
		s.shift = like.shift
	}
	return &s
}

// seed starts the random streams. The streams that pick the next file start anew in each pass too; those behind the
// distributions of blocks run through all passes.
//
// When the 64-bit generator was taken for the sake of a file's size, the first pass has it for the offsets alone, later
// ones for every stream: wide is for the others.
func (g *Generator) seed(wide bool) {
	j := g.job
	for d := range g.bsRand {
		g.bsRand[d] = g.seeds.stream(j, BSReadStream+Stream(d), wide)
		g.pctRand[d] = g.seeds.stream(j, SeqReadStream, false)
	}
	g.mixRand = g.seeds.stream(j, MixStream, wide)
	g.zoneRand = g.seeds.stream(j, ZoneStream, wide)
	g.offsetRand = g.seeds.stream(j, OffsetStream, g.wide)
	switch g.service {
	case serveRandom:
		g.fileRand = g.seeds.stream(j, FileStream, wide)
	case serveSkewed:
		t := &j.FileServiceType
		center := -1.0
		if t.Centered {
			center = t.Center
		}
		n := uint64(len(g.files)) << serviceShift
		g.fileSkew = newSkewed(skewKinds[t.Kind], n, t.Param, center, uint32(g.seeds[FileStream]), false)
	}
}
