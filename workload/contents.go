package workload

import (
	"encoding/binary"
	"fmt"

	"fiord/engines"
	"fiord/job"
)

// Filler fills the buffers of a job's writes with what its options ask for, byte for byte as fio does for the same
// seed. It belongs to one job and is not safe for concurrent use; only NewFiller allocates.
type Filler struct {
	kind     contents
	refill   bool // new contents for every write
	scramble bool // a few words change with every write
	write    bool // the job writes at all

	pattern []byte
	formats []job.PatternFormat

	compress int    // percent of each chunk that compresses away
	chunk    uint64 // bytes of a chunk; 0: the least block size
	minWrite uint64 // least block size of writes
	maxBS    uint64 // largest block that a buffer takes

	buf   Rand // the stream that seeds buffers
	dup   dedupe
	start *streamStart // nil: the streams run on from pass to pass

	stamp     int64 // the start that scrambling wrote last, which a batch has in common
	sec, nsec uint64
}

// streamStart is where the streams were before the first buffer.
type streamStart struct{ buf, draw, index Rand }

// contents is what a buffer holds at first.
type contents uint8

const (
	randomData  contents = iota
	zeroData             // zero_buffers, or everything compressible
	patternData          // buffer_pattern
	mixedData            // random and compressible parts, or duplicates
)

// NewFiller makes the filler of j. all is every job of the run in order; only dedupe_global needs it, because its jobs
// write the same blocks. It fails when a dedupe working set is too large to hold.
func NewFiller(j *job.Job, all ...*job.Job) (*Filler, error) {
	f := &Filler{
		write:    j.RW.Write,
		pattern:  j.BufferPattern.Bytes,
		formats:  j.BufferPattern.Formats,
		compress: j.BufferCompressPercentage,
		chunk:    uint64(max(j.BufferCompressChunk, 0)),
		minWrite: max(j.MinBS[job.Write], 1),
		maxBS:    largestBlock(j),
		refill:   j.RefillBuffers || len(j.BufferPattern.Formats) > 0,
		buf:      *StreamRand(j, BufferStream),
	}
	zero := j.ZeroBuffers
	if f.compress >= 100 {
		zero, f.compress = true, 0
	}
	switch {
	case f.compress > 0 || j.DedupePercentage > 0:
		f.kind = mixedData
	case len(f.pattern) > 0:
		f.kind = patternData
	case zero:
		f.kind = zeroData
	}
	// Scrambling would spoil what compresses or repeats, and verification would find it.
	mixed := j.IsSet("buffer_compress_percentage") || j.IsSet("dedupe_percentage") || f.kind == mixedData
	f.scramble = j.ScrambleBuffers && !f.refill && !mixed && !verifies(j)
	var err error
	f.dup, err = newDedupe(j, f.minWrite, f.chunk, f.buf, all)
	if repeatable(j) {
		f.start = &streamStart{f.buf, f.dup.draw, f.dup.index}
	}
	return f, err
}

// NextPass puts the streams back to their start, as fio does between two passes of a job whose random numbers repeat.
// The first pass does not start there: layout and buffers have drawn from the streams before it.
func (f *Filler) NextPass() {
	if f.start != nil {
		f.buf, f.dup.prev = f.start.buf, f.start.buf
		f.dup.draw, f.dup.index = f.start.draw, f.start.index
	}
}

// PerIO reports whether Fill has anything to do for this job's writes.
func (f *Filler) PerIO() bool { return f.write && (f.refill || f.scramble) }

// Refills reports whether Fill makes the contents anew for each write, rather than changing a few words. As with fio, an
// I/O starts after the former and before the latter.
func (f *Filler) Refills() bool { return f.write && f.refill }

// Init fills the buffer of one IO before the run, as far as the largest block reaches: what lies behind it is padding.
// Buffers must be given in the order of their IOs.
func (f *Filler) Init(buf []byte) {
	if f.write {
		f.fill(buf[:min(uint64(len(buf)), f.maxBS)], f.minWrite, 0)
	}
}

// largestBlock is the largest block that a buffer of j takes: trims need none, but for a job that writes what it trims.
func largestBlock(j *job.Job) uint64 {
	hi := max(j.MaxBS[job.Read], j.MaxBS[job.Write])
	if j.RW.TrimWrite {
		hi = max(hi, j.MaxBS[job.Trim])
	}
	return max(hi, 1)
}

// Block fills one block of a file that is laid out; off is where in the file it goes.
func (f *Filler) Block(buf []byte, off int64) { f.fill(buf, uint64(len(buf)), off) }

// Fill prepares the buffer of one write. The worker must have stamped u.Start, which scrambling writes into the buffer,
// and must not call it for a job whose PerIO is false.
func (f *Filler) Fill(u *engines.IO) {
	if u.Op != engines.Write {
		return
	}
	if f.refill {
		f.fill(u.Buf, f.minWrite, u.Offset)
	} else {
		if u.Start != f.stamp {
			f.stamp = u.Start
			f.sec, f.nsec = uint64(u.Start)/1e9, uint64(u.Start)%1e9
		}
		scramble(u.Buf, uint64(u.Offset), f.sec, f.nsec)
	}
}

// fill gives buf its contents. Its size decides nothing but for mixed data, which comes in pieces of unit bytes at most.
func (f *Filler) fill(buf []byte, unit uint64, off int64) {
	switch f.kind {
	case randomData:
		fillRandom(buf, f.buf.seed())
	case zeroData:
		clear(buf)
	case patternData:
		f.fillPattern(buf, off)
	case mixedData:
		f.fillMixed(buf, unit)
	}
}

// fillPattern repeats the pattern over buf. Its formats stand for the offset of the whole I/O, also in the repeats.
func (f *Filler) fillPattern(buf []byte, off int64) {
	n := copy(buf, f.pattern)
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], uint64(off))
	for _, p := range f.formats {
		if p.Offset < n {
			copy(buf[p.Offset:n], word[:])
		}
	}
	repeat(buf, n)
}

// repeat fills buf with copies of its first n bytes.
func repeat(buf []byte, n int) {
	for n > 0 && n < len(buf) {
		n += copy(buf[n:], buf[:n])
	}
}

// scrambleUnit is the block size below which duplicates are not looked for by storage, and line a cache line of it.
const (
	scrambleUnit = 512
	line         = 64
)

// scramble makes the blocks of a buffer differ from the last time it was written: in each 512 bytes the offset goes to
// the start of a cache line, and the time to the end of the first one.
func scramble(buf []byte, off, sec, nsec uint64) {
	at := (nsec ^ off) % (scrambleUnit / line) * line
	for ; len(buf) >= scrambleUnit; buf, off = buf[scrambleUnit:], off+scrambleUnit {
		unit := (*[scrambleUnit]byte)(buf)
		binary.LittleEndian.PutUint64(unit[at:at+8], off)
		binary.LittleEndian.PutUint64(unit[line-16:line-8], sec)
		binary.LittleEndian.PutUint64(unit[line-8:line], nsec)
	}
}

// seed draws the seed of one buffer: two values of the stream multiplied.
func (r *Rand) seed() uint64 {
	n := r.Next()
	return n * r.Next()
}

// golden is 2^64 divided by the golden ratio, odd: multiplying by it is the whole generator.
const golden = 0x61C8864680B583EB

// FillRandom fills buf with the contents that fio makes of a seed.
func FillRandom(buf []byte, seed uint64) { fillRandom(buf, seed) }

// NextSeed draws the seed of one buffer.
func (r *Rand) NextSeed() uint64 { return r.seed() }

// fillRandom fills buf from a seed: four chains, interleaved word by word, so that their multiplications overlap. What
// four words do not fill continues the first chain.
func fillRandom(buf []byte, seed uint64) {
	fillScalar(fillFast(buf, seed, seed*2, seed*3, seed*5))
}

// fillScalar fills buf from where the four chains stand.
func fillScalar(buf []byte, a, b, c, d uint64) {
	for len(buf) >= 32 {
		w := buf[:32:32]
		binary.LittleEndian.PutUint64(w[0:8], a)
		binary.LittleEndian.PutUint64(w[8:16], b)
		binary.LittleEndian.PutUint64(w[16:24], c)
		binary.LittleEndian.PutUint64(w[24:32], d)
		a, b, c, d = a*golden, b*golden, c*golden, d*golden
		buf = buf[32:]
	}
	for ; len(buf) >= 8; buf = buf[8:] {
		binary.LittleEndian.PutUint64(buf, a)
		a *= golden
	}
	var rest [8]byte
	binary.LittleEndian.PutUint64(rest[:], a)
	copy(buf, rest[:])
}

// fillMixed fills buf piece by piece, each in part random and in part compressible, all new or all a duplicate.
func (f *Filler) fillMixed(buf []byte, unit uint64) {
	from := f.dup.choose(f.buf)
	r := from.state
	for len(buf) > 0 {
		n := min(unit, uint64(len(buf)))
		if f.chunk > 0 {
			n = min(n, f.chunk)
		}
		f.fillPiece(buf[:n], r.seed())
		buf = buf[n:]
		if f.dup.percent == 100 {
			r = from.state // every piece is the same, for ever
		}
	}
	if from.fresh {
		f.buf, f.dup.prev = r, r
	}
}

// fillPiece makes the first part of a piece random and the rest compressible: zeros, or the pattern.
func (f *Filler) fillPiece(p []byte, seed uint64) {
	n := uint64(len(p)) * uint64(100-f.compress) / 100
	fillRandom(p[:n], seed)
	rest := p[n:]
	if len(f.pattern) > 0 {
		repeat(rest, copy(rest, f.pattern))
	} else {
		clear(rest)
	}
}

// tooManyPages bounds a dedupe working set; its states take up to 40 bytes a page.
const tooManyPages = 1 << 31

func pagesError(n uint64) error {
	return fmt.Errorf("dedupe working set: %d pages are too many to hold; lower dedupe_working_set_percentage", n)
}
