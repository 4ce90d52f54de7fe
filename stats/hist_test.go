package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIndexValue(t *testing.T) {
	for _, c := range []struct {
		ns    uint64
		index int
		value uint64
	}{
		{0, 0, 0},
		{1, 1, 1},
		{63, 63, 63},
		{64, 64, 64},
		{127, 127, 127},
		{128, 128, 129}, // two values a bucket from here
		{129, 128, 129},
		{130, 129, 131},
		{255, 191, 255},
		{256, 192, 258}, // four values a bucket
		{1000, 317, 1004},
		{1 << 33, 28 * 64, 1<<33 + 1<<26},
		{1<<34 - 1, 29*64 - 1, 1<<33 + 63<<27 + 1<<26},
		{1 << 34, 29*64 - 1, 1<<33 + 63<<27 + 1<<26},
		{math.MaxUint64, 29*64 - 1, 1<<33 + 63<<27 + 1<<26},
	} {
		if got := Index(c.ns); got != c.index {
			t.Errorf("Index(%d) = %d, want %d", c.ns, got, c.index)
		}
		if got := Value(c.index); got != c.value {
			t.Errorf("Value(%d) = %d, want %d", c.index, got, c.value)
		}
	}
	for i := range HistBuckets {
		if got := Index(Value(i)); got != i {
			t.Errorf("Index(Value(%d)) = %d", i, got)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var h Hist
	for v := uint64(1); v <= 100; v++ {
		h.Add(v)
	}
	for _, c := range []struct {
		name string
		list []float64
		n    uint64
		want []uint64
	}{
		{"whole numbers", []float64{1, 7, 29, 50, 57, 99, 100}, 100, []uint64{1, 7, 29, 50, 57, 99, 100}},
		{"between values", []float64{0.1, 50.5, 99.9}, 100, []uint64{1, 51, 100}},
		{"sorted first", []float64{90, 10}, 100, []uint64{10, 90}},
		{"ends at zero", []float64{50, 0, 90}, 100, []uint64{50}},
		{"empty", nil, 100, []uint64{}},
		{"fewer in the histogram than measured", []float64{10, 99}, 200, []uint64{20, 100}},
	} {
		if d := cmp.Diff(c.want, h.Percentiles(c.list, c.n)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	long := make([]float64, 30)
	for i := range long {
		long[i] = float64(i + 1)
	}
	if got := len(h.Percentiles(long, 100)); got != 20 {
		t.Errorf("a list of 30 gives %d percentiles, want 20", got)
	}
}

func FuzzHist(f *testing.F) {
	f.Add(uint64(0), uint64(1), 50.0)
	f.Add(uint64(127), uint64(128), 99.99)
	f.Add(uint64(math.MaxUint64), uint64(1<<34), 100.0)
	f.Fuzz(func(t *testing.T, a, b uint64, percent float64) {
		var h, o Hist
		var s Sum
		for _, v := range []uint64{a, b, a / 3, b / 7} {
			h.Add(v)
			s.Add(v >> 2)
		}
		o.Merge(&h)
		o.Merge(nil)
		if h.Count() != s.N || o != h {
			t.Fatalf("histogram of %d values holds %d", s.N, h.Count())
		}
		if a <= b && Index(a) > Index(b) {
			t.Fatalf("Index(%d) > Index(%d)", a, b)
		}
		// A bucket stands for its values to within one part in 128, where values are not cut off.
		if v := Value(Index(a)); a < 1<<34 && (v > a && v-a > a/128+1 || a > v && a-v > a/128+1) {
			t.Fatalf("%d counts as %d", a, v)
		}
		if !(percent > 0 && percent <= 100) {
			return
		}
		p := h.Percentiles([]float64{percent, 100}, s.N)
		if len(p) != 2 || p[0] > p[1] {
			t.Fatalf("percentiles %v of %d, %d", p, a, b)
		}
		if m := s.Mean(); m < float64(s.Min)*(1-1e-12) || m > float64(s.Max)*(1+1e-12) || s.StdDev() < 0 || math.IsNaN(s.StdDev()) {
			t.Fatalf("mean %v, deviation %v of %d..%d", m, s.StdDev(), s.Min, s.Max)
		}
	})
}

func TestAddsDoNotAllocate(t *testing.T) {
	var h Hist
	var s Sum
	var j Job
	n := testing.AllocsPerRun(100, func() {
		h.Add(1234)
		h.AddN(1234, 3)
		s.Add(1234)
		s.AddN(1234, 3)
		j.MarkDepth(3, 1)
		j.MarkSubmit(3)
		j.MarkComplete(3)
		j.MarkLatency(1234)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sink uint64

func BenchmarkAdd(b *testing.B) {
	var h Hist
	var s Sum
	var j Job
	b.ReportAllocs()
	v := uint64(1)
	for range b.N {
		v = v*6364136223846793005 + 1442695040888963407
		ns := v >> 46
		h.Add(ns)
		s.Add(ns)
		j.MarkLatency(ns)
	}
	sink = s.N
}

// BenchmarkAddN is the cost of a run of 16 equal values.
func BenchmarkAddN(b *testing.B) {
	var h Hist
	var s Sum
	var j Job
	b.ReportAllocs()
	for i := range b.N {
		h.AddN(uint64(i), 16)
		s.AddN(uint64(i), 16)
		j.MarkLatencies(uint64(i), 16)
	}
	sink = s.N
}
