package workload

import "math"

// skewed draws numbers below n that are not uniform: zipf, pareto or normal. One such generator stands behind the blocks
// of each file (random_distribution) or behind the choice of the file (file_service_type).
type skewed struct {
	kind   skewKind
	rand   taus88
	n      uint64
	shift  uint64 // where the most frequent number lies
	spread bool   // scatter neighbouring numbers over the range by a hash

	theta, alpha, zetaN, eta, second float64 // zipf
	power                            float64 // pareto
	deviation                        uint32  // normal
}

type skewKind uint8

const (
	skewZipf skewKind = iota
	skewPareto
	skewNormal
)

// skewKinds are the names of the kinds in random_distribution and file_service_type.
var skewKinds = map[string]skewKind{"zipf": skewZipf, "pareto": skewPareto, "normal": skewNormal}

// zipfTerms bounds the zeta sum of large ranges, as fio does.
const zipfTerms = 10_000_000

// hash64 multiplies by the 64-bit golden ratio (fio's __hash_u64).
func hash64(x uint64) uint64 { return x * 0x61C8864680B583EB }

// newSkewed makes a generator. center is a fraction of the range, below 0 when not given.
func newSkewed(kind skewKind, n uint64, param, center float64, seed uint32, spread bool) *skewed {
	s := &skewed{kind: kind, n: n, spread: spread, rand: seedTaus88(seed)}
	switch kind {
	case skewNormal:
		if param != 0 {
			s.deviation = min(uint32(int64(math.Ceil(float64(n)*param/100))), uint32(n/2))
		}
		if center >= 0 {
			s.shift = uint64(uint32(int64(float64(n) * (center - 0.5)))) // fio keeps 32 bits, also of negative ones
		}
		return s
	case skewZipf:
		s.initZipf(param)
	case skewPareto:
		s.power = math.Log(param) / math.Log(1-param)
	}
	s.shift = uint64(s.rand.next())
	if center >= 0 {
		s.shift = uint64(float64(n) * center)
	}
	return s
}

func (s *skewed) initZipf(theta float64) {
	s.theta = theta
	s.second = 1 + math.Pow(0.5, theta)
	s.zetaN = zetaSum(min(s.n, zipfTerms), theta)
	s.alpha = 1 / (1 - theta)
	s.eta = (1 - math.Pow(2/float64(s.n), 1-theta)) / (1 - s.second/s.zetaN)
}

// zetaSum is the sum of i^-theta over the first n numbers, added in fio's order.
func zetaSum(n uint64, theta float64) float64 {
	var sum float64
	for i := range n {
		sum += math.Pow(1/float64(i+1), theta)
	}
	return sum
}

// next is the next number below n.
func (s *skewed) next() uint64 {
	var v uint64
	switch s.kind {
	case skewZipf:
		v = s.zipf()
	case skewPareto:
		v = uint64(float64(s.n-1) * math.Pow(s.unit(), s.power))
	default:
		v = s.normal()
	}
	if s.spread {
		v = hash64(v)
	}
	return (v + s.shift) % s.n
}

// unit is a fraction from 0 to 1, both included.
func (s *skewed) unit() float64 { return float64(s.rand.next()) / math.MaxUint32 }

func (s *skewed) zipf() uint64 {
	u := s.unit()
	z := u * s.zetaN
	switch {
	case z < 1:
		return 0
	case z < s.second:
		return 1
	}
	// The products are rounded by conversion: a fused multiply-add would give another number on some machines.
	base := float64(s.eta*u) - s.eta + 1
	return uint64(float64(s.n) * math.Pow(base, s.alpha))
}

// normal averages twelve uniform numbers, then moves by a deviation of its own if one was asked for.
func (s *skewed) normal() uint64 {
	const draws = 12
	var sum uint64
	for range draws {
		sum += uint64(s.rand.next()) % (s.n + 1)
	}
	mean := (sum + draws - 1) / draws
	if s.deviation == 0 {
		return mean
	}
	r := float64(s.rand.next()) * fraction32
	dev := int32(float64(s.deviation)*r) - int32(s.deviation/2)
	// Halve the deviation until the number is inside. fio differs: it hangs when the mean itself is outside.
	for dev != 0 && mean+uint64(int64(dev)) >= s.n {
		dev /= 2
	}
	return mean + uint64(int64(dev))
}

// nameHash is Bob Jenkins's lookup3 hash of a file name as fio has it: its bulk step takes one byte of each four.
func nameHash(name string) uint32 {
	k := name
	a := uint32(0x61C88647) + uint32(len(k))
	b, c := a, a
	rol := func(x uint32, n uint) uint32 { return x<<n | x>>(32-n) }
	for len(k) > 12 {
		a += uint32(k[0])
		b += uint32(k[4])
		c += uint32(k[8])
		a -= c
		a ^= rol(c, 4)
		c += b
		b -= a
		b ^= rol(a, 6)
		a += c
		c -= b
		c ^= rol(b, 8)
		b += a
		a -= c
		a ^= rol(c, 16)
		c += b
		b -= a
		b ^= rol(a, 19)
		a += c
		c -= b
		c ^= rol(b, 4)
		b += a
		k = k[12:]
	}
	if len(k) == 0 {
		return c
	}
	var tail [12]byte
	copy(tail[:], k)
	word := func(i int) uint32 {
		return uint32(tail[i]) | uint32(tail[i+1])<<8 | uint32(tail[i+2])<<16 | uint32(tail[i+3])<<24
	}
	a, b, c = a+word(0), b+word(4), c+word(8)
	for _, m := range []struct {
		to, from *uint32
		n        uint
	}{{&c, &b, 14}, {&a, &c, 11}, {&b, &a, 25}, {&c, &b, 16}, {&a, &c, 4}, {&b, &a, 14}, {&c, &b, 24}} {
		*m.to ^= *m.from
		*m.to -= rol(*m.from, m.n)
	}
	return c
}
