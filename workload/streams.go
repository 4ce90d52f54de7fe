package workload

import (
	"math/rand/v2"

	"fiord/job"
)

// Stream names what a random stream is for. fio gives each purpose a stream of its own, so that, say, a different mix
// of reads and writes leaves the offsets alone.
type Stream int

// The streams, in the order in which their seeds are derived from randseed (fio's FIO_RAND_* numbers).
const (
	BSReadStream Stream = iota
	BSWriteStream
	BSTrimStream
	VerifyStream
	MixStream
	FileStream // which file is next
	OffsetStream
	FileSizeStream
	TrimStream
	BufferStream
	SeqReadStream // random or sequential, for percentage_random; of all three directions
	seqWriteStream
	seqTrimStream
	StartDelayStream
	DedupeStream
	PoissonReadStream
	ZoneStream
	PoissonWriteStream
	PoissonTrimStream
	PrioStream
	DedupeSetStream
	PlacementStream // where the next write is placed
	sprandomStream
	WriteModeStream // which command of write_mode is next
	nStreams
)

// seedMix is the odd number by which seeds are spread.
const seedMix = 0x9e370001

// seeds holds the seed of each stream of one job.
type seeds [nStreams]uint64

// newSeeds derives the seeds of a job: from randseed and the job's number, or, with randrepeat=0 and no randseed given,
// from the system's entropy.
func newSeeds(j *job.Job) *seeds {
	s := new(seeds)
	if !j.RandRepeat && !j.IsSet("randseed") {
		for i := range s {
			s[i] = rand.Uint64()
		}
		return s
	}
	seed := j.RandSeed
	for range 4 {
		seed *= seedMix
	}
	for i := range s {
		s[i] = seed*uint64(j.Number) + uint64(i)
		seed *= seedMix
	}
	return s
}

// stream makes one stream. wide says that the job runs on the 64-bit generator; some streams never do.
func (s *seeds) stream(j *job.Job, st Stream, wide bool) Rand {
	from := st
	switch st {
	case BSWriteStream:
		if verifies(j) { // reads that verify must repeat the lengths of the writes
			from = BSReadStream
		}
	case BSTrimStream:
		if j.RW.TrimWrite { // a write must repeat the length of its trim
			return s.stream(j, BSWriteStream, wide)
		}
	case seqWriteStream, seqTrimStream:
		from = SeqReadStream // fio seeds all three alike
	}
	return NewRand(s[from], wide && mayBeWide(st))
}

// mayBeWide tells the streams that follow random_generator=tausworthe64.
func mayBeWide(st Stream) bool {
	switch st {
	case BSReadStream, BSWriteStream, BSTrimStream, VerifyStream, FileStream, OffsetStream, FileSizeStream, BufferStream,
		StartDelayStream, DedupeSetStream:
		return true
	}
	return false
}

// StreamRand makes the stream that job j uses for s, at its start. Each call makes the stream anew; with randrepeat=0
// and no randseed given each call starts at random.
func StreamRand(j *job.Job, s Stream) *Rand {
	r := newSeeds(j).stream(j, s, wideGenerator(j))
	return &r
}

// Seed is the seed of stream s of job j, for what seeds generators of other kinds from it.
func Seed(j *job.Job, s Stream) uint64 { return newSeeds(j)[s] }

func wideGenerator(j *job.Job) bool { return j.RandomGenerator == "tausworthe64" }

func verifies(j *job.Job) bool { return j.Verify != "" && j.Verify != "0" }

// repeatable reports whether every pass of a job starts its streams anew (randrepeat; giving a randseed turns it off).
func repeatable(j *job.Job) bool { return j.RandRepeat && !j.IsSet("randseed") }
