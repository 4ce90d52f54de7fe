package main

import (
	"math"
	"slices"
	"testing"
)

func TestScaled(t *testing.T) {
	for text, want := range map[string]float64{"12": 12, "3.5K": 3500, "1.25M": 1.25e6, "714.5K": 714500} {
		if got, err := scaled(text); err != nil || math.Abs(got-want) > 1e-6 {
			t.Errorf("scaled(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	if _, err := scaled("many"); err == nil {
		t.Error("no error for a word")
	}
}

func TestRates(t *testing.T) {
	got, err := rates([]byte("Engine=io_uring\nIOPS=99999, IOS/call=32/32\nIOPS=1.25M, BW=1MiB/s, IOS/call=32/32\nMaximum IOPS=1.25M\n"))
	if err != nil || !slices.Equal(got, []float64{99999, 1.25e6}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, out := range []string{"", "Exiting on timeout\nMaximum IOPS=0\n", "IOPS=fast\n"} {
		if got, err := rates([]byte(out)); err == nil {
			t.Errorf("no error for %q, but %v", out, got)
		}
	}
}

// TestCompare has figures whose ratios are known: the first pair does not count, and a lower time is better.
func TestCompare(t *testing.T) {
	values := []float64{1, 1, 50, 100, 300, 100, 100, 200} // fiord and fio, fio and fiord, …
	next := func() func(bool) (sample, error) {
		i := -1
		return func(fio bool) (sample, error) {
			i++
			if fio != (i%4 == 1 || i%4 == 2) {
				t.Fatalf("run %d: fio %v", i, fio)
			}
			return sample{values: map[measure]float64{byIOPS: values[i], byWall: values[i]}}, nil
		}
	}
	c := &benchCase{name: "x", by: []measure{byIOPS, byWall}}
	rows, err := compare(&options{pairs: 3}, c, next())
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	if r := rows[0]; r.Ratio != 2 || r.Lowest != 2 || r.Highest != 3 || r.Fiord.Value != 200 || r.Fio.Value != 100 {
		t.Errorf("IOPS: %+v", r)
	}
	if r := rows[1]; r.Ratio != 0.5 || r.Highest != 0.5 || math.Abs(r.Lowest-1.0/3) > 1e-12 {
		t.Errorf("wall: %+v", r)
	}
}
