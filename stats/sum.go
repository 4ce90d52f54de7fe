package stats

import (
	"math"
	"math/big"
	"math/bits"
)

// Sum accumulates values: count, extremes, and exact 128-bit sums for mean and deviation. The zero Sum is empty. Min
// and Max are 0 while N is 0.
type Sum struct {
	N        uint64
	Min, Max uint64
	sum      uint64 // low words of 128-bit sums
	sumHi    uint64
	sq, sqHi uint64
}

// Add takes one value. It is exact as long as the sum of squares stays below 2^128: 2^44 latencies of an hour.
func (s *Sum) Add(v uint64) {
	if v < s.Min || s.N == 0 {
		s.Min = v
	}
	s.Max = max(s.Max, v)
	s.N++
	var c uint64
	s.sum, c = bits.Add64(s.sum, v, 0)
	s.sumHi += c
	hi, lo := bits.Mul64(v, v)
	s.sq, c = bits.Add64(s.sq, lo, 0)
	s.sqHi += hi + c
}

// AddN takes one value n times.
func (s *Sum) AddN(v, n uint64) {
	if n == 0 {
		return
	}
	if v < s.Min || s.N == 0 {
		s.Min = v
	}
	s.Max = max(s.Max, v)
	s.N += n
	hi, lo := bits.Mul64(v, n)
	var c uint64
	s.sum, c = bits.Add64(s.sum, lo, 0)
	s.sumHi += hi + c
	sqHi, sq := bits.Mul64(v, v)
	hi, lo = bits.Mul64(sq, n)
	s.sq, c = bits.Add64(s.sq, lo, 0)
	s.sqHi += sqHi*n + hi + c
}

// Merge adds the values of o.
func (s *Sum) Merge(o Sum) {
	if o.N == 0 {
		return
	}
	if s.N == 0 {
		*s = o
		return
	}
	s.N += o.N
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	var c uint64
	s.sum, c = bits.Add64(s.sum, o.sum, 0)
	s.sumHi += o.sumHi + c
	s.sq, c = bits.Add64(s.sq, o.sq, 0)
	s.sqHi += o.sqHi + c
}

// Mean is the arithmetic mean, 0 for no values.
func (s *Sum) Mean() float64 {
	if s.N == 0 {
		return 0
	}
	if s.sumHi == 0 && s.sum < 1<<53 {
		return float64(s.sum) / float64(s.N)
	}
	return quotient(wide(s.sumHi, s.sum), new(big.Int).SetUint64(s.N))
}

// StdDev is the deviation of a sample, with n-1 in the divisor; 0 for fewer than two values.
func (s *Sum) StdDev() float64 {
	if s.N < 2 {
		return 0
	}
	// The variance is (n*sq - sum*sum) / (n*(n-1)); in integers nothing cancels.
	n := new(big.Int).SetUint64(s.N)
	sum := wide(s.sumHi, s.sum)
	num := wide(s.sqHi, s.sq)
	num.Mul(num, n).Sub(num, sum.Mul(sum, sum))
	den := new(big.Int).SetUint64(s.N - 1)
	return math.Sqrt(quotient(num, den.Mul(den, n)))
}

// Summary makes a Sum from what a report shows of it. It is meant for readers of reports and for tests: sums are
// integers, so a mean and deviation printed with enough digits give back the Sum they were printed from.
func Summary(n, low, high uint64, mean, dev float64) Sum {
	s := Sum{N: n, Min: low, Max: high}
	if n == 0 {
		return Sum{}
	}
	sum := round(new(big.Float).SetPrec(200).Mul(exact(mean), new(big.Float).SetUint64(n)))
	s.sumHi, s.sum = split(sum)
	// sq = dev^2 * (n-1) + sum^2 / n
	sq := new(big.Float).SetPrec(300).SetInt(new(big.Int).Mul(sum, sum))
	sq.Quo(sq, new(big.Float).SetUint64(n))
	part := exact(dev)
	part.Mul(part, exact(dev)).Mul(part, new(big.Float).SetUint64(n-1))
	s.sqHi, s.sq = split(round(sq.Add(sq, part)))
	return s
}

func wide(hi, lo uint64) *big.Int {
	w := new(big.Int).SetUint64(hi)
	return w.Lsh(w, 64).Or(w, new(big.Int).SetUint64(lo))
}

func split(w *big.Int) (hi, lo uint64) {
	lo = new(big.Int).And(w, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return new(big.Int).Rsh(w, 64).Uint64(), lo
}

func quotient(num, den *big.Int) float64 {
	f, _ := new(big.Rat).SetFrac(num, den).Float64()
	return f
}

func exact(f float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(f) }

func round(f *big.Float) *big.Int {
	i, _ := f.Add(f, big.NewFloat(0.5)).Int(nil)
	return i
}
