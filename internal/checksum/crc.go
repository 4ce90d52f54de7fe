// Package checksum computes the checksums that fio stores in its verify headers, in fio's variants, which often differ
// from the textbook ones of the same name.
//
// It owns the arithmetic alone. It must not know headers, blocks or jobs. Every function is pure and safe for concurrent
// use but those of SHA256, which keeps its state between calls.
package checksum

import (
	"encoding/binary"
	"hash/crc32"
)

// The polynomials. Those of the reflected CRCs are written with the lowest power in the highest bit.
const (
	poly16 = 0xA001             // CRC-16/ARC, reflected
	poly32 = 0x04C11DB7         // that of IEEE 802.3, but not reflected
	poly64 = 0x95AC9329AC4BC9B5 // Jones, reflected
	poly7  = 0x09               // x^7 + x^3 + 1
)

var (
	table7     = newTable7()
	table16    = newTable16()
	table32    = newTable32()
	table64    = newTable64()
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// slices is how many bytes the tables take at once.
const slices = 8

func newTable7() (t [256]byte) {
	const shifted = poly7 << 1 // the register sits in the upper seven bits while a byte is shifted through
	for i := range t {
		c := byte(i)
		for range 8 {
			high := c >> 7
			c = c<<1 ^ shifted*high
		}
		t[i] = c >> 1
	}
	return t
}

func newTable16() (t [slices][256]uint16) {
	for i := range t[0] {
		c := uint16(i)
		for range 8 {
			c = c>>1 ^ poly16*(c&1)
		}
		t[0][i] = c
	}
	for k := 1; k < slices; k++ {
		for i, c := range t[k-1] {
			t[k][i] = c>>8 ^ t[0][byte(c)]
		}
	}
	return t
}

func newTable32() (t [slices][256]uint32) {
	for i := range t[0] {
		c := uint32(i) << 24
		for range 8 {
			c = c<<1 ^ poly32*(c>>31)
		}
		t[0][i] = c
	}
	for k := 1; k < slices; k++ {
		for i, c := range t[k-1] {
			t[k][i] = c<<8 ^ t[0][c>>24]
		}
	}
	return t
}

func newTable64() (t [slices][256]uint64) {
	for i := range t[0] {
		c := uint64(i)
		for range 8 {
			c = c>>1 ^ poly64*(c&1)
		}
		t[0][i] = c
	}
	for k := 1; k < slices; k++ {
		for i, c := range t[k-1] {
			t[k][i] = c>>8 ^ t[0][byte(c)]
		}
	}
	return t
}

// CRC7 is the checksum of MMC commands: start 0, the register in the low seven bits.
func CRC7(p []byte) byte {
	c := byte(0)
	for _, b := range p {
		c = table7[c<<1^b]
	}
	return c
}

// CRC16 is CRC-16/ARC: reflected, start 0.
func CRC16(p []byte) uint16 {
	c, t := uint16(0), &table16
	for ; len(p) >= slices; p = p[slices:] {
		x := binary.LittleEndian.Uint64(p) ^ uint64(c)
		c = t[7][byte(x)] ^ t[6][byte(x>>8)] ^ t[5][byte(x>>16)] ^ t[4][byte(x>>24)] ^
			t[3][byte(x>>32)] ^ t[2][byte(x>>40)] ^ t[1][byte(x>>48)] ^ t[0][byte(x>>56)]
	}
	for _, b := range p {
		c = c>>8 ^ t[0][byte(c)^b]
	}
	return c
}

// CRC32 is not the one of hash/crc32: most significant bit first, start 0, no inversion.
func CRC32(p []byte) uint32 {
	c, t := uint32(0), &table32
	for ; len(p) >= slices; p = p[slices:] {
		x := binary.BigEndian.Uint64(p) ^ uint64(c)<<32
		c = t[7][byte(x>>56)] ^ t[6][byte(x>>48)] ^ t[5][byte(x>>40)] ^ t[4][byte(x>>32)] ^
			t[3][byte(x>>24)] ^ t[2][byte(x>>16)] ^ t[1][byte(x>>8)] ^ t[0][byte(x)]
	}
	for _, b := range p {
		c = c<<8 ^ t[0][byte(c>>24)^b]
	}
	return c
}

// CRC64 is Jones's, reflected, start 0, no inversion.
func CRC64(p []byte) uint64 {
	c, t := uint64(0), &table64
	for ; len(p) >= slices; p = p[slices:] {
		x := binary.LittleEndian.Uint64(p) ^ c
		c = t[7][byte(x)] ^ t[6][byte(x>>8)] ^ t[5][byte(x>>16)] ^ t[4][byte(x>>24)] ^
			t[3][byte(x>>32)] ^ t[2][byte(x>>40)] ^ t[1][byte(x>>48)] ^ t[0][byte(x>>56)]
	}
	for _, b := range p {
		c = c>>8 ^ t[0][byte(c)^b]
	}
	return c
}
