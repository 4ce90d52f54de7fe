package run

import (
	"math"
	"runtime"
	"runtime/debug"
)

// quiet keeps the Go runtime out of the measurement: more processors than workers, so that a woken worker never waits for
// one, and no collection unless memory grows far beyond what the run needs. Jobs that remember what they have written need
// memory without a limit that is known; collections get rarer as it grows. It returns what undoes it.
//
// A worker keeps its processor while it sleeps in a system call for its I/O. If it told the runtime of every sleep, the
// runtime's monitor would take the processor back after 20 us and go on looking every 20 us: some 3000 timer interrupts a
// second, which cost psync a seventh of its IOPS and move p99. The price is that a collection waits for the I/O in flight.
func quiet(workers int, remember bool) func() {
	procs := runtime.GOMAXPROCS(0)
	if want := workers + 2; procs < want {
		runtime.GOMAXPROCS(want)
	}
	// No collection now either: what waits for its sweepers never ends under a real-time policy on one CPU.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	const headroom, doubled = 512 << 20, 200
	percent, limit := 0, int64(0)
	if remember {
		percent, limit = debug.SetGCPercent(doubled), debug.SetMemoryLimit(math.MaxInt64)
	} else {
		percent, limit = debug.SetGCPercent(-1), debug.SetMemoryLimit(int64(m.Sys)+headroom)
	}
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	}
}

// collections is how many garbage collections there have been.
func collections() int64 {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return s.NumGC
}
