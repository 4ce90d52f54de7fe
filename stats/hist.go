package stats

import (
	"math/big"
	"math/bits"
	"slices"
)

// The shape of fio's latency histogram (stat.h): values below 128 have a bucket each; above, every power of two is cut
// into 64 buckets, up to 2^34. The last bucket also takes everything larger.
const (
	histBits    = 6
	histGroups  = 29
	HistBuckets = histGroups << histBits // number of buckets
	maxPercents = 20                     // fio's longest percentile_list
)

// Hist is fio's latency histogram, so that percentiles agree with fio's to the digit. The zero Hist is empty.
type Hist struct{ Buckets [HistBuckets]uint64 }

// Index is the bucket of a value in nanoseconds.
func Index(ns uint64) int {
	// A value of n bits keeps its top seven: the leading one and six that choose the bucket in its group.
	drop := uint(bits.Len64(ns|(2<<histBits-1)) - histBits - 1)
	return int(min(uint64(drop)<<histBits+ns>>drop, HistBuckets-1))
}

// Value is the latency that bucket i stands for: the middle of its range, in nanoseconds.
func Value(i int) uint64 {
	if i < 2<<histBits {
		return uint64(i)
	}
	drop := uint(i>>histBits - 1)
	low := uint64(1<<histBits+i&(1<<histBits-1)) << drop
	return low + 1<<(drop-1)
}

// Add counts one value in nanoseconds.
func (h *Hist) Add(ns uint64) { h.Buckets[Index(ns)]++ }

// AddN counts one value in nanoseconds n times.
func (h *Hist) AddN(ns, n uint64) { h.Buckets[Index(ns)] += n }

// Merge adds the counts of o, which may be nil.
func (h *Hist) Merge(o *Hist) {
	if o == nil {
		return
	}
	for i, n := range &o.Buckets {
		h.Buckets[i] += n
	}
}

// Count is how many values were added.
func (h *Hist) Count() uint64 {
	var n uint64
	for _, c := range &h.Buckets {
		n += c
	}
	return n
}

// PercentileList is the list that percentiles are given for: of those asked for, ascending, the ones before the first
// zero and at most 20 (fio's percentile_list is an array that a zero ends).
func PercentileList(asked []float64) []float64 {
	if i := slices.Index(asked, 0); i >= 0 {
		asked = asked[:i]
	}
	list := slices.Clone(asked[:min(len(asked), maxPercents)])
	slices.Sort(list)
	return list
}

// Percentiles finds, for each entry of PercentileList(list), the value in nanoseconds of the first bucket up to which
// at least that share of n values lies. n is the number of values measured; where the histogram holds fewer, as it may
// while a job still runs, the missing percentiles are those of the largest value.
func (h *Hist) Percentiles(list []float64, n uint64) []uint64 {
	list = PercentileList(list)
	out, need := make([]uint64, len(list)), make([]uint64, len(list))
	for i, percent := range list {
		need[i] = needed(percent, n)
	}
	var sum, last uint64
	j := 0
	for i := 0; i < HistBuckets && j < len(list); i++ {
		if h.Buckets[i] != 0 {
			last = Value(i)
		}
		sum += h.Buckets[i]
		for j < len(list) && sum >= need[j] {
			out[j] = Value(i)
			j++
		}
	}
	for ; j < len(list); j++ {
		out[j] = last
	}
	return out
}

// needed is the least count that is at least percent of n. fio computes the share in x87 extended precision, 64 bits of
// mantissa, and its usual build (-ffast-math) as percent * (n * 0.01); in float64, or in another order, the result
// differs where it should be a whole number, and with it the bucket.
func needed(percent float64, n uint64) uint64 {
	ext := func() *big.Float { return new(big.Float).SetPrec(64) }
	want := ext().Quo(ext().SetUint64(1), ext().SetUint64(100))
	want.Mul(want, ext().SetUint64(n))
	want.Mul(want, ext().SetFloat64(percent))
	count, _ := want.Uint64()
	if !want.IsInt() { // the accuracy that Uint64 reports is wrong for short fractions
		count++
	}
	return count
}
