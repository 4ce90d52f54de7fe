package verify

import (
	"bytes"
	"encoding/binary"
)

// offsetSize is how many bytes of a pattern %o takes.
const offsetSize = 8

// fillPattern repeats the pattern over the buffer, starting anew every patternBy bytes.
func (s *Scheme) fillPattern(b *Block) {
	by := s.patternBy
	if by == 0 {
		by = len(b.Buf)
	}
	for at := 0; at < len(b.Buf); at += by {
		p := b.Buf[at:min(at+by, len(b.Buf))]
		n := copy(p, s.pattern)
		s.paste(p[:n], b.Offset+int64(at))
		repeat(p, n)
	}
}

// Prefill puts the pattern into a buffer that is written without headers, as with verify=null; with no pattern it stays as it is.
func (s *Scheme) Prefill(buf []byte) {
	if len(s.pattern) > 0 {
		s.fillPattern(&Block{Buf: buf})
	}
}

// paste puts the offset where the pattern has %o.
func (s *Scheme) paste(p []byte, offset int64) {
	var word [offsetSize]byte
	binary.LittleEndian.PutUint64(word[:], uint64(offset))
	for _, f := range s.formats {
		if f.Offset < len(p) {
			copy(p[f.Offset:min(f.Offset+offsetSize, len(p))], word[:])
		}
	}
}

// repeat fills buf with copies of its first n bytes.
func repeat(buf []byte, n int) {
	for n > 0 && n < len(buf) {
		n += copy(buf[n:], buf[:n])
	}
}

// checkPattern compares what lies behind the header of the interval that starts at byte at of the block. It reports the
// first byte that differs: where in the interval it is, what is there and what should be; -1 when none does.
func (s *Scheme) checkPattern(b *Block, at, step int) (where int, got, want byte) {
	head := s.kind.headSize()
	by := s.patternBy
	if by == 0 {
		by = len(b.Buf)
	}
	end := min(at+step, len(b.Buf))
	for from := at + head; from < end; {
		chunk := from / by * by
		to := min(chunk+by, end)
		pat := s.patternAt(b.Offset + int64(chunk))
		if i := differs(b.Buf[from:to], pat, (from-chunk)%len(pat)); i >= 0 {
			return from + i - at, b.Buf[from+i], pat[(from-chunk+i)%len(pat)]
		}
		from = to
	}
	return -1, 0, 0
}

// patternAt is the pattern for an offset; it holds until the next call.
func (s *Scheme) patternAt(offset int64) []byte {
	if len(s.formats) == 0 {
		return s.pattern
	}
	s.scratch = append(s.scratch[:0], s.pattern...)
	s.paste(s.scratch, offset)
	return s.scratch
}

// differs finds the first byte of p that is not that of pat, which repeats and starts at its byte phase; -1: none. A long
// p is held against itself, shifted by one pattern, which compares many bytes at once.
func differs(p, pat []byte, phase int) int {
	n := min(len(p), len(pat))
	for i := range n {
		if p[i] != pat[(phase+i)%len(pat)] {
			return i
		}
	}
	if len(p) == n || bytes.Equal(p[n:], p[:len(p)-n]) {
		return -1
	}
	for i := n; i < len(p); i++ {
		if p[i] != p[i-n] {
			return i
		}
	}
	return -1
}
