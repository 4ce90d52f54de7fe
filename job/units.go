package job

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// What is said of numbers and times that cannot be read.
const (
	wantBytes = "a number, decimal or 0x hexadecimal, with an optional k, m, g, t or p (ki, kb, kib, ...), or arithmetic in parentheses"
	wantTime  = "a time: a number with an optional d, h, m, s, ms or us, or arithmetic in parentheses"
)

var errOverflow = errors.New("number too large for 63 bits")

// ParseBytes reads a number as fio's size and integer options take it: decimal or hexadecimal with a unit suffix, or
// arithmetic in parentheses. With a kbBase of 1024 the suffixes k and kb mean 1024 and kib means 1000, for
// compatibility; with 1000 each means what it says.
//
// fio differs: it takes any other suffix as a factor of 1, cuts decimals at the point, and lets products wrap around.
// Here those are errors.
func ParseBytes(text string, kbBase int) (int64, error) {
	v, percent, err := parseQuantity(text, kbBase)
	if err == nil && percent {
		return 0, badValue(text, "%s; a percentage does not apply here", wantBytes)
	}
	return v, err
}

// parseQuantity is ParseBytes that also takes a percentage.
func parseQuantity(text string, kbBase int) (v int64, percent bool, err error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "(") {
		v, err := evaluate(s, false)
		return v.round(), false, err
	}
	n, suffix, err := splitNumber(s)
	if err != nil {
		return 0, false, numberError(err, text, wantBytes)
	}
	if suffix == "%" {
		return n, true, nil
	}
	mult, ok := byteSuffix(suffix, int64(kbBase))
	if !ok {
		return 0, false, badValue(text, "%s", wantBytes)
	}
	v, ok = mulInt64(n, mult)
	if !ok {
		return 0, false, numberError(errOverflow, text, "")
	}
	return v, false, nil
}

// ParseTime reads a time whose bare number counts unit. Negative times are errors.
//
// fio differs: it takes unknown suffixes as microseconds and cuts arithmetic to whole seconds.
func ParseTime(text string, unit time.Duration) (time.Duration, error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "(") {
		return evaluateTime(s, unit)
	}
	n, suffix, err := splitNumber(s)
	if err != nil {
		return 0, numberError(err, text, wantTime)
	}
	if suffix != "" {
		var ok bool
		if unit, ok = timeSuffix(suffix); !ok {
			return 0, badValue(text, "%s", wantTime)
		}
	}
	v, ok := mulInt64(n, int64(unit))
	if !ok {
		return 0, numberError(errOverflow, text, "")
	}
	if v < 0 {
		return 0, badValue(text, "%s, not below 0", wantTime)
	}
	return time.Duration(v), nil
}

func evaluateTime(s string, unit time.Duration) (time.Duration, error) {
	v, err := evaluate(s, true)
	if err != nil {
		return 0, err
	}
	// Suffixes of times count microseconds.
	perUnit := time.Microsecond
	if !v.units {
		perUnit = unit
	}
	ns := v.scale(int64(perUnit))
	if ns.overflow() {
		return 0, numberError(errOverflow, s, "")
	}
	if ns.round() < 0 {
		return 0, badValue(s, "%s, not below 0", wantTime)
	}
	return time.Duration(ns.round()), nil
}

func numberError(err error, text, want string) error {
	if errors.Is(err, errOverflow) || errors.Is(err, strconv.ErrRange) {
		return badValue(text, "a number that fits in 63 bits")
	}
	return badValue(text, "%s", want)
}

// splitNumber cuts a leading signed integer off s, decimal or hexadecimal, and returns what follows it in lower case.
func splitNumber(s string) (n int64, suffix string, err error) {
	end := 0
	if strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		end++
	}
	digits := "0123456789"
	hex := len(s) > end+1 && s[end] == '0' && (s[end+1] == 'x' || s[end+1] == 'X')
	if hex {
		end += 2
		digits = "0123456789abcdefABCDEF"
	}
	start := end
	for end < len(s) && strings.IndexByte(digits, s[end]) >= 0 {
		end++
	}
	if end == start {
		return 0, "", strconv.ErrSyntax
	}
	if hex && end < len(s) {
		return 0, "", strconv.ErrSyntax // a suffix could be taken for digits
	}
	if hex {
		n, err = strconv.ParseInt(strings.TrimPrefix(s[:start-2], "+")+s[start:end], 16, 64)
	} else {
		n, err = strconv.ParseInt(s[:end], 10, 64)
	}
	return n, strings.ToLower(s[end:]), err
}

// byteSuffix gives the factor of a unit suffix. The empty suffix and b are 1.
func byteSuffix(suffix string, kbBase int64) (int64, bool) {
	if suffix == "" || suffix == "b" {
		return 1, true
	}
	power := strings.IndexByte("kmgtp", suffix[0]) + 1
	if power == 0 {
		return 0, false
	}
	base := kbBase
	switch suffix[1:] {
	case "", "b", "i":
	case "ib":
		base = 2024 - kbBase // the other one of 1000 and 1024
	default:
		return 0, false
	}
	mult := int64(1)
	for range power {
		mult *= base
	}
	return mult, true
}

func timeSuffix(suffix string) (time.Duration, bool) {
	switch suffix {
	case "us", "usec":
		return time.Microsecond, true
	case "ms", "msec":
		return time.Millisecond, true
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return 24 * time.Hour, true
	}
	return 0, false
}

func mulInt64(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	if c/b != a || (a == -1 && b == math.MinInt64) || (b == -1 && a == math.MinInt64) {
		return 0, false
	}
	return c, true
}

func addInt64(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}
