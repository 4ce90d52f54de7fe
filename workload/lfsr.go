package workload

import "errors"

// lfsr walks all block numbers of a range once, in an order made by a linear feedback shift register in its XNOR form:
// no memory, no repeats.
type lfsr struct {
	state uint64
	taps  uint64 // feedback mask
	top   uint64 // highest bit of the register
	limit uint64 // largest number wanted
	given uint64
	fresh bool // fio takes one step more before the first number of all
}

// lfsrTaps are the tap positions of maximal registers of 3 to 63 bits, one entry a width (Xilinx XAPP052 and the like).
var lfsrTaps = [64][]uint8{
	3: {3, 2}, 4: {4, 3}, 5: {5, 3}, 6: {6, 5}, 7: {7, 6}, 8: {8, 6, 5, 4}, 9: {9, 5}, 10: {10, 7}, 11: {11, 9},
	12: {12, 6, 4, 1}, 13: {13, 4, 3, 1}, 14: {14, 5, 3, 1}, 15: {15, 14}, 16: {16, 15, 13, 4}, 17: {17, 14},
	18: {18, 11}, 19: {19, 6, 2, 1}, 20: {20, 17}, 21: {21, 19}, 22: {22, 21}, 23: {23, 18}, 24: {24, 23, 22, 17},
	25: {25, 22}, 26: {26, 6, 2, 1}, 27: {27, 5, 2, 1}, 28: {28, 25}, 29: {29, 27}, 30: {30, 6, 4, 1}, 31: {31, 28},
	32: {32, 31, 29, 1}, 33: {33, 20}, 34: {34, 27, 2, 1}, 35: {35, 33}, 36: {36, 25}, 37: {37, 5, 4, 3, 2, 1},
	38: {38, 6, 5, 1}, 39: {39, 35}, 40: {40, 38, 21, 19}, 41: {41, 38}, 42: {42, 41, 20, 19}, 43: {43, 42, 38, 37},
	44: {44, 43, 18, 17}, 45: {45, 44, 42, 41}, 46: {46, 45, 26, 25}, 47: {47, 42}, 48: {48, 47, 21, 20}, 49: {49, 40},
	50: {50, 49, 24, 23}, 51: {51, 50, 36, 35}, 52: {52, 49}, 53: {53, 52, 38, 37}, 54: {54, 53, 18, 17}, 55: {55, 31},
	56: {56, 55, 35, 34}, 57: {57, 50}, 58: {58, 39}, 59: {59, 58, 38, 37}, 60: {60, 59}, 61: {61, 60, 46, 45},
	62: {62, 61, 6, 5}, 63: {63, 62},
}

var errLFSR = errors.New("workload: random_generator=lfsr: the seed or the number of blocks does not fit")

// newLFSR makes the register for numbers below n.
func newLFSR(n, seed uint64) (*lfsr, error) {
	width := 3
	for ; width < 64 && 1<<width <= n; width++ {
	}
	if width == 64 || n == 0 {
		return nil, errLFSR
	}
	l := &lfsr{limit: n - 1, top: 1 << (width - 1), fresh: true}
	for _, t := range lfsrTaps[width] {
		l.taps |= 1 << (t - 1)
	}
	if !l.reset(seed) {
		return nil, errLFSR
	}
	return l, nil
}

// reset starts over. It reports false for the one state that a register never leaves: all ones.
func (l *lfsr) reset(seed uint64) bool {
	ones := l.top<<1 - 1
	l.given = 0
	l.state = seed & ones
	return l.state != ones
}

// next is the next number, or false when all have been given.
func (l *lfsr) next() (uint64, bool) {
	l.given++
	if l.given-1 > l.limit {
		return 0, false
	}
	if l.fresh {
		l.fresh = false
		l.step()
	}
	for l.step(); l.state > l.limit; {
		l.step()
	}
	return l.state, true
}

func (l *lfsr) step() {
	feedback := (l.state&1 - 1) & l.taps // the taps flip when a zero falls out
	l.state = (l.state>>1 | l.top) ^ feedback
}
