package workload

import (
	"errors"
	"fmt"
	"math/bits"
)

// blockMap remembers which blocks of a file a random job has visited: one bit a block, and over it levels whose bits say
// that a whole word below is full, so that the next free block is found in a few steps however full the map is.
type blockMap struct {
	bits   []uint64   // the lowest level
	levels [][]uint64 // levels[0] is bits
	blocks uint64
	memory Block
}

// mostHeapWords bounds a map on the heap to 16 GiB.
const mostHeapWords = 1 << 31

// heapBlock is where maps lie when the caller of New has no memory for them.
func heapBlock(words uint64) (Block, error) {
	if words > mostHeapWords {
		return Block{}, errors.New("more than 16 GiB")
	}
	return Block{Words: make([]uint64, words)}, nil
}

// newBlockMap makes a map of free blocks with words from memory.
func newBlockMap(blocks uint64, memory func(uint64) (Block, error)) (*blockMap, error) {
	m := &blockMap{blocks: blocks}
	var sizes []uint64
	var sum uint64
	for words := max(blocks/64+min(blocks%64, 1), 1); ; words = (words + 63) / 64 {
		sizes = append(sizes, words)
		sum += words
		if words == 1 {
			break
		}
	}
	if memory == nil {
		memory = heapBlock
	}
	var err error
	if m.memory, err = memory(sum); err != nil {
		return nil, fmt.Errorf("random map of %d blocks: %w; norandommap and random_generator=lfsr need none, and "+
			"softrandommap=1 goes on without it", blocks, err)
	}
	rest := m.memory.Words
	for _, n := range sizes {
		m.levels = append(m.levels, rest[:n:n])
		rest = rest[n:]
	}
	m.bits = m.levels[0]
	return m, nil
}

// reset frees all blocks.
func (m *blockMap) reset() {
	if m.memory.Zero != nil {
		m.memory.Zero()
		return
	}
	clear(m.memory.Words)
}

// visited reports whether block b is marked. Blocks behind the map are free.
func (m *blockMap) visited(b uint64) bool {
	w := b / 64
	return w < uint64(len(m.bits)) && m.bits[w]>>(b%64)&1 != 0
}

// nextFree finds the first free block behind b, from the start again when there is none up to the end.
func (m *blockMap) nextFree(b uint64) (uint64, bool) {
	if b >= m.blocks {
		return 0, false
	}
	if n, ok := m.free(b + 1); ok {
		return n, true
	}
	return m.free(0)
}

// free finds the first free block at or behind b: up through the levels until one has room behind the path to b, then
// down along the leftmost room.
func (m *blockMap) free(b uint64) (uint64, bool) {
	i := b
	for level := 0; level < len(m.levels); level++ {
		w := i / 64
		if w >= uint64(len(m.levels[level])) {
			return 0, false
		}
		if room := ^m.levels[level][w] >> (i % 64); room != 0 {
			i += uint64(bits.TrailingZeros64(room))
			for ; level > 0; level-- {
				if i >= uint64(len(m.levels[level-1])) {
					return 0, false
				}
				i = i*64 + uint64(bits.TrailingZeros64(^m.levels[level-1][i]))
			}
			return i, i < m.blocks
		}
		i = w + 1
	}
	return 0, false
}

// markRun marks up to n blocks from b, stopping before the first that is marked already, and reports how many it marked.
func (m *blockMap) markRun(b, n uint64) uint64 {
	var done uint64
	for n > 0 {
		w := b / 64
		if w >= uint64(len(m.bits)) {
			break
		}
		bit := b % 64
		part := min(n, 64-bit)
		if busy := m.bits[w] >> bit; busy != 0 {
			part = min(part, uint64(bits.TrailingZeros64(busy)))
			n = part // the run ends here
		}
		if part == 0 {
			break
		}
		m.bits[w] |= (1<<part - 1) << bit
		if m.bits[w] == ^uint64(0) {
			m.full(w)
		}
		b, n, done = b+part, n-part, done+part
	}
	return done
}

// mark marks the free block b.
func (m *blockMap) mark(b uint64) {
	w := b / 64
	m.bits[w] |= 1 << (b % 64)
	if m.bits[w] == ^uint64(0) {
		m.full(w)
	}
}

// full notes in the upper levels that word w of the lowest one is full.
func (m *blockMap) full(w uint64) {
	for _, l := range m.levels[1:] {
		l[w/64] |= 1 << (w % 64)
		if l[w/64] != ^uint64(0) {
			return
		}
		w /= 64
	}
}
