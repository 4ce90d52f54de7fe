package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"fiord/clock"
	"fiord/internal/sys"
)

// What the two processes say to each other, a line each: the probe sends idleReady when it is ready to start, is told to,
// and answers each idleRead with idleCounts.
const (
	idleStart = "start\n"
	idleRead  = "read\n"
)

// idleReady is the probe's first line.
type idleReady struct {
	CPUs   []int     // which CPUs it watches
	UnitUs []float64 // how long a unit of work takes on each, in microseconds
}

// idleCounts is how many units of work the CPUs have done in Us microseconds.
type idleCounts struct {
	Us    float64
	Units []uint64
}

// IdleProbe is the process that measures how idle the CPUs are: on each it may use, a thread of the class SCHED_IDLE counts
// the units of work that it has time for. How long a unit takes is found out before, at normal priority. It ends when in
// does.
func IdleProbe(in io.Reader, out io.Writer) error {
	debug.SetGCPercent(-1) // a collection would wait for threads that get no CPU
	cpus, err := sys.Affinity()
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(min(len(cpus)+4, 1024))
	p := newIdleThreads(cpus)
	if err := p.prepare(); err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	if err := enc.Encode(idleReady{CPUs: cpus, UnitUs: p.unitUs}); err != nil {
		return fmt.Errorf("idle probe: %w", err)
	}
	began := int64(0)
	for lines := newLines(in); lines.Scan(); {
		switch lines.Text() + "\n" {
		case idleStart:
			began = clock.Now()
			close(p.start)
		case idleRead:
			c := idleCounts{Us: float64(clock.Now()-began) / 1e3}
			for i := range p.units {
				c.Units = append(c.Units, p.units[i].Load())
			}
			if err := enc.Encode(c); err != nil {
				return fmt.Errorf("idle probe: %w", err)
			}
		}
	}
	return nil
}

// idleThreads are the counting threads.
type idleThreads struct {
	cpus   []int
	unitUs []float64
	errs   []error
	units  []paddedCount
	start  chan struct{} // closed to begin
	ready  sync.WaitGroup
}

type paddedCount struct {
	atomic.Uint64
	_ [56]byte // a cache line of its own
}

func newIdleThreads(cpus []int) *idleThreads {
	n := len(cpus)
	return &idleThreads{cpus: cpus, unitUs: make([]float64, n), errs: make([]error, n), units: make([]paddedCount, n),
		start: make(chan struct{})}
}

// prepare starts the threads and waits until all have measured their unit of work.
func (p *idleThreads) prepare() error {
	for i := range p.cpus {
		p.ready.Add(1)
		go p.thread(i)
	}
	p.ready.Wait()
	return errors.Join(p.errs...)
}

// thread counts units on one CPU until the process ends.
func (p *idleThreads) thread(i int) {
	runtime.LockOSThread()
	page := make([]byte, os.Getpagesize())
	if err := sys.SetAffinity(p.cpus[i : i+1]); err != nil {
		p.errs[i] = fmt.Errorf("bind to CPU %d: %w", p.cpus[i], err)
		p.ready.Done()
		return
	}
	p.unitUs[i] = calibrate(page)
	p.errs[i] = sys.SetIdleClass()
	p.ready.Done()
	<-p.start
	for j := 0; ; j++ {
		work(page, j)
		p.units[i].Add(1)
	}
}

// calibrate is the least time of a unit of work, in microseconds: the best of ten averages over a thousand units, as fio's
// idle profiling takes it.
func calibrate(page []byte) float64 {
	const runs, units = 10, 1000
	best := time.Duration(0)
	for range runs {
		began := clock.Now()
		for j := range units {
			work(page, j)
		}
		if took := time.Duration(clock.Now() - began); best == 0 || took < best {
			best = took
		}
	}
	return float64(best.Nanoseconds()) / 1e3 / units
}

// work is one unit: each byte of the page is written once.
//
//go:noinline
func work(page []byte, from int) {
	mask := len(page) - 1 // page sizes are powers of two
	for k := range page {
		page[(k+from)&mask] = byte(k)
	}
}
