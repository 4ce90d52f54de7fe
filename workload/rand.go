package workload

// Rand is one of fio's random streams: a combined Tausworthe generator of 32 or, for random_generator=tausworthe64, of
// 64 bits. The zero Rand yields zeros only; make one with NewRand or StreamRand.
type Rand struct {
	wide bool
	t32  taus88
	t64  taus258
}

// taus88 is L'Ecuyer's combined Tausworthe generator of three 32-bit registers (period about 2^88).
type taus88 struct{ s1, s2, s3 uint32 }

// taus258 is the same of five 64-bit registers (period about 2^258).
type taus258 struct{ s1, s2, s3, s4, s5 uint64 }

// warmUp is how many values a freshly seeded generator throws away.
const warmUp = 6

// lcgStart is where the seeding congruence starts. fio means a sum of powers of two there and gets exclusive ors.
const lcgStart = (2 ^ 31) + (2 ^ 17) + (2 ^ 7)

// NewRand seeds a stream. The 32-bit generator takes the low half of the seed.
func NewRand(seed uint64, wide bool) Rand {
	r := Rand{wide: wide}
	if wide {
		r.t64 = seedTaus258(seed)
	} else {
		r.t32 = seedTaus88(uint32(seed))
	}
	return r
}

func seedTaus88(seed uint32) taus88 {
	lcg := func(x uint32) uint32 { return x*69069 ^ seed }
	var t taus88
	t.s1 = atLeast(lcg(lcgStart), 1)
	t.s2 = atLeast(lcg(t.s1), 7)
	t.s3 = atLeast(lcg(t.s2), 15)
	for range warmUp {
		t.next()
	}
	return t
}

func seedTaus258(seed uint64) taus258 {
	lcg := func(x uint64) uint64 { return x*6906969069 ^ seed }
	var t taus258
	t.s1 = atLeast(lcg(lcgStart), 1)
	t.s2 = atLeast(lcg(t.s1), 7)
	t.s3 = atLeast(lcg(t.s2), 15)
	t.s4 = atLeast(lcg(t.s3), 33)
	t.s5 = atLeast(lcg(t.s4), 49)
	for range warmUp {
		t.next()
	}
	return t
}

// atLeast lifts a register off the small values from which its component would never leave zero.
func atLeast[T uint32 | uint64](x, least T) T {
	if x < least {
		return x + least
	}
	return x
}

func (t *taus88) next() uint32 {
	t.s1 = (t.s1&0xfffffffe)<<12 ^ (t.s1<<13^t.s1)>>19
	t.s2 = (t.s2&0xfffffff8)<<4 ^ (t.s2<<2^t.s2)>>25
	t.s3 = (t.s3&0xfffffff0)<<17 ^ (t.s3<<3^t.s3)>>11
	return t.s1 ^ t.s2 ^ t.s3
}

func (t *taus258) next() uint64 {
	t.s1 = (t.s1&^uint64(1))<<10 ^ (t.s1<<1^t.s1)>>53
	t.s2 = (t.s2&^uint64(1<<9-1))<<5 ^ (t.s2<<24^t.s2)>>50
	t.s3 = (t.s3&^uint64(1<<12-1))<<29 ^ (t.s3<<3^t.s3)>>23
	t.s4 = (t.s4&^uint64(1<<17-1))<<23 ^ (t.s4<<5^t.s4)>>24
	t.s5 = (t.s5&^uint64(1<<23-1))<<8 ^ (t.s5<<3^t.s5)>>33
	return t.s1 ^ t.s2 ^ t.s3 ^ t.s4 ^ t.s5
}

// Next is the next value, uniform from 0 to Max.
func (r *Rand) Next() uint64 {
	if r.wide {
		return r.t64.next()
	}
	return uint64(r.t32.next())
}

// Max is the largest value of Next: 2^32-1, or 2^64-1 of a 64-bit stream.
func (r *Rand) Max() uint64 {
	if r.wide {
		return 1<<64 - 1
	}
	return 1<<32 - 1
}

// The factors that turn a value of Next into a fraction; exact, since they are powers of two.
const (
	fraction32 = 1.0 / (1 << 32)
	fraction64 = 1.0 / (1 << 64)
)

// fraction is the next value as a fraction from 0 to 1; 1 itself comes of a 64-bit stream only, by rounding.
func (r *Rand) fraction() float64 {
	if r.wide {
		return float64(r.t64.next()) * fraction64
	}
	return float64(r.t32.next()) * fraction32
}

// Below scales the next value to 0..n, n excluded, in floating point as fio does.
func (r *Rand) Below(n uint64) uint64 { return uint64(float64(n) * r.fraction()) }

// Between is a uniform value from lo to hi, both included. A 32-bit stream sees only the low half of the distance.
func (r *Rand) Between(lo, hi uint64) uint64 {
	span := hi - lo
	if !r.wide {
		return lo + uint64(float64(uint32(span)+1)*r.fraction())
	}
	return lo + uint64(float64(span+1)*r.fraction())
}

// open01 is the next value as a fraction above 0 and up to 1.
func (r *Rand) open01() float64 {
	if r.wide {
		return (float64(r.t64.next()) + 1) * fraction64
	}
	return (float64(r.t32.next()) + 1) * fraction32
}
