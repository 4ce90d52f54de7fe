package report

import (
	"math"
	"strconv"
)

// Unit is what a number counts.
type Unit uint8

// The units of Number. Bit units show eight times the number, which counts bytes.
const (
	Plain Unit = iota
	Bytes
	BytesPerSec
	BitsPerSec
)

var unitText = [...]string{Plain: "", Bytes: "B", BytesPerSec: "B/s", BitsPerSec: "bit/s"}

var (
	decimalPrefix = [...]string{"", "k", "M", "G", "T", "P", "E"}
	binaryPrefix  = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

// Number writes v in at most width characters, the decimal point counted and prefix and unit not. Base is the
// multiplier that v already carries (1024 for a number of KiB); binary selects steps of 1024 over steps of 1000. Digits
// that do not fit become decimals of the next prefix, as far as there is room for them, else they round.
func Number(v uint64, width, base int, binary bool, unit Unit) string {
	step, prefixes := uint64(1000), &decimalPrefix
	if binary {
		step, prefixes = 1024, &binaryPrefix
	}
	power := 0
	for b := uint64(max(base, 1)); b > 1; b /= step {
		power++
	}
	if unit == BitsPerSec {
		v *= 8
	}

	rest, divided := uint64(0), false
	for power < len(prefixes) && digits(v) > width {
		rest, divided = v%step, true
		v /= step
		power++
	}
	if power >= len(prefixes) {
		power = 0 // fio runs out of prefixes and then shows none
	}
	tail := prefixes[power] + unitText[unit]
	if !divided {
		return strconv.FormatUint(v, 10) + tail
	}
	room := width - digits(v) - 1
	if room < 1 {
		if rest >= step/2 {
			v++
		}
		return strconv.FormatUint(v, 10) + tail
	}
	fraction := strconv.FormatFloat(float64(rest)/float64(step), 'f', room, 64)
	if fraction[0] == '1' { // rounded up to a whole
		v++
	}
	return strconv.FormatUint(v, 10) + fraction[1:] + tail
}

func digits(v uint64) int {
	n := 1
	for ; v >= 10; v /= 10 {
		n++
	}
	return n
}

// finite keeps not-a-number and infinities out of every report.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// ratio is part/whole, and 0 of nothing.
func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return finite(part / whole)
}

// scale is how a job wants its numbers written.
type scale struct {
	figures int
	binary  bool // kb_base is a power of two
	kbBase  int
	unit    Unit // of rates
}

// newScale reads kb_base, unit_base and significant_figures; 0 stands for their defaults.
func newScale(kbBase, unitBase, figures int) scale {
	s := scale{figures: figures, kbBase: kbBase, unit: BytesPerSec}
	if s.kbBase <= 0 {
		s.kbBase = 1024
	}
	s.binary = s.kbBase&(s.kbBase-1) == 0
	if s.figures <= 0 {
		s.figures = 4
	}
	if unitBase == 1 {
		s.unit = BitsPerSec
	}
	return s
}

// bytes and rate write an amount in the job's own prefixes, altBytes and altRate in the other kind.
func (s scale) bytes(v uint64) string    { return Number(v, s.figures, 1, s.binary, Bytes) }
func (s scale) altBytes(v uint64) string { return Number(v, s.figures, 1, !s.binary, Bytes) }
func (s scale) rate(v uint64) string     { return Number(v, s.figures, 1, s.binary, s.unit) }
func (s scale) altRate(v uint64) string  { return Number(v, s.figures, 1, !s.binary, s.unit) }
func (s scale) count(v uint64) string    { return Number(v, s.figures, 1, false, Plain) }
