// Package clock tells monotonic time in nanoseconds, cheaply enough to stamp every I/O.
//
// It owns the time stamp counter, its calibration and the fallback. It must not know what is timed.
package clock

import "time"

// Now is nanoseconds since an arbitrary start, monotonic over all CPUs.
func Now() int64 { return int64(time.Since(start)) }

var start = time.Now()

// Source names what Now reads: "tsc", "cntvct" or "clock_gettime".
func Source() string { return "clock_gettime" }

// Use selects the source by fio's clocksource name: "cpu", "clock_gettime", "gettimeofday". It must be called before
// any worker starts.
func Use(_ string) error { return nil }
