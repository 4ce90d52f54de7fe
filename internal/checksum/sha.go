package checksum

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding"
	"encoding/binary"
	"hash"
)

// The sizes of fio's digests in bytes where they are not the textbook ones.
const (
	SHA256Size = sha256.BlockSize // the last block of the message, with eight bytes of the state in front
	SHA512Size = sha512.BlockSize // the last block of the message, with the digest in front
)

// SHA1 is the usual digest with the bytes of each word in host order, which is little endian wherever fiord runs.
func SHA1(p []byte) [sha1.Size]byte {
	d := sha1.Sum(p)
	for i := 0; i < len(d); i += 4 {
		binary.LittleEndian.PutUint32(d[i:], binary.BigEndian.Uint32(d[i:]))
	}
	return d
}

// SHA512 is the usual digest in the first 64 bytes, and what the last block of the padded message has in the others.
func SHA512(p []byte) [SHA512Size]byte {
	var last [2 * sha512.BlockSize]byte
	n := padded(last[:], p, sha512.BlockSize, 16)
	binary.BigEndian.PutUint64(last[n-8:], uint64(len(p))<<3)
	var out [SHA512Size]byte
	copy(out[:], last[n-SHA512Size:n])
	d := sha512.Sum512(p)
	copy(out[:], d[:])
	return out
}

// padded copies the last, partial block of p to last, adds the padding, and reports where the padded message ends. The
// last lengthBytes of it are for the length and stay zero.
func padded(last, p []byte, block, lengthBytes int) int {
	rest := p[len(p)/block*block:]
	n := copy(last, rest)
	last[n] = 0x80
	if n < block-lengthBytes {
		return block
	}
	return 2 * block
}

// SHA256 computes fio's variant of SHA-256, which is no SHA-256: the length goes in with its bytes the wrong way round,
// and of each word of the state only the lowest byte is kept. It is not safe for concurrent use.
type SHA256 struct {
	h     hash.Hash
	state []byte
	last  [2 * sha256.BlockSize]byte
}

// stateOffset is where the eight words begin in what the standard library's digest appends of its state.
const stateOffset = 4

// Sum is the digest of p.
func (s *SHA256) Sum(p []byte) [SHA256Size]byte {
	if s.h == nil {
		s.h = sha256.New()
	}
	s.h.Reset()
	whole := len(p) / sha256.BlockSize * sha256.BlockSize
	s.h.Write(p[:whole])
	last := &s.last
	clear(last[:])
	n := padded(last[:], p, sha256.BlockSize, 8)
	binary.LittleEndian.PutUint64(last[n-8:], uint64(len(p))<<3)
	s.h.Write(last[:n])
	var out [SHA256Size]byte
	copy(out[:], last[n-SHA256Size:n])
	// The digest of the standard library always implements this; its errors are for other implementations.
	s.state, _ = s.h.(encoding.BinaryAppender).AppendBinary(s.state[:0])
	for i := range 8 {
		out[i] = s.state[stateOffset+4*i+3]
	}
	return out
}
