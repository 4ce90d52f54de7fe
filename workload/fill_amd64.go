package workload

import "golang.org/x/sys/cpu"

// wide is whether the CPU multiplies eight words at once, which fills a buffer about four times as fast.
var wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ

// wideBlock is how many bytes fillWide fills at once.
const wideBlock = 128

// fillWide fills blocks of 128 bytes from p on, at least one. words are the first sixteen; by is what takes each word to the
// one sixteen places on. It leaves the eight that come next in the first half of words.
//
//go:noescape
func fillWide(p *byte, blocks int, words *[16]uint64, by uint64)

// fillFast fills as much of buf as it can with the four chains that begin with a, b, c and d, and returns what is left and
// where the chains stand.
func fillFast(buf []byte, a, b, c, d uint64) (rest []byte, a2, b2, c2, d2 uint64) {
	n := len(buf) / wideBlock
	if !wide || n < 2 {
		return buf, a, b, c, d
	}
	const g2 = golden * golden & (1<<64 - 1)
	const g4 = g2 * g2 & (1<<64 - 1)
	words := [16]uint64{a, b, c, d, a * golden, b * golden, c * golden, d * golden}
	for i, w := range words[:8] {
		words[i+8] = w * g2
	}
	fillWide(&buf[0], n, &words, g4)
	return buf[n*wideBlock:], words[0], words[1], words[2], words[3]
}
