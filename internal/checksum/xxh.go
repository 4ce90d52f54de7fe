package checksum

import (
	"encoding/binary"
	"math/bits"
)

// The primes of XXH32.
const (
	prime1 = 2654435761
	prime2 = 2246822519
	prime3 = 3266489917
	prime4 = 668265263
	prime5 = 374761393
)

// XXH32 is the 32-bit xxHash with the given seed.
func XXH32(p []byte, seed uint32) uint32 {
	h := seed + prime5
	size := uint32(len(p))
	if len(p) >= 16 {
		a, b, c, d := seed+prime1+prime2, seed+prime2, seed, seed-prime1
		for ; len(p) >= 16; p = p[16:] {
			w := p[:16:16]
			a = round(a, binary.LittleEndian.Uint32(w[0:4]))
			b = round(b, binary.LittleEndian.Uint32(w[4:8]))
			c = round(c, binary.LittleEndian.Uint32(w[8:12]))
			d = round(d, binary.LittleEndian.Uint32(w[12:16]))
		}
		h = bits.RotateLeft32(a, 1) + bits.RotateLeft32(b, 7) + bits.RotateLeft32(c, 12) + bits.RotateLeft32(d, 18)
	}
	h += size
	for ; len(p) >= 4; p = p[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(p)*prime3, 17) * prime4
	}
	for _, b := range p {
		h = bits.RotateLeft32(h+uint32(b)*prime5, 11) * prime1
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return h ^ h>>16
}

func round(acc, in uint32) uint32 { return bits.RotateLeft32(acc+in*prime2, 13) * prime1 }
