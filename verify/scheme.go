package verify

import (
	"encoding/binary"
	"fmt"

	"fiord/internal/checksum"
	"fiord/job"
	"fiord/workload"
)

// Type is a checksum or pattern method by its number in the header.
type Type uint8

// The types; the numbers are fio's and on the medium.
const (
	None Type = iota
	Meta
	MD5
	CRC64
	CRC32
	CRC32C
	CRC32CIntel
	CRC16
	CRC7
	SHA256
	SHA512
	SHA3224
	SHA3256
	SHA3384
	SHA3512
	XXHash
	SHA1
	PatternHeader // pattern_hdr
	Pattern       // a pattern alone, without headers
	Null          // nothing is checked
	nTypes
)

var types = map[string]Type{
	"meta": Meta, "md5": MD5, "crc64": CRC64, "crc32": CRC32, "crc32c": CRC32C, "crc32c-intel": CRC32C, "crc16": CRC16,
	"crc7": CRC7, "sha256": SHA256, "sha512": SHA512, "sha3-224": SHA3224, "sha3-256": SHA3256, "sha3-384": SHA3384,
	"sha3-512": SHA3512, "xxhash": XXHash, "sha1": SHA1, "pattern_hdr": PatternHeader, "pattern": Pattern, "null": Null,
}

// names are what fio calls the checksums in its messages.
var names = [nTypes]string{
	MD5: "md5", CRC64: "crc64", CRC32: "crc32", CRC32C: "crc32c", CRC32CIntel: "crc32c", CRC16: "crc16", CRC7: "crc7",
	SHA256: "sha256", SHA512: "sha512", SHA3224: "sha3-224", SHA3256: "sha3-256", SHA3384: "sha3-384", SHA3512: "sha3-512",
	XXHash: "xxhash", SHA1: "sha1", PatternHeader: "pattern", Pattern: "pattern", Meta: "pattern",
}

// sumSizes are the lengths of the checksums behind the header, in bytes.
var sumSizes = [nTypes]int{
	MD5: 16, CRC64: 8, CRC32: 4, CRC32C: 4, CRC32CIntel: 4, CRC16: 2, CRC7: 1, SHA256: 64, SHA512: 128, SHA3224: 28,
	SHA3256: 32, SHA3384: 48, SHA3512: 64, XXHash: 4, SHA1: 20,
}

// headSize is how many bytes of an interval the header and its checksum take.
func (t Type) headSize() int {
	if t == Pattern || t == Null || t >= nTypes {
		return 0
	}
	return HeaderSize + sumSizes[t]
}

// Scheme is what the options of a job say of its blocks. It is not safe for concurrent use: every goroutine has its own
// Clone.
type Scheme struct {
	kind       Type
	head       int // its headSize
	thread     uint16
	interval   int // bytes that a header covers
	whole      bool
	headOffset int

	pattern   []byte
	formats   []job.PatternFormat
	patternBy int // the pattern starts anew after so many bytes; 0: with each I/O

	compress int // percent of random contents that is compressible
	filler   []byte

	checkSeed, checkNumber bool // as fio has it
	ownSeed, ownNumber     bool // of blocks that this job itself has written
	fatal                  bool // the first bad interval of a block ends its check

	scratch []byte // a pattern with its offsets filled in
	sums    summer
}

// Block is one I/O with its contents and what its headers say or must say.
type Block struct {
	Buf      []byte
	File     string
	Offset   int64  // in the file, bytes
	Seed     uint64 // of random contents; 0 with a pattern
	NumberIO uint64 // number of the write
	Time     int64  // of the write, ns; only Fill needs it
	Flags    uint32 // fio's flags of the I/O, for messages; only Check needs them
}

// New makes the scheme of a job, which the loader has resolved. It fails where the headers do not fit the intervals, or
// where a pattern is asked for and none is given.
func New(j *job.Job) (*Scheme, error) {
	s := &Scheme{
		kind: types[j.Verify], thread: uint16(j.Number), interval: j.VerifyInterval, whole: j.BSUnaligned,
		headOffset: j.VerifyOffset, pattern: j.VerifyPattern.Bytes, formats: j.VerifyPattern.Formats,
		patternBy: max(j.VerifyPatternInterval, 0), compress: j.BufferCompressPercentage, filler: j.BufferPattern.Bytes,
		checkSeed: j.VerifyHeaderSeed, fatal: j.VerifyFatal,
	}
	if s.kind == None {
		return nil, fmt.Errorf("verify=%s: no such type", j.Verify)
	}
	if s.compress >= 100 {
		s.compress = 0 // everything compressible means no random contents at all, and fio does not count that here
	}
	low, high := j.MinBS[0], j.MaxBS[0]
	for d := range j.MinBS {
		low, high = min(low, j.MinBS[d]), max(high, j.MaxBS[d])
	}
	s.checkNumber = j.VerifyWriteSequence && j.RW.Write && low == high && !j.TimeBased
	// fio differs: it has to leave out these checks for many jobs because it works out seeds and numbers anew when it reads
	// back. Here they are kept with each write, so that a stale block is found whenever the job checks its own.
	s.head = s.kind.headSize()
	own := j.RW.Write && !j.VerifyOnly
	s.ownSeed, s.ownNumber = own && !j.IsSet("verify_header_seed"), own && !j.IsSet("verify_write_sequence")
	head := s.head
	switch {
	case (s.kind == Pattern || s.kind == PatternHeader) && len(s.pattern) == 0:
		return nil, fmt.Errorf("verify=%s needs verify_pattern", j.Verify)
	case head == 0:
		s.headOffset = 0
	case s.interval > 0 && head >= s.interval:
		return nil, fmt.Errorf("verify=%s: an interval of %d bytes has no room behind its header of %d bytes", j.Verify, s.interval, head)
	case s.headOffset > 0 && (s.headOffset < head || s.headOffset+head > s.interval):
		return nil, fmt.Errorf("verify_offset=%d: the header of verify=%s has %d bytes: want %d to %d", s.headOffset, j.Verify, head,
			head, s.interval-head)
	}
	return s, nil
}

// Clone is a scheme for another goroutine.
func (s *Scheme) Clone() *Scheme {
	c := *s
	c.scratch, c.sums = nil, summer{}
	return &c
}

// Random reports whether contents come from seeds, so that each write draws one.
func (s *Scheme) Random() bool { return len(s.pattern) == 0 }

// Checks reports whether there is anything to check at all: verify=null only pretends.
func (s *Scheme) Checks() bool { return s.kind != Null }

// Steady reports whether a buffer that was filled once needs only new headers, whatever its offset.
func (s *Scheme) Steady() bool { return len(s.pattern) > 0 && len(s.formats) == 0 && s.headOffset == 0 }

// step is how many bytes of a block of n bytes each header covers.
func (s *Scheme) step(n int) int {
	if s.interval > 0 && s.interval <= n && !s.whole {
		return s.interval
	}
	return n
}

// Fill writes contents and headers of b into its buffer.
func (s *Scheme) Fill(b *Block) {
	if s.kind == Null {
		return
	}
	s.fillBody(b)
	s.Head(b)
}

func (s *Scheme) fillBody(b *Block) {
	if !s.Random() {
		s.fillPattern(b)
		return
	}
	n := int(uint64(len(b.Buf)) * uint64(100-s.compress) / 100)
	workload.FillRandom(b.Buf[:n], b.Seed)
	rest := b.Buf[n:]
	if len(s.filler) == 0 {
		clear(rest)
		return
	}
	repeat(rest, copy(rest, s.filler))
}

// Head writes headers and checksums over contents that are there already.
func (s *Scheme) Head(b *Block) {
	size := s.head
	if size == 0 {
		return
	}
	step := s.step(len(b.Buf))
	for n, at := 0, 0; at < len(b.Buf); n, at = n+1, at+step {
		p := b.Buf[at:min(at+step, len(b.Buf))]
		if len(p) <= size {
			return // the rest of a block that is no multiple of the interval
		}
		s.put(header(p), b, n, step)
		if s.kind == CRC32C {
			binary.LittleEndian.PutUint32(p[HeaderSize:], checksum.CRC32C(p[size:])) // by far the most frequent
		} else {
			copy(p[HeaderSize:size], s.sums.sum(s.kind, p[size:]))
		}
		s.swap(p)
	}
}

// swap exchanges the header with what lies where verify_offset wants it.
func (s *Scheme) swap(p []byte) {
	if s.headOffset == 0 {
		return
	}
	q := p[s.headOffset:]
	for i := range s.head {
		p[i], q[i] = q[i], p[i]
	}
}
