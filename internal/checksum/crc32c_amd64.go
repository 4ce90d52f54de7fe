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

// CRC32C is Castagnoli's without the final inversion.
func CRC32C(p []byte) uint32 {
	n := len(p) / foldBlock
	if !folds || n < 2 {
		return ^crc32.Checksum(p, castagnoli)
	}
	c := fold(&p[0], n, &foldBy)
	if p = p[n*foldBlock:]; len(p) > 0 {
		c = ^crc32.Update(^c, castagnoli, p)
	}
	return c
}
