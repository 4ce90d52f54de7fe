package job

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseBytes(t *testing.T) {
	tests := []struct {
		text   string
		kbBase int
		want   int64
	}{
		{"4096", 1024, 4096},
		{"0", 1024, 0},
		{"010", 1024, 10}, // no octal
		{"+4k", 1024, 4096},
		{"-8k", 1024, -8192},
		{" 4k ", 1024, 4096},
		{"0x1000", 1024, 4096},
		{"0XfF", 1024, 255},
		{"-0x10", 1024, -16},
		{"4b", 1024, 4},
		{"4k", 1024, 4096},
		{"4KB", 1024, 4096},
		{"4Ki", 1024, 4096},
		{"4KiB", 1024, 4000}, // fio's inverted prefixes
		{"4k", 1000, 4000},
		{"4kib", 1000, 4096},
		{"2m", 1024, 2 << 20},
		{"2mib", 1024, 2000000},
		{"3g", 1024, 3 << 30},
		{"1t", 1024, 1 << 40},
		{"1pb", 1024, 1 << 50},
		{"1pib", 1000, 1 << 50},
		{"9223372036854775807", 1024, math.MaxInt64},
		{"(4*16k)", 1024, 65536},
		{"(10k-4k)", 1024, 6144},
		{"( 1 + 2 )k", 1024, 3072},
		{"(1+4*4k)", 1024, 1 + 16<<10},
		{"(2^10k)", 1024, 1 << 20},
		{"(2^3^2)", 1024, 512},
		{"(7%4)", 1024, 3},
		{"(-2+6)", 1024, 4},
		{"(1.5*4k)", 1024, 6144},
		{"(1e3)", 1024, 1000},
		{"(0x10*2)", 1024, 32},
		{"(8k/2)", 1024, 4096},
		{"(7/2)", 1024, 3},
		{"(4kib)", 1000, 4000}, // arithmetic does not see kb_base
		{"(2^-1*4)", 1024, 2},
	}
	for _, tt := range tests {
		got, err := ParseBytes(tt.text, tt.kbBase)
		if err != nil || got != tt.want {
			t.Errorf("ParseBytes(%q, %d) = %d, %v; want %d", tt.text, tt.kbBase, got, err, tt.want)
		}
	}
}

func TestParseBytesRefuses(t *testing.T) {
	for _, text := range []string{"", " ", "k", "4q", "4 k", "1.5g", "4kk", "4kfoo", "4s", "0x", "0x10k", "-", "50%", "4k-8k",
		"9223372036854775808", "-9223372036854775809", "9007199254740992k", "0x8000000000000000",
		"(", "()", "(4", "(4*)", "(4)x", "(1/0)", "(1%0)", "(4q)", "(4k))", "(1.5%2)", "(1.0/0)", "(4s)",
		"(9223372036854775807+1)", "(0-9223372036854775807-2)", "(9223372036854775807*2)", "(2^64)", "(1e300)", "(3^63)",
		strings.Repeat("(", 1000)} {
		_, err := ParseBytes(text, 1024)
		if !errors.Is(err, ErrBadValue) {
			t.Errorf("ParseBytes(%q): got %v, want a bad value", text, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	tests := []struct {
		text string
		unit time.Duration
		want time.Duration
	}{
		{"5", time.Second, 5 * time.Second},
		{"5", time.Microsecond, 5 * time.Microsecond},
		{"5s", time.Microsecond, 5 * time.Second},
		{"2m", time.Second, 2 * time.Minute},
		{"2M", time.Second, 2 * time.Minute},
		{"1h", time.Second, time.Hour},
		{"1d", time.Second, 24 * time.Hour},
		{"10ms", time.Second, 10 * time.Millisecond},
		{"10msec", time.Second, 10 * time.Millisecond},
		{"7us", time.Second, 7 * time.Microsecond},
		{"7usec", time.Second, 7 * time.Microsecond},
		{"(2*5)", time.Second, 10 * time.Second},
		{"(1m+30s)", time.Second, 90 * time.Second},
		{"(1.5s)", time.Second, 1500 * time.Millisecond},
		{"(0.5)", time.Second, 500 * time.Millisecond},
	}
	for _, tt := range tests {
		got, err := ParseTime(tt.text, tt.unit)
		if err != nil || got != tt.want {
			t.Errorf("ParseTime(%q, %v) = %v, %v; want %v", tt.text, tt.unit, got, err, tt.want)
		}
	}
	for _, text := range []string{"", "s", "5q", "5sec", "5min", "1h30m", "1.5h", "-5", "(0-5)", "(1k)", "9223372036854775807",
		"(9223372036854775807d)", "300000d"} {
		if _, err := ParseTime(text, time.Second); !errors.Is(err, ErrBadValue) {
			t.Errorf("ParseTime(%q): got %v, want a bad value", text, err)
		}
	}
}

// FuzzUnits checks that no text panics and that what is read is within bounds.
func FuzzUnits(f *testing.F) {
	for _, s := range []string{"4k", "(4*16k)", "0x1000", "-1", "5ms", "(1.5*2^3%2)", "9223372036854775807p", "50%", "((", "(-(-(1)))", "1e5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ParseBytes(text, 1024); err != nil && !errors.Is(err, ErrBadValue) {
			t.Errorf("ParseBytes(%q): %v is no bad value", text, err)
		}
		_, _ = ParseBytes(text, 1000)
		if d, err := ParseTime(text, time.Second); err == nil && d < 0 {
			t.Errorf("ParseTime(%q) = %v", text, d)
		}
		if _, err := parseFloat(text); err != nil {
			return
		}
	})
}
