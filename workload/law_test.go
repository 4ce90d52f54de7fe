package workload

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"fiord/job"
)

const (
	lawDraws = 200_000
	// ksLimit is the Kolmogorov-Smirnov distance that one of a thousand samples of lawDraws exceeds. For the steps of whole
	// numbers it is on the safe side.
	ksLimit = 1.95
)

// distance is the largest distance between the sample's distribution and the law, times the root of the sample's size. cdf
// is the probability of a number up to x.
func distance(sample []uint64, cdf func(x uint64) float64) float64 {
	slices.Sort(sample)
	n := float64(len(sample))
	var most float64
	for i, x := range sample {
		if i+1 < len(sample) && sample[i+1] == x {
			continue // the law is compared where the sample's distribution has its step
		}
		most = max(most, math.Abs(float64(i+1)/n-cdf(x)))
	}
	return most * math.Sqrt(n)
}

// draw is a sample without the scattering and shifting that spread a distribution over the blocks of a file.
func draw(kind skewKind, n uint64, param float64, seed uint32) []uint64 {
	s := newSkewed(kind, n, param, -1, seed, false)
	s.shift = 0
	sample := make([]uint64, lawDraws)
	for i := range sample {
		sample[i] = s.next()
	}
	return sample
}

// zipfLaw is the law of the usual quick approximation of zipf (Gray and others, "Quickly generating billion-record
// synthetic databases", 1994): exact for the first two ranks, a power of the uniform number behind them.
func zipfLaw(n uint64, theta float64) func(uint64) float64 {
	zeta := zetaSum(n, theta)
	eta := (1 - math.Pow(2/float64(n), 1-theta)) / (1 - (1+math.Pow(0.5, theta))/zeta)
	return func(x uint64) float64 {
		switch {
		case x == 0:
			return 1 / zeta
		case x == 1:
			return (1 + math.Pow(0.5, theta)) / zeta
		}
		return min(1, (math.Pow(float64(x+1)/float64(n), 1-theta)-1+eta)/eta)
	}
}

// trueZipf is zipf's law itself: rank k has a share of k^-theta.
func trueZipf(n uint64, theta float64) func(uint64) float64 {
	sums := make([]float64, n)
	var sum float64
	for i := range sums {
		sum += math.Pow(float64(i+1), -theta)
		sums[i] = sum
	}
	return func(x uint64) float64 { return sums[x] / sum }
}

// paretoLaw: the number is the range times a power of the uniform number, so that a share h of the accesses goes to a share
// 1-h of the range.
func paretoLaw(n uint64, h float64) func(uint64) float64 {
	power := math.Log(h) / math.Log(1-h)
	return func(x uint64) float64 { return min(1, math.Pow(float64(x+1)/float64(n-1), 1/power)) }
}

// meanOfTwelve is the law of the mean of twelve uniform numbers from 0 to 1 (Irwin-Hall), which stands for the normal one.
func meanOfTwelve(y float64) float64 {
	x := 12 * y
	switch {
	case x <= 0:
		return 0
	case x >= 12:
		return 1
	case x > 6:
		return 1 - meanOfTwelve(1-y)
	}
	var sum float64
	term := 1.0 // (-1)^k times 12 over k, over 12!
	for k := 2.0; k <= 12; k++ {
		term /= k
	}
	for k := 0.0; k < x; k++ {
		sum += term * math.Pow(x-k, 12)
		term *= -(12 - k) / (k + 1)
	}
	return sum
}

// normalLaw moves the mean of twelve by a uniform deviation of percent of the range, centred.
func normalLaw(n uint64, percent float64) func(uint64) float64 {
	const steps = 50
	return func(x uint64) float64 {
		y := float64(x) / float64(n)
		if percent == 0 {
			return meanOfTwelve(y)
		}
		var sum float64
		for i := range steps {
			sum += meanOfTwelve(y + percent/100*((float64(i)+0.5)/steps-0.5))
		}
		return sum / steps
	}
}

// TestLaws compares the skewed distributions with their analytic laws, and with the same law of a slightly different
// parameter, which must not fit.
func TestLaws(t *testing.T) {
	laws := map[skewKind]func(uint64, float64) func(uint64) float64{
		skewZipf: zipfLaw, skewPareto: paretoLaw, skewNormal: normalLaw}
	for _, c := range []struct {
		kind         skewKind
		n            uint64
		param, wrong float64
	}{
		{skewZipf, 1000, 0.5, 0.52},
		{skewZipf, 100_000, 0.99, 1.01},
		{skewZipf, 100_000, 1.2, 1.21},
		{skewZipf, 1000, 2, 2.05},
		{skewPareto, 1 << 20, 0.1, 0.105},
		{skewPareto, 1 << 20, 0.2, 0.205},
		{skewPareto, 1 << 20, 0.8, 0.81},
		{skewNormal, 1 << 14, 0, 10},
		{skewNormal, 1 << 14, 20, 0},
		{skewNormal, 1 << 14, 40, 30},
	} {
		name := fmt.Sprint(c.kind, " of ", c.n, " with ", c.param)
		sample := draw(c.kind, c.n, c.param, 4711)
		if d := distance(sample, laws[c.kind](c.n, c.param)); d > ksLimit {
			t.Errorf("%s: distance %.2f from the law, want %.2f at most", name, d, ksLimit)
		}
		if d := distance(sample, laws[c.kind](c.n, c.wrong)); d < ksLimit {
			t.Errorf("%s: distance %.2f from the law with %v: the test sees no difference", name, d, c.wrong)
		}
	}
}

// TestZipfIsZipf bounds what the approximation is off the true law.
func TestZipfIsZipf(t *testing.T) {
	for _, theta := range []float64{0.5, 0.8, 1.2, 1.5} {
		const n = 10_000
		if d := distance(draw(skewZipf, n, theta, 99), trueZipf(n, theta)) / math.Sqrt(lawDraws); d > 0.03 {
			t.Errorf("theta %v: distance %.4f from zipf's law, want 0.03 at most", theta, d)
		}
	}
}

// TestZonedLaw counts which zone each I/O goes to, in each direction, and where in the zone, and compares with the shares
// asked for by chi-square.
func TestZonedLaw(t *testing.T) {
	type zone struct {
		access float64 // share of the I/Os
		to     uint64  // end, in blocks
	}
	for _, c := range []struct {
		options string
		want    [2][]zone
	}{
		{"random_distribution=zoned:60/10:30/20:10/70", [2][]zone{
			{{0.6, 100}, {0.3, 300}, {0.1, 1000}}, {{0.6, 100}, {0.3, 300}, {0.1, 1000}}}},
		{"random_distribution=zoned:50/5:30/25:20/70,10/90:90/10", [2][]zone{
			{{0.5, 50}, {0.3, 300}, {0.2, 1000}}, {{0.1, 900}, {0.9, 1000}}}},
		{"random_distribution=zoned_abs:70/400k:30/1600k,25/3600k:75/400k", [2][]zone{
			{{0.7, 100}, {0.3, 500}}, {{0.25, 900}, {0.75, 1000}}}},
	} {
		g := newTest(t, "rw=randrw bs=4k size=4000k time_based=1 runtime=1000 "+c.options)
		var places [2][]uint64
		for _, r := range take(t, g, lawDraws) {
			places[r.Op] = append(places[r.Op], uint64(r.Offset)/4096)
		}
		for d, zones := range c.want {
			var want []float64
			var ends []uint64
			from := uint64(0)
			for _, z := range zones { // each zone in five parts
				for i := uint64(1); i <= 5; i++ {
					ends, want = append(ends, from+(z.to-from)*i/5), append(want, z.access/5)
				}
				from = z.to
			}
			chi := chiSquare(places[d], ends, want)
			// The chi-square of k degrees of freedom exceeds k + 3.1 sqrt(2k) + 5 once in more than a thousand times.
			k := float64(len(want) - 1)
			if most := k + 3.1*math.Sqrt(2*k) + 5; chi > most {
				t.Errorf("%s: %ss: chi-square %.1f, want %.1f at most", c.options, job.Dir(d), chi, most)
			}
			want[0], want[5] = want[0]+0.01, want[5]-0.01
			if chi = chiSquare(places[d], ends, want); chi < 2*k {
				t.Errorf("%s: %ss: chi-square %.1f of shares that are wrong", c.options, job.Dir(d), chi)
			}
		}
	}
}

// chiSquare compares how many of the places lie below each of the rising ends, and not below the one before, with shares.
func chiSquare(places, ends []uint64, shares []float64) float64 {
	counts := make([]float64, len(ends))
	for _, p := range places {
		i, _ := slices.BinarySearch(ends, p+1)
		if i == len(ends) {
			return math.Inf(1)
		}
		counts[i]++
	}
	var chi float64
	for i, n := range counts {
		want := shares[i] * float64(len(places))
		chi += (n - want) * (n - want) / want
	}
	return chi
}
