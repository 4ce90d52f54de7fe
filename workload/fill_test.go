package workload

import (
	"bytes"
	"testing"
)

// TestFillFast holds the filling of long buffers against that of short ones, which goes word by word.
func TestFillFast(t *testing.T) {
	for _, seed := range []uint64{0, 1, 0x123456789abcdef, 1<<64 - 1} {
		for n := range 1200 {
			got := make([]byte, n)
			fillRandom(got, seed)
			want := make([]byte, n)
			fillScalar(want, seed, seed*2, seed*3, seed*5)
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes of seed %#x differ", n, seed)
			}
		}
	}
}

func BenchmarkFillRandom(b *testing.B) {
	p := make([]byte, 4096)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		fillRandom(p, 42)
	}
}
