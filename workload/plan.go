package workload

import (
	"fiord/engines"
	"fiord/job"
)

// pickKind says how the block of a random I/O is chosen.
type pickKind uint8

const (
	pickUniform pickKind = iota
	pickSkewed
	pickZoned
	pickZonedAbs
	pickSequence
)

// serviceKind says how the next file is chosen.
type serviceKind uint8

const (
	serveRoundRobin serviceKind = iota
	serveSequential
	serveRandom
	serveSkewed
)

// plan is what a job's options come to for the generator: fixed once the job starts.
type plan struct {
	rw         job.RWMode
	trimWrite  bool    // the pair of trim and write
	mixed      bool    // reads and writes
	only       job.Dir // the direction of a job that is not mixed
	async      bool    // I/Os complete later, not inside the submission
	trimAsync  bool    // so do trims
	overlapped bool    // not async, but several I/Os are in flight

	minBS, maxBS, align [job.NDirs]uint64
	fitBS               [job.NDirs]uint64 // the smallest length that can be drawn
	leastBS             uint64            // over all directions
	mostBS              uint64
	splits              [job.NDirs]job.BSSplit
	unaligned           bool
	bsBySeq             bool // lengths go by sequential and random, not by direction

	pick       pickKind
	zones      [job.NDirs]zoneTable
	sequence   []uint64
	stride     bool
	randPct    [job.NDirs]uint64
	noMap      bool
	seqNr      int
	seqAdd     uint64 // two's complement: it may be negative
	identical  bool
	readShare  uint64
	otherShare [2]uint64 // share of the other direction, by Read and Write

	service     serviceKind
	serviceNr   int
	openFiles   int
	timeBased   bool
	rewindWhole bool // io_size is above the range: a writing job starts over in place

	fsync, fdatasync, syncRange uint64

	strided                       bool
	zoneSize, zoneRange, zoneSkip uint64
}

// newPlan works out the fields that need only the job and the number of its files. It takes the job as the loader has
// resolved it: block sizes, alignment, open files and zones without gaps.
func newPlan(j *job.Job, files int) plan {
	p := plan{
		rw: j.RW, trimWrite: j.RW.TrimWrite, mixed: j.RW.Read && j.RW.Write,
		unaligned: j.BSUnaligned, bsBySeq: j.BSIsSeqRand, stride: j.RandomSequenceStride,
		seqNr: max(j.RW.SeqNr, 1), seqAdd: uint64(j.RW.SeqAdd), identical: j.RWSequencer == "identical",
		timeBased: j.TimeBased,
		fsync:     uint64(max(j.Fsync, 0)), fdatasync: uint64(max(j.Fdatasync, 0)),
		noMap: j.NoRandomMap,
	}
	if j.SyncFileRange.Flags != 0 {
		p.syncRange = uint64(max(j.SyncFileRange.Every, 1))
	}
	switch {
	case j.RW.Read:
		p.only = job.Read
	case j.RW.Write:
		p.only = job.Write
	default:
		p.only = job.Trim
	}
	p.readShare = uint64(j.RWMixRead)
	p.otherShare = [2]uint64{uint64(j.RWMixWrite), uint64(j.RWMixRead)}
	p.setEngine(j)
	p.setSizes(j)
	p.setDistribution(j)
	p.setFiles(j, files)
	return p
}

// setEngine finds out whether I/Os complete inside their submission, which changes when fio ends a pass. fio's null
// engine does so at depth 1 only; of the other asynchronous ones none has asynchronous trims.
func (p *plan) setEngine(j *job.Job) {
	if j.EngineDoc == nil {
		return
	}
	null := j.EngineDoc.Name == "null"
	p.async = !j.EngineDoc.Traits.Sync && !(null && j.IODepth <= 1)
	p.trimAsync = p.async && null
	if j.IOSubmitMode == "offload" { // I/Os are in flight, but fio counts what is issued as for a synchronous engine
		p.async, p.trimAsync, p.overlapped = false, false, true
	}
}

func (p *plan) setSizes(j *job.Job) {
	p.leastBS = 1<<64 - 1
	p.minBS, p.maxBS, p.align = j.MinBS, j.MaxBS, j.BA
	for d := range p.minBS {
		p.leastBS = min(p.leastBS, p.minBS[d])
		p.mostBS = max(p.mostBS, p.maxBS[d])
		p.fitBS[d] = p.minBS[d]
		if s := j.BSSplit[d]; len(s) > 0 {
			p.setSplit(d, s)
		}
	}
}

// setSplit takes the mix of lengths of one direction.
func (p *plan) setSplit(d int, s job.BSSplit) {
	p.splits[d] = s
	p.fitBS[d] = 0
	for _, e := range s {
		if e.Percent > 0 && (p.fitBS[d] == 0 || e.BS < p.fitBS[d]) {
			p.fitBS[d] = e.BS
		}
	}
}

func (p *plan) setDistribution(j *job.Job) {
	for d := range p.randPct {
		p.randPct[d] = uint64(max(j.PercentageRandom[d], 0))
	}
	dist := &j.RandomDistribution[job.Read]
	switch dist.Kind {
	case "zipf", "pareto", "normal":
		p.pick = pickSkewed
	case "zoned":
		p.pick = pickZoned
	case "zoned_abs":
		p.pick = pickZonedAbs
	case "sequence":
		p.pick = pickSequence
		for _, n := range dist.Sequence {
			p.sequence = append(p.sequence, uint64(max(n, 0)))
		}
	}
	if p.pick == pickZoned || p.pick == pickZonedAbs {
		for d := range p.zones {
			p.zones[d] = newZoneTable(j.RandomDistribution[d].Zones)
		}
	}
}

func (p *plan) setFiles(j *job.Job, files int) {
	p.openFiles = files
	if j.OpenFiles > 0 {
		p.openFiles = min(files, j.OpenFiles)
	}
	p.serviceNr = max(j.FileServiceType.N, 1)
	switch j.FileServiceType.Kind {
	case "random":
		p.service = serveRandom
	case "sequential":
		p.service = serveSequential
	case "zipf", "pareto", "normal", "gauss":
		p.service, p.serviceNr = serveSkewed, 1
	}
	if j.ZoneMode == "zbd" {
		p.zoneSize, p.zoneSkip = j.ZoneSize, j.ZoneSkip.Value
	}
	if j.ZoneMode == "strided" && j.ZoneSize > 0 {
		p.strided = true
		p.zoneSize, p.zoneRange, p.zoneSkip = j.ZoneSize, max(j.ZoneRange, 1), j.ZoneSkip.Value
	}
}

// startOffset is where the job's range of f starts, as fio works it out during the run: a percentage is of the size that
// the file has after its layout, and file_append starts at its end.
func startOffset(j *job.Job, f *File, leastBS uint64) uint64 {
	size := uint64(f.Size)
	if j.FileAppend {
		return size
	}
	percent := j.Offset.Kind == job.Percent && j.Offset.Value > 0
	stepPercent := j.OffsetIncrement.Kind == job.Percent && j.OffsetIncrement.Value > 0
	if !percent && !stepPercent {
		return uint64(f.Offset)
	}
	step := j.OffsetIncrement.Value
	if stepPercent {
		step = step * size / 100
	}
	at := j.Offset.Value
	if percent {
		at = size * j.Offset.Value / 100
	}
	at += uint64(j.SubJob) * step
	unit := leastBS
	if j.IsSet("offset_align") {
		unit = uint64(j.OffsetAlign)
	}
	if unit == 0 {
		return at
	}
	return (at + unit - 1) / unit * unit
}

// isAsync reports whether fio counts op's bytes as issued when it is queued, not when it is done.
func (p *plan) isAsync(op engines.Op) bool {
	return p.async && (op != engines.Trim || p.trimAsync)
}
