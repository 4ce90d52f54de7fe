package verify

import (
	"bytes"
	"crypto/md5"
	"crypto/sha3"
	"encoding/binary"

	"fiord/internal/checksum"
)

// Check holds a block that was read against what was written. It calls found for each failure in the order of the
// intervals, and reports whether the block counts as bad.
//
// As in fio the last interval that is looked at decides that, unless verify_fatal stops at the first bad one: a block of
// several intervals whose last one is good does not fail its job, though every failure is reported. A header that is bad
// ends the check of the block. Check may move bytes inside the buffer.
func (s *Scheme) Check(b *Block, found func(*Failure)) (bad bool) {
	if s.kind == Null {
		return false
	}
	step := s.step(len(b.Buf))
	for n, at := 0, 0; at < len(b.Buf) && !(bad && s.fatal); n, at = n+1, at+step {
		p := b.Buf[at:min(at+step, len(b.Buf))]
		media := s.kind
		if size := s.head; size > 0 {
			if len(p) < step || len(p) <= size {
				return bad // the rest of a block that is no multiple of the interval
			}
			s.swap(p)
			if f := s.checkHeader(header(p), b, n, step); f != nil {
				found(f)
				return true
			}
			media = header(p).kind()
		}
		f := s.checkBody(b, p, at, step, media)
		bad = f != nil
		if !bad {
			continue
		}
		f.File, f.Block, f.BlockLength, f.Flags = b.File, b.Offset, len(b.Buf), b.Flags
		f.Offset, f.Length, f.Name = b.Offset+int64(at), step, names[s.kind]
		if s.kind == Pattern {
			f.Offset, f.Length = b.Offset, len(b.Buf)
		}
		found(f)
		if media != s.kind {
			found(&Failure{Kind: TypeMismatch, File: b.File, Offset: f.Offset, Length: step, Block: b.Offset,
				BlockLength: len(b.Buf), Got: uint64(media), Want: uint64(s.kind)})
		}
	}
	return bad
}

// checkBody compares what lies behind the header of one interval.
func (s *Scheme) checkBody(b *Block, p []byte, at, step int, media Type) *Failure {
	switch s.kind {
	case Meta, PatternHeader, Pattern:
		if len(s.pattern) == 0 {
			return nil
		}
		i, got, want := s.checkPattern(b, at, step)
		if i < 0 {
			return nil
		}
		return &Failure{Kind: BadPattern, Got: uint64(got), Want: uint64(want), At: i}
	}
	from := s.head
	if media != s.kind {
		if n := media.headSize(); n > 0 && n <= len(p) {
			from = n // fio looks for the data behind the checksum that the medium says it has
		}
	}
	if s.kind == CRC32C && binary.LittleEndian.Uint32(p[HeaderSize:]) == checksum.CRC32C(p[from:]) {
		return nil
	}
	want := p[HeaderSize:s.head]
	got := s.sums.sum(s.kind, p[from:])
	if bytes.Equal(got, want) {
		return nil
	}
	return &Failure{Kind: BadChecksum, Expected: want, Received: got}
}

// CheckZero looks for a byte of a trimmed block that is not zero; nil: all are.
func CheckZero(b *Block) *Failure {
	for i, c := range b.Buf {
		if c != 0 {
			return &Failure{Kind: NotZero, File: b.File, Offset: b.Offset, Length: len(b.Buf), Block: b.Offset, BlockLength: len(b.Buf),
				Got: uint64(c), At: i}
		}
	}
	return nil
}

// summer computes checksums into memory of its own.
type summer struct {
	out    [checksum.SHA512Size]byte
	sha256 checksum.SHA256
}

// xxhashSeed is the seed that fio gives xxHash.
const xxhashSeed = 1

// sum is the checksum of p as it lies behind the header; it holds until the next call.
func (s *summer) sum(t Type, p []byte) []byte {
	out := s.out[:sumSizes[t]]
	switch t {
	case MD5:
		d := md5.Sum(p)
		copy(out, d[:])
	case CRC64:
		binary.LittleEndian.PutUint64(out, checksum.CRC64(p))
	case CRC32:
		binary.LittleEndian.PutUint32(out, checksum.CRC32(p))
	case CRC32C, CRC32CIntel:
		binary.LittleEndian.PutUint32(out, checksum.CRC32C(p))
	case CRC16:
		binary.LittleEndian.PutUint16(out, checksum.CRC16(p))
	case CRC7:
		out[0] = checksum.CRC7(p)
	case XXHash:
		binary.LittleEndian.PutUint32(out, checksum.XXH32(p, xxhashSeed))
	case SHA1:
		d := checksum.SHA1(p)
		copy(out, d[:])
	case SHA256:
		d := s.sha256.Sum(p)
		copy(out, d[:])
	case SHA512:
		d := checksum.SHA512(p)
		copy(out, d[:])
	case SHA3224:
		d := sha3.Sum224(p)
		copy(out, d[:])
	case SHA3256:
		d := sha3.Sum256(p)
		copy(out, d[:])
	case SHA3384:
		d := sha3.Sum384(p)
		copy(out, d[:])
	case SHA3512:
		d := sha3.Sum512(p)
		copy(out, d[:])
	}
	return out
}

// Dump is the interval that f is about as it was read, and as it would be had it been written with the seed that its
// header names. Both are as on the medium.
func (s *Scheme) Dump(b *Block, f *Failure) (got, want []byte) {
	at := int(f.Offset - b.Offset)
	end := min(at+f.Length, len(b.Buf))
	got = bytes.Clone(b.Buf[at:end])
	again := *b
	if s.kind.headSize() > 0 && len(got) > s.kind.headSize() {
		again.Seed = header(got).seed()
		s.swap(got)
	}
	if f.Kind.IsHeader() {
		return got, nil
	}
	again.Buf = make([]byte, len(b.Buf))
	s.Clone().Fill(&again)
	return got, again.Buf[at:end]
}
