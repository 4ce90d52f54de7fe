package clock

import (
	"errors"
	"math"
	"math/big"
	"runtime"
	"testing"
	"time"
)

// restore puts the source back after a test that selects one.
func restore(t *testing.T) {
	t.Helper()
	saved := read
	t.Cleanup(func() { read = saved })
}

func TestUseSelectsTheSource(t *testing.T) {
	restore(t)
	for _, name := range []string{"clock_gettime", "gettimeofday"} {
		if err := Use(name); err != nil || Source() != name {
			t.Errorf("Use(%q): %v, source %q", name, err, Source())
		}
	}
	var bad *NameError
	if err := Use("sundial"); !errors.As(err, &bad) || bad.Name != "sundial" {
		t.Errorf("Use(sundial) = %v", err)
	}
	if err := Use(""); err != nil {
		t.Errorf("the default source fails: %v", err)
	}
	err := Use("cpu")
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("no trusted counter: %v", err)
	}
	if err != nil || Source() != counterName {
		t.Errorf("Use(cpu): %v, source %q", err, Source())
	}
}

func TestNowIsMonotonicAndMeasuresTime(t *testing.T) {
	restore(t)
	for _, name := range []string{"cpu", "clock_gettime"} {
		t.Run(name, func(t *testing.T) {
			if err := Use(name); err != nil {
				t.Skipf("no trusted counter: %v", err)
			}
			last := Now()
			for range 100_000 {
				now := Now()
				if now < last {
					t.Fatalf("went back by %d ns", last-now)
				}
				last = now
			}
			// The same interval by both clocks, each end bracketed, so that a preemption cannot fail the test.
			outerFrom := time.Now()
			from := Now()
			innerFrom := time.Now()
			for time.Since(innerFrom) < 20*time.Millisecond {
				runtime.Gosched()
			}
			innerTo := time.Now()
			to := Now()
			outerTo := time.Now()
			got := time.Duration(to - from)
			slack := innerTo.Sub(innerFrom) / 1000 // a rate wrong by a thousandth
			if got < innerTo.Sub(innerFrom)-slack || got > outerTo.Sub(outerFrom)+slack {
				t.Errorf("measured %v, want %v to %v", got, innerTo.Sub(innerFrom), outerTo.Sub(outerFrom))
			}
			before := Now()
			mid := Nanos(Ticks())
			if after := Now(); mid < before || mid > after {
				t.Errorf("Nanos(Ticks()) = %d, outside of %d..%d", mid, before, after)
			}
		})
	}
}

func TestGettimeofdayIsTheWallClock(t *testing.T) {
	restore(t)
	if err := Use("gettimeofday"); err != nil {
		t.Fatal(err)
	}
	if now := Now(); now%1000 != 0 || time.Since(time.Unix(0, now)).Abs() > time.Hour {
		t.Errorf("Now() = %d", now)
	}
}

func TestRatioIsExact(t *testing.T) {
	for _, c := range []struct{ ns, ticks uint64 }{
		{20_000_000, 48_000_000},         // 2.4 GHz
		{20_000_000, 20_000_000},         // 1 GHz
		{1_000_000_000, 24_000_000},      // 24 MHz
		{1_000_000_000, 1},               // 1 Hz
		{1, 1_000_000_000},               // absurdly fast
		{math.MaxInt64, 1},               // no shift left
		{20_000_123, 99_999_999_999_999}, // odd
	} {
		r := ratioOf(c.ns, c.ticks)
		for _, n := range []uint64{0, 1, c.ticks, c.ticks * 7, 1 << 32, 1 << 48} {
			exact := new(big.Int).Mul(new(big.Int).SetUint64(n), new(big.Int).SetUint64(c.ns))
			exact.Quo(exact, new(big.Int).SetUint64(c.ticks))
			if !exact.IsInt64() || exact.Int64() > math.MaxInt64/2 {
				continue
			}
			got := r.nanos(n)
			// The multiplier is cut off below, so the result may be short by n parts of its last place.
			if diff := exact.Int64() - got; diff < 0 || diff > 1+exact.Int64()>>50 {
				t.Errorf("%d ns per %d ticks: nanos(%d) = %d, want %v", c.ns, c.ticks, n, got, exact)
			}
		}
	}
}

func TestFitFindsZeroAndRate(t *testing.T) {
	a := point{ticks: 1_000_000, ns: 1000}
	b := point{ticks: 1_000_000 + 60_000_000, ns: 1000 + 20_000_000} // 3 GHz
	r, zero, err := fit(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if zero != 1_000_000-3000 {
		t.Errorf("zero at %d, want %d", zero, 1_000_000-3000)
	}
	if got := r.nanos(b.ticks - zero); got < b.ns-1 || got > b.ns {
		t.Errorf("second point at %d ns, want %d", got, b.ns)
	}
	// A counter ahead by 3000 ticks, or behind, is 1 µs off.
	for _, d := range []int64{3000, -3000} {
		p := point{ticks: uint64(int64(b.ticks) + d), ns: b.ns}
		if got := skewOf(r, b, p); got < d/3-1 || got > d/3+1 {
			t.Errorf("skew of %d ticks = %d ns", d, got)
		}
	}
	for name, p := range map[string]point{"standing": {a.ticks, b.ns, 0}, "backward": {1, b.ns, 0}, "no time": {b.ticks, a.ns, 0}} {
		if _, _, err := fit(a, p); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s counter: got %v", name, err)
		}
	}
}

func BenchmarkNow(b *testing.B) {
	saved := read
	defer func() { read = saved }()
	for _, name := range []string{"cpu", "clock_gettime"} {
		if err := Use(name); err != nil {
			continue
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Now()
			}
		})
	}
}
