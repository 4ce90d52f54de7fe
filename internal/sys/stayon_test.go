//go:build !race

package sys

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestStayOn has a thread in the way of another goroutine: one that stays on keeps the only processor, one that makes other
// calls yields it in the end.
func TestStayOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range []struct {
		name   string
		stays  bool
		rounds int // of some ns each; the runtime asks every 10 ms
	}{
		{"stays on", true, 10_000_000},
		{"yields", false, math.MaxInt},
	} {
		t.Run(c.name, func(t *testing.T) {
			locked(func() {
				if err := BlockPreemption(); err != nil {
					t.Error(err)
					return
				}
				var other atomic.Bool
				go other.Store(true)
				if yielded := busy(&other, c.stays, c.rounds); yielded == c.stays {
					t.Errorf("yielded: %v", yielded)
				}
			})
		})
	}
}

// busy runs for so many rounds or until other is set, and reports whether it is. It makes no call that could yield but one;
// the race detector would add some.
//
//go:nosplit
func busy(other *atomic.Bool, stays bool, rounds int) bool {
	for ; rounds > 0 && !other.Load(); rounds-- {
		if stays {
			StayOn()
		} else {
			checkStack()
		}
	}
	return rounds > 0
}
