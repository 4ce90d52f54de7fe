package stats

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

func TestSum(t *testing.T) {
	for _, c := range []struct {
		name      string
		values    []uint64
		low, high uint64
		mean, dev float64
	}{
		{"none", nil, 0, 0, 0, 0},
		{"one", []uint64{7}, 7, 7, 7, 0},
		{"equal", []uint64{5, 5, 5}, 5, 5, 5, 0},
		{"by hand", []uint64{2, 4, 4, 4, 5, 5, 7, 9}, 2, 9, 5, math.Sqrt(32.0 / 7)},
		{"zero first", []uint64{0, 10}, 0, 10, 5, math.Sqrt(50)},
		{"large and near", []uint64{1 << 62, 1<<62 + 2}, 1 << 62, 1<<62 + 2, 1<<62 + 1, math.Sqrt2},
		{"equal and large", []uint64{1 << 63, 1 << 63, 1 << 63}, 1 << 63, 1 << 63, 1 << 63, 0},
		{"largest", []uint64{math.MaxUint64}, math.MaxUint64, math.MaxUint64, math.MaxUint64, 0},
	} {
		var s, all, left, right Sum
		for i, v := range c.values {
			s.Add(v)
			if i%2 == 0 {
				left.Add(v)
			} else {
				right.Add(v)
			}
		}
		for i := 0; i < len(c.values); {
			n := 1
			for i+n < len(c.values) && c.values[i+n] == c.values[i] {
				n++
			}
			all.AddN(c.values[i], uint64(n))
			all.AddN(c.values[i], 0)
			i += n
		}
		left.Merge(right)
		if s != all || s != left {
			t.Errorf("%s: Add, AddN and Merge differ: %+v, %+v, %+v", c.name, s, all, left)
		}
		if s.N != uint64(len(c.values)) || s.Min != c.low || s.Max != c.high {
			t.Errorf("%s: N, Min, Max = %d, %d, %d", c.name, s.N, s.Min, s.Max)
		}
		if !near(s.Mean(), c.mean) || !near(s.StdDev(), c.dev) {
			t.Errorf("%s: mean %v, deviation %v, want %v, %v", c.name, s.Mean(), s.StdDev(), c.mean, c.dev)
		}
		if got := Summary(s.N, s.Min, s.Max, s.Mean(), s.StdDev()); len(c.values) > 1 && c.high < 1<<50 && got != s {
			t.Errorf("%s: Summary = %+v, want %+v", c.name, got, s)
		}
	}
}

// TestSampleMerge has the numbers of two jobs with bandwidths 10, 20 and 100, 140, 120.
func TestSampleMerge(t *testing.T) {
	var a, b, empty Sample
	a.Add(10)
	a.Add(20)
	for _, v := range []uint64{100, 140, 120} {
		b.Add(v)
	}
	got := empty
	got.Merge(a)
	got.Merge(empty)
	if got.Mean() != 15 || got.N != 2 {
		t.Errorf("first merge: mean %v of %d, want 15 of 2", got.Mean(), got.N)
	}
	got.Merge(b)
	// Means 15 and 120 add up; so do the squares, 50 and 800, over 5 samples.
	if got.N != 5 || got.Min != 110 || got.Max != 160 || got.Mean() != 135 || !near(got.StdDev(), math.Sqrt(850.0/4)) {
		t.Errorf("N %d, %d..%d, mean %v, deviation %v", got.N, got.Min, got.Max, got.Mean(), got.StdDev())
	}
	got.Merge(a)
	if got.N != 7 || got.Mean() != 150 || !near(got.StdDev(), math.Sqrt(900.0/6)) {
		t.Errorf("third merge: N %d, mean %v, deviation %v", got.N, got.Mean(), got.StdDev())
	}
}
