// Package clock tells monotonic time in nanoseconds, cheaply enough to stamp every I/O.
//
// It owns the processor's counter, its calibration and the fallback. It must not know what is timed.
//
// The counter is the invariant TSC on amd64 and the virtual counter on arm64, calibrated against CLOCK_MONOTONIC.
// Where there is none that can be trusted, the clock of the Go runtime (CLOCK_MONOTONIC through the vDSO) is read.
package clock

import (
	"math/bits"
	"time"

	"fiord/internal/feature"
)

// The names of fio's clocksource option.
const (
	sourceCPU          = "cpu"
	sourceClockGettime = "clock_gettime"
	sourceGettimeofday = "gettimeofday"
)

// What Now reads. The zero value is right before anything is calibrated.
const (
	readMonotonic = iota
	readCounter
	readWall
	readScript
)

// The state below is written by Use, before any worker starts, and only read afterwards.
var (
	start = time.Now() // the zero of Now

	read  uint8  // one of the constants above
	base  uint64 // counter value at the zero of Now
	scale ratio  // counter ticks to nanoseconds
)

// first is one point of the calibration line. Taken as early as possible, so that Use seldom has to wait for the other.
var first = firstPoint()

// Now is nanoseconds since an arbitrary start, monotonic over all CPUs, except that with clocksource=gettimeofday it
// is the wall clock, in whole microseconds, with whatever jumps that clock makes.
//
//go:nosplit
func Now() int64 {
	if read == readCounter {
		return scale.nanos(ticks() - base)
	}
	return slowNow()
}

func slowNow() int64 {
	switch read {
	case readWall:
		return time.Now().UnixMicro() * 1000
	case readScript:
		return script()
	}
	return int64(time.Since(start))
}

// Ticks is the raw counter that Now is made of, for a loop that stamps now and converts later with Nanos. Without a
// counter it is Now itself.
func Ticks() uint64 {
	if read == readCounter {
		return ticks()
	}
	return uint64(slowNow())
}

// Nanos converts a value of Ticks to the nanoseconds of Now.
func Nanos(t uint64) int64 {
	if read == readCounter {
		return scale.nanos(t - base)
	}
	return int64(t)
}

// Source names what Now reads: "tsc", "cntvct", "clock_gettime" or "gettimeofday".
func Source() string {
	switch read {
	case readCounter:
		return counterName
	case readWall:
		return sourceGettimeofday
	default:
		return sourceClockGettime
	}
}

// Use selects the source by fio's clocksource name: "cpu", "clock_gettime" or "gettimeofday". The empty name is the
// default: the processor's counter where it can be trusted, else clock_gettime. It must be called before any worker
// starts, and values of Now before and after a call must not be mixed. "cpu" where the counter cannot be trusted is an
// error that answers errors.Is(err, errors.ErrUnsupported).
func Use(name string) error {
	switch name {
	case "", sourceCPU:
		err := calibrate()
		if err == nil {
			read = readCounter
			return nil
		}
		if name == sourceCPU {
			return err
		}
		read = readMonotonic
	case sourceClockGettime:
		read = readMonotonic
	case sourceGettimeofday:
		read = readWall
	default:
		return &NameError{Name: name}
	}
	return nil
}

// NameError is a clocksource that does not exist.
type NameError struct{ Name string }

// Error says which names exist.
func (e *NameError) Error() string {
	return "clocksource: want cpu, clock_gettime or gettimeofday, got \"" + e.Name + "\""
}

// ratio multiplies by mult / 2^shift.
type ratio struct {
	mult  uint64
	shift uint8 // below 64
}

// ratioOf makes the ratio that turns ticks counter steps into ns nanoseconds, to 63 bits or so. Both must be positive.
func ratioOf(ns, ticks uint64) ratio {
	// The largest shift whose multiplier fits in 64 bits. 2^63 ns is 292 years, so the product's high word never
	// overflows when it is shifted back.
	shift := uint8(63)
	for shift > 0 {
		hi, lo := ns>>(64-shift), ns<<shift
		if hi < ticks {
			q, _ := bits.Div64(hi, lo, ticks)
			return ratio{mult: q, shift: shift}
		}
		shift--
	}
	return ratio{mult: ns / ticks}
}

// nanos converts a number of ticks. The product has 128 bits, so no run is too long for it.
func (r *ratio) nanos(n uint64) int64 {
	hi, lo := bits.Mul64(n, r.mult)
	return int64(hi<<(64-r.shift&63) | lo>>(r.shift&63))
}

// untrusted is the error for a counter that must not be used.
func untrusted(why string) error { return &feature.Error{Name: "clocksource=cpu", Hint: why} }
