package checksum

import (
	"hash/crc32"
	"math/bits"

	"golang.org/x/sys/cpu"
)

// folds is whether the CPU multiplies polynomials four pairs at once, which is about three times as fast as the crc32
// instruction that hash/crc32 uses.
var folds = cpu.X86.HasSSE42 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPCLMULQDQ

// foldBy are the constants that move 128 bits of the message 2048 and 512 bits on: for the low and the high half of each.
var foldBy = [4]uint64{power(2048 + 32), power(2048 - 32), power(512 + 32), power(512 - 32)}

// power is x^n modulo the polynomial, as the reflected multiplication wants it.
func power(n int) uint64 {
	const poly = 0x1EDC6F41
	r := uint32(1)
	for range n {
		high := r >> 31
		r = r<<1 ^ poly*high
	}
	return uint64(bits.Reverse32(r)) << 1
}

// foldBlock is how many bytes fold takes at once.
const foldBlock = 256

// fold is the checksum, without the final inversion, of blocks of 256 bytes at p, at least one.
//
//go:noescape
func fold(p *byte, blocks int, k *[4]uint64) uint32

// words goes on with the checksum crc over n bytes at p, eight at a time.
//
//go:noescape
func words(crc uint32, p *byte, n int) uint32

// shortText is up to where one chain of crc32 instructions is at least as fast as the three of hash/crc32, in bytes. Headers
// are short, and the tables of hash/crc32 would cost each of them some cache lines.
const shortText = 512

// CRC32C is Castagnoli's without the final inversion.
func CRC32C(p []byte) uint32 {
	c := ^uint32(0)
	if n := len(p) / foldBlock; folds && n >= 2 {
		c = fold(&p[0], n, &foldBy)
		p = p[n*foldBlock:]
	}
	switch {
	case len(p) == 0:
		return c
	case len(p) < shortText && cpu.X86.HasSSE42:
		return words(c, &p[0], len(p))
	}
	return ^crc32.Update(^c, castagnoli, p)
}
