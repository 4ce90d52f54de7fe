package workload

import (
	"math/rand/v2"
	"testing"
)

// TestBlockMapAgainstNaive compares the map with a plain list of booleans.
func TestBlockMapAgainstNaive(t *testing.T) {
	for _, blocks := range []uint64{1, 2, 63, 64, 65, 128, 1000, 4095, 4096, 4097, 64*64*64 + 1} {
		m, err := newBlockMap(blocks, nil)
		if err != nil {
			t.Fatal(err)
		}
		naive := make([]bool, blocks)
		rnd := rand.New(rand.NewPCG(1, blocks))
		for step := range 3000 {
			b := rnd.Uint64N(blocks)
			if m.visited(b) != naive[b] {
				t.Fatalf("%d blocks, step %d: visited(%d) = %v", blocks, step, b, m.visited(b))
			}
			if naive[b] {
				n, ok := m.nextFree(b)
				want, wantOK := naiveFree(naive, b)
				if ok != wantOK || ok && n != want {
					t.Fatalf("%d blocks, step %d: nextFree(%d) = %d, %v, want %d, %v", blocks, step, b, n, ok, want, wantOK)
				}
				if !ok {
					m.reset()
					clear(naive)
					continue
				}
				b = n
			}
			if step%5 == 0 {
				m.mark(b)
				naive[b] = true
				continue
			}
			n := min(1+rnd.Uint64N(200), blocks-b)
			var want uint64
			for want < n && !naive[b+want] {
				naive[b+want] = true
				want++
			}
			if got := m.markRun(b, n); got != want {
				t.Fatalf("%d blocks, step %d: markRun(%d, %d) = %d, want %d", blocks, step, b, n, got, want)
			}
		}
	}
}

func naiveFree(naive []bool, b uint64) (uint64, bool) {
	n := uint64(len(naive))
	for i := uint64(1); i <= n; i++ {
		if at := (b + i) % n; !naive[at] {
			return at, true
		}
	}
	return 0, false
}

func TestBlockMapLimits(t *testing.T) {
	if _, err := newBlockMap(mostHeapWords*64+1, nil); err == nil {
		t.Error("a map beyond the limit was made")
	}
	m, err := newBlockMap(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.visited(1 << 40) {
		t.Error("a block behind the map is visited")
	}
	if _, ok := m.nextFree(0); ok {
		t.Error("an empty map has a free block")
	}
	if n := m.markRun(1<<40, 3); n != 0 {
		t.Errorf("marked %d blocks behind the map", n)
	}
}

// TestLFSR checks for many ranges that each number comes once, then none.
func TestLFSR(t *testing.T) {
	for _, n := range []uint64{1, 2, 7, 8, 9, 100, 255, 256, 1000, 4096, 70000} {
		l, err := newLFSR(n, 0x1234567)
		if err != nil {
			l, err = newLFSR(n, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		for pass := range 2 {
			seen := make([]bool, n)
			for i := range n {
				v, ok := l.next()
				if !ok || v >= n || seen[v] {
					t.Fatalf("range %d, pass %d: number %d is %d, %v", n, pass, i, v, ok)
				}
				seen[v] = true
			}
			if v, ok := l.next(); ok {
				t.Fatalf("range %d, pass %d: %d after the last", n, pass, v)
			}
			l.reset(2)
		}
	}
	for _, bad := range []struct{ n, seed uint64 }{{0, 1}, {1 << 63, 1}, {100, 1<<7 - 1}} {
		if _, err := newLFSR(bad.n, bad.seed); err == nil {
			t.Errorf("newLFSR(%d, %d) worked", bad.n, bad.seed)
		}
	}
}

// TestBlockMapMemory checks that a map takes the memory it is given, and is zeroed in the way that came with it.
func TestBlockMapMemory(t *testing.T) {
	zeroed := 0
	var words []uint64
	m, err := newBlockMap(64*64+1, func(n uint64) (Block, error) {
		words = make([]uint64, n)
		return Block{Words: words, Zero: func() { zeroed++; clear(words) }}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(words) != 65+2+1 {
		t.Errorf("%d words for a map of 4097 blocks, want 68", len(words))
	}
	m.markRun(0, 64)
	if words[0] != ^uint64(0) || words[65] != 1 {
		t.Errorf("words %#x and %#x after the first 64 blocks", words[0], words[65])
	}
	m.reset()
	if zeroed != 1 || m.visited(0) {
		t.Errorf("zeroed %d times, block 0 visited: %v", zeroed, m.visited(0))
	}
}
