package stats

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSteadySearch(t *testing.T) {
	type step struct {
		value     uint64
		attained  bool
		criterion float64
	}
	for _, c := range []struct {
		kind    string
		limit   float64
		percent bool
		steps   []step
	}{
		// Means 110, 115, 122.67; largest deviations 10, 10, 8.33.
		{"iops", 9, false, []step{{100, false, 0}, {110, false, 0}, {120, false, 10}, {115, true, 5}, {500, true, 5}}},
		{"bw", 8, true, []step{{100, false, 0}, {100, false, 0}, {130, false, 100 * 20 / 110.}, {110, false, 100 * 50 / 340.},
			{120, false, 100 * 10 / 120.}, {119, true, 100 * 19 / 349.}}},
		// Lines through 100, 110, 120; 110, 120, 120; 120, 120, 121.
		{"iops_slope", 1, false, []step{{100, false, 0}, {110, false, 0}, {120, false, 10}, {120, false, 5}, {121, true, .5}}},
		// Downwards counts as well; the mean of 106.67 is cut to 106.
		{"lat_slope", 5, true, []step{{120, false, 0}, {100, false, 0}, {100, false, 100 * -10 / 106.}, {99, true, 100 * -.5 / 99.}}},
	} {
		s := NewSteadySearch(SteadyConfig{Kind: c.kind, Limit: c.limit, Percent: c.percent, Duration: 3 * time.Second,
			Interval: time.Second})
		for i, st := range c.steps {
			var iops, bw, lat uint64
			switch c.kind[0] {
			case 'i':
				iops = st.value
			case 'b':
				bw = st.value
			default:
				lat = st.value
			}
			got := s.Add(iops, bw, lat)
			if state := s.State(); got != st.attained || state.Attained != got || !near(state.Criterion, st.criterion) {
				t.Errorf("%s: value %d: attained %v, criterion %v, want %v, %v", c.kind, i, got, state.Criterion, st.attained, st.criterion)
			}
		}
	}
}

func TestSteadyState(t *testing.T) {
	s := NewSteadySearch(SteadyConfig{Kind: "iops", Limit: 0, Duration: 3 * time.Second, Interval: time.Second})
	s.Add(1, 10, 100)
	s.Add(2, 20, 200)
	want := &Steady{Kind: "iops", DurationMs: 3000, IOPS: []uint64{1, 2, 0}, BW: []uint64{10, 20, 0}, Lat: []uint64{100, 200, 0}}
	if d := cmp.Diff(want, s.State()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	s.Add(3, 30, 300)
	s.Add(4, 40, 400)
	if d := cmp.Diff([]uint64{2, 3, 4}, s.State().IOPS); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	one := NewSteadySearch(SteadyConfig{Kind: "bw_slope", Limit: 100})
	if one.Add(1, 1, 1) || !math.IsNaN(one.State().Slope) {
		t.Error("a single value has a slope")
	}
}

func TestSteadyMeter(t *testing.T) {
	var m SteadyMeter
	m.Measure(time.Second, time.Second, SteadyTotals{Bytes: 1500, IOs: 3})
	bw, iops, sum, n := m.Measure(2500*time.Millisecond, time.Second, SteadyTotals{Bytes: 5500, IOs: 7, LatSumNs: 30, LatCount: 2})
	if bw != 6000 || iops != 6 || sum != 30 || n != 2 {
		t.Errorf("%d, %d, %v, %v, want 6000, 6, 30, 2", bw, iops, sum, n)
	}
}
