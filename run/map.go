package run

import (
	"fmt"
	"math"

	"fiord/internal/sys"
	"fiord/workload"
)

// sparseWords is a map so large, 2 GiB, that its pages are taken as they are used: most of them may never be.
const sparseWords = 1 << 28

// mapMemory gives the memory of a random map: outside the heap, where the collector does not look.
func (w *worker) mapMemory(words uint64) (workload.Block, error) {
	if words > math.MaxInt/8 {
		return workload.Block{}, fmt.Errorf("%d words of memory: too many", words)
	}
	a, err := sys.NewArena("malloc", int(words)*8, 0, 0, "")
	if err != nil {
		return workload.Block{}, fmt.Errorf("%d MiB of memory: %w", words>>17, err)
	}
	zero := func() {
		if err := a.Wipe(); err != nil {
			clear(a.Words())
		}
	}
	if words <= sparseWords {
		a.Touch()
		zero = nil
	}
	w.maps = append(w.maps, a)
	return workload.Block{Words: a.Words()[:words], Zero: zero}, nil
}

// freeMaps gives back the memory of the random maps: the generator must not be asked for any more I/O.
func (w *worker) freeMaps() {
	for _, a := range w.maps {
		_ = a.Close()
	}
	w.maps = nil
}
