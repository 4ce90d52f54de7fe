package stats

// Sum accumulates values: count, extremes, and exact sums for mean and deviation. The zero Sum is empty.
type Sum struct {
	N        uint64
	Min, Max uint64
	sum      uint64 // low words of 128-bit sums
	sumHi    uint64
	sq, sqHi uint64
}

// Hist is fio's latency histogram.
type Hist struct{ Buckets [29 * 64]uint64 }
