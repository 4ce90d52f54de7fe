package run

import (
	"sync"
	"sync/atomic"
	"time"

	"fiord/clock"
	"fiord/internal/sys"
)

const (
	// gatePatience is how long a gate stays shut without another job arriving, once all have their threads: one that takes
	// long to prepare, such as by its exec_prerun, must not hold the others up.
	gatePatience = 100 * time.Millisecond
	// briefBytes is how much a job may have to do and be over before anybody misses the CPU.
	briefBytes = 256 << 10
)

// What the word of a gate says.
const (
	gateShut uint32 = iota
	gateOpen
)

// gate lets the jobs that are started together begin their I/O at one moment, when all are prepared. Without it those that
// are first take the CPUs from the threads of the others, which each need some to come into being: the last of hundreds of
// jobs would begin when the first have ended, and sums over such jobs are of no use.
//
// Jobs wait in the kernel for one word, so that one system call lets all go. nil: there is nobody to wait for.
type gate struct {
	word     atomic.Uint32
	unborn   atomic.Int32 // jobs whose thread has not begun: they lack nothing but a CPU
	missing  atomic.Int32 // jobs still to arrive
	watched  atomic.Bool  // one of those that wait looks at the time
	opened   atomic.Int64 // clock.Now when it opened; 0: it has not
	patience time.Duration
}

// newGate makes the gate of n jobs.
func newGate(n int, patience time.Duration) *gate {
	if n < 2 {
		return nil
	}
	g := &gate{patience: patience}
	g.unborn.Store(int32(n))
	g.missing.Store(int32(n))
	return g
}

// born tells that the thread of a job has begun.
func (g *gate) born() {
	if g != nil {
		g.unborn.Add(-1)
	}
}

// arrive counts a job in; the last opens the gate.
func (g *gate) arrive() {
	if g != nil && g.missing.Add(-1) == 0 {
		g.open()
	}
}

// open lets all jobs go that wait, and those that come later straight through.
func (g *gate) open() {
	if !g.opened.CompareAndSwap(0, clock.Now()) {
		return
	}
	g.word.Store(gateOpen)
	sys.WakeAll(&g.word)
}

func (g *gate) shut() bool { return g.word.Load() == gateShut }

// pass counts a job in, waits until the gate opens, and returns when it did: what a thread then waits for a CPU belongs to
// the job's run time. It returns 0 for a job that came late. It must be on a thread of its own.
func (g *gate) pass() int64 {
	if g == nil || !g.shut() {
		g.arrive()
		return 0
	}
	g.arrive()
	if g.watched.CompareAndSwap(false, true) {
		g.watch()
	}
	for g.shut() {
		sys.WaitWhile(&g.word, gateShut, 0)
	}
	return g.opened.Load()
}

// watch waits for the gate, and opens it when no job arrives any more.
func (g *gate) watch() {
	for missing := g.missing.Load(); g.shut(); {
		if sys.WaitWhile(&g.word, gateShut, g.patience) {
			continue
		}
		if g.stalled(missing) {
			g.open()
		}
		missing = g.missing.Load()
	}
}

// stalled reports whether no job has arrived since as many were missing, though all have had the chance.
func (g *gate) stalled(missing int32) bool {
	return g.unborn.Load() == 0 && g.missing.Load() == missing
}

// gates are the gates of a run that may be shut.
type gates struct {
	mu       sync.Mutex
	list     []*gate
	unwanted bool // a collection runs, which waits for threads that wait at a gate
}

// add keeps a gate, and forgets those before it that are open.
func (l *gates) add(g *gate) {
	if g == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unwanted {
		g.open()
		return
	}
	shut := l.list[:0]
	for _, g := range l.list {
		if g.shut() {
			shut = append(shut, g)
		}
	}
	clear(l.list[len(shut):])
	l.list = append(shut, g)
}

// open opens all: jobs that wait there have been asked to end, or others of their run.
func (l *gates) open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.list {
		g.open()
	}
	l.list = nil
}

// unwant opens all, and those to come too until it is called off.
func (l *gates) unwant(on bool) {
	l.mu.Lock()
	l.unwanted = on
	l.mu.Unlock()
	if on {
		l.open()
	}
}

// gather waits for the jobs that start together with this one. A brief one just goes on: hundreds of threads that live at
// the same time cost more than one after the other.
func (w *worker) gather() error {
	if w.set == nil || len(w.set.Files) == 0 || w.brief() {
		return nil
	}
	w.enter(stateInitialized)
	w.gathered = true
	w.released = w.gate.pass()
	return nil
}

// brief reports whether the job is over as soon as it has begun.
func (w *worker) brief() bool {
	if w.gen == nil || w.job.TimeBased || w.drv.Traits.NoIO || w.rate != nil || w.think != nil {
		return false
	}
	return w.gen.Remaining() <= briefBytes
}

// excuse counts a job in at the gate that does not wait there: it could not be prepared, or has little or nothing to do.
func (w *worker) excuse() {
	if !w.gathered {
		w.gate.arrive()
	}
}

// noteIdle warns of jobs that were let go and did nothing before their time was over: sums are those of the others alone.
func (r *runner) noteIdle() {
	idle := 0
	for _, w := range r.workers {
		if w.released != 0 && w.job.Runtime > 0 && w.st.Error == 0 && w.st.TotalIOs() == 0 && !w.drv.Traits.NoIO {
			idle++
		}
	}
	r.mu.Lock()
	stopped := r.interrupted
	r.mu.Unlock()
	if idle > 0 && !stopped {
		r.note("%d of %d jobs did no I/O before their runtime was over: are there too many for the CPUs?", idle, len(r.workers))
	}
}
