package report

import (
	"math"
	"testing"
)

// The values were read off reports of fio 3.42.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v           uint64
		width, base int
		binary      bool
		unit        Unit
		want        string
	}{
		{0, 4, 1, true, BytesPerSec, "0B/s"},
		{4096, 4, 1, true, Bytes, "4096B"},
		{16384, 4, 1, true, Bytes, "16.0KiB"},
		{65536, 4, 1, false, Bytes, "65.5kB"},
		{1048576, 4, 1, true, Bytes, "1024KiB"},
		{1048576, 4, 1, false, Bytes, "1049kB"},
		{524288000, 4, 1, true, BytesPerSec, "500MiB/s"},
		{524288000, 4, 1, false, BytesPerSec, "524MB/s"},
		{128000, 4, 1, false, Plain, "128k"},
		{10666, 4, 1, false, Plain, "10.7k"},
		{64122000, 6, 1, false, Plain, "64122k"},
		{64122500, 6, 1, false, Plain, "64123k"}, // no room for decimals: rounded
		{1048576000, 6, 1, false, BytesPerSec, "1048.6MB/s"},
		{1048576000, 6, 1, true, BytesPerSec, "1000.0MiB/s"},
		{2147483648, 4, 1, true, BitsPerSec, "16.0Gibit/s"},
		{2147483648, 4, 1, false, BitsPerSec, "17.2Gbit/s"},
		{1048576000, 4, 1, true, Plain, "1000Mi"},
		{99999, 4, 1, false, Plain, "100.0k"}, // the decimals round up to a whole
		{8032, 4, 1024, true, BytesPerSec, "8032KiB/s"},
		{16076, 4, 1024, true, BytesPerSec, "15.7MiB/s"},
		{16076, 4, 1024, false, BytesPerSec, "16.1MB/s"}, // 1024 is one step of 1000 here
		{16076, 4, 1000, true, BytesPerSec, "15.7MiB/s"},
		{math.MaxUint64, 4, 1, true, Bytes, "16.0EiB"},
		{math.MaxUint64, 1, 1, false, Plain, "0"}, // beyond the last prefix
	} {
		if got := Number(c.v, c.width, c.base, c.binary, c.unit); got != c.want {
			t.Errorf("Number(%d, %d, %d, %v, %d) = %q, want %q", c.v, c.width, c.base, c.binary, c.unit, got, c.want)
		}
	}
}

func TestFinite(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := finite(f); got != 0 {
			t.Errorf("finite(%v) = %v", f, got)
		}
	}
	if got := ratio(1, 0); got != 0 {
		t.Errorf("ratio(1, 0) = %v", got)
	}
}

func TestErrnoText(t *testing.T) {
	for errno, want := range map[int]string{0: "Success", 5: "Input/output error", 22: "Invalid argument",
		84: "Invalid or incomplete multibyte or wide character", 4095: "Unknown error 4095"} {
		if got := ErrnoText(errno); got != want {
			t.Errorf("ErrnoText(%d) = %q, want %q", errno, got, want)
		}
	}
}

func TestShortTime(t *testing.T) {
	for ns, want := range map[uint64]string{0: "0.00ns", 1999: "1999.00ns", 2000: "2.00us", 1_999_999: "2000.00us",
		500_000_000: "500.00ms", 2_500_000_000: "2.50s"} {
		if got := shortTime(ns); got != want {
			t.Errorf("shortTime(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	for ns, want := range map[float64]string{0: "0.000ns", 9.9994: "9.999ns", 9.9996: "10.00ns", 999.94: "999.9ns",
		999.96: "1.000us", 1000: "1.000us", 99_995: "100.0us", 1.5e6: "1.500ms", 12.345e9: "12.35s", 4e12: "4000.0s"} {
		if got := figures(ns); got != want {
			t.Errorf("figures(%v) = %q, want %q", ns, got, want)
		}
	}
}

func TestInUnit(t *testing.T) {
	for _, c := range []struct {
		min, max uint64
		dev      float64
		want     string
	}{
		{2001, 100_000, 1001, "usec"},
		{2000, 100_000, 1001, "nsec"},
		{2001, 99_999, 1001, "nsec"},
		{2001, 100_000, 1000, "nsec"},
		{2_000_001, 100_000_000, 1_000_001, "msec"},
		{2_000_001, 99_999_999, 1_000_001, "usec"},
	} {
		if _, got := (summary{min: c.min, max: c.max, dev: c.dev}).inUnit(); got != c.want {
			t.Errorf("min %d max %d dev %v: in %s, want %s", c.min, c.max, c.dev, got, c.want)
		}
	}
}
