package checksum

import (
	"hash/crc32"
	"math/bits"

	"golang.org/x/sys/cpu"
)

// castagnoliBy is how CRC32C is computed, all that each call looks at in one cache line. by are the constants that move 128
// bits of the message 2048 and 512 bits on: for the low and the high half of each.
var castagnoliBy = struct {
	by    [4]uint64
	words bool // the CPU has the crc32 instruction
	folds bool // it multiplies polynomials four pairs at once, which is about three times as fast
}{
	by:    [4]uint64{power(2048 + 32), power(2048 - 32), power(512 + 32), power(512 - 32)},
	words: cpu.X86.HasSSE42,
	folds: cpu.X86.HasSSE42 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPCLMULQDQ,
}

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

// foldBlock is how many bytes fold takes at once, and foldLine of what is left.
const (
	foldBlock = 256
	foldLine  = 64
)

// fold is the checksum, without the final inversion, of blocks of 256 bytes at p, at least one, and lines of 64 behind them.
//
//go:noescape
func fold(p *byte, blocks, lines int, k *[4]uint64) uint32

// words goes on with the checksum crc over n bytes at p, eight at a time.
//
//go:noescape
func words(crc uint32, p *byte, n int) uint32

// shortText is up to where one chain of crc32 instructions is at least as fast as the three of hash/crc32, in bytes. Headers
// are short, and the tables of hash/crc32 would cost each of them some cache lines.
const shortText = 512

// CRC32C is Castagnoli's without the final inversion.
func CRC32C(p []byte) uint32 {
	c, how := ^uint32(0), &castagnoliBy
	if n := len(p) / foldBlock; how.folds && n >= 2 {
		c = fold(&p[0], n, len(p)%foldBlock/foldLine, &how.by)
		p = p[len(p)/foldLine*foldLine:]
	}
	switch {
	case len(p) == 0:
		return c
	case len(p) < shortText && how.words:
		return words(c, &p[0], len(p))
	}
	return ^crc32.Update(^c, castagnoli, p)
}
