package run

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// quiet keeps the Go runtime out of the measurement: more processors than workers, so that a woken worker never waits for
// one, and no collection but those of collectGarbage. It returns what undoes it.
//
// A worker keeps its processor while it sleeps in a system call for its I/O. If it told the runtime of every sleep, the
// runtime's monitor would take the processor back after 20 us and go on looking every 20 us: some 3000 timer interrupts a
// second, which cost psync a seventh of its IOPS and move p99. The price is that a collection, which stops all goroutines,
// waits for the I/O in flight: were some device to hang then, everything would, signals and reports included.
func quiet(workers int) func() {
	procs := runtime.GOMAXPROCS(0)
	// Also where that is no change: from then on the runtime leaves the number alone when the CPUs of the process get fewer.
	runtime.GOMAXPROCS(max(procs, workers+2))
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(math.MaxInt64)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	}
}

const (
	// garbageLimit is how much memory may grow before it is collected, in bytes; from 1 GiB on, by half.
	garbageLimit = 512 << 20
	// garbageLook is how often that is looked at.
	garbageLook = 250 * time.Millisecond
)

// collectGarbage collects when memory has grown a lot and all jobs go on: see quiet. It returns when the run is over.
func (r *runner) collectGarbage() {
	look := time.NewTicker(garbageLook)
	defer look.Stop()
	progress := make([]uint64, len(r.workers))
	limit := heap() + garbageLimit
	for {
		select {
		case <-r.over:
			return
		case <-look.C:
		}
		if moving := r.moving(progress); heap() > limit && moving {
			r.yield(true)
			r.gates.unwant(true)
			runtime.GC()
			r.gates.unwant(false)
			r.yield(false)
			live := heap()
			limit = live + max(garbageLimit, live/2)
		}
	}
}

// yield tells the workers whether they are to yield when the runtime asks them to, as a collection does.
func (r *runner) yield(on bool) {
	for _, w := range r.workers {
		w.yields.Store(on)
	}
}

// moving reports whether every job that does I/O has done some since the last call, which left its count in progress.
func (r *runner) moving(progress []uint64) bool {
	all := true
	for i, w := range r.workers {
		var n uint64
		for d := range w.ios {
			n += w.ios[d].Load()
		}
		if s := w.get(); n == progress[i] && s > stateNotCreated && s < stateExited {
			all = false
		}
		progress[i] = n
	}
	return all
}

// heap is how many bytes the Go heap holds, garbage included. Asking stops nobody.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// collections is how many garbage collections there have been.
func collections() int64 {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return s.NumGC
}
