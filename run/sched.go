package run

import (
	"time"

	"fiord/clock"
	"fiord/job"
)

// schedule starts the workers in fio's order and returns when all have ended. It runs on the caller's goroutine; workers
// tell it through r.wake that their state has changed.
func (r *runner) schedule() {
	for {
		r.startReady()
		r.endNoIO()
		if r.allEnded() {
			return
		}
		select {
		case <-r.wake:
		case <-r.nextStart():
		case <-r.quit:
			return
		}
	}
}

// startReady starts every worker that nothing holds back: start delay, stonewall, wait_for.
func (r *runner) startReady() {
	wall := r.wall()
	unfinished := r.unfinished()
	var batch []*worker
	for _, w := range r.workers {
		if w.get() != stateNotCreated {
			continue
		}
		if w.stopping() {
			w.enter(stateReaped)
			continue
		}
		late := w.delay > time.Duration(clock.Now()-r.genesis)
		if late || w.job.Stonewall > wall || w.job.WaitFor != "" && w.job.WaitFor != w.job.Name && unfinished[w.job.WaitFor] {
			continue
		}
		batch = append(batch, w)
	}
	g := newGate(len(batch), r.patience)
	r.gates.add(g)
	for _, w := range batch {
		w.gate = g
		w.enter(stateCreated)
		r.alive.Add(1)
		go w.main()
	}
}

// wall is the lowest stonewall number that still has work: jobs behind a higher one wait.
func (r *runner) wall() int {
	low := -1
	for _, w := range r.workers {
		if w.get() < stateExited && (low < 0 || w.job.Stonewall < low) {
			low = w.job.Stonewall
		}
	}
	return low
}

// unfinished holds the names of the jobs that have not ended, where any job waits for another; else it is nil.
func (r *runner) unfinished() map[string]bool {
	if !r.waits {
		return nil
	}
	names := map[string]bool{}
	for _, w := range r.workers {
		if w.get() < stateExited {
			names[w.job.Name] = true
		}
	}
	return names
}

// endNoIO ends jobs that do no I/O (cpuio) when only they are left.
func (r *runner) endNoIO() {
	io, left := 0, 0
	for _, w := range r.workers {
		if w.drv.Traits.NoIO {
			continue
		}
		io++
		if w.get() < stateExited {
			left++
		}
	}
	if io > 0 && left == 0 {
		r.terminateAll()
	}
}

func (r *runner) allEnded() bool {
	for _, w := range r.workers {
		if w.get() < stateExited {
			return false
		}
	}
	return true
}

// nextStart is a channel that fires when the next start delay is over; nil when none is pending.
func (r *runner) nextStart() <-chan time.Time {
	next := time.Duration(-1)
	now := time.Duration(clock.Now() - r.genesis)
	for _, w := range r.workers {
		if w.get() == stateNotCreated && w.delay > now && (next < 0 || w.delay-now < next) {
			next = w.delay - now
		}
	}
	if next < 0 {
		return nil
	}
	return time.After(next)
}

// notify wakes the scheduler; it never blocks.
func (r *runner) notify() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// terminateAll asks every worker to end in order.
func (r *runner) terminateAll() {
	for _, w := range r.workers {
		w.terminate()
	}
	r.gates.open()
	r.notify()
}

// terminateFor ends other jobs when w has ended, as exit_what of w says.
func (r *runner) terminateFor(w *worker) {
	for _, o := range r.workers {
		switch w.job.ExitWhat {
		case "group":
			if o.job.Group != w.job.Group {
				continue
			}
		case "stonewall":
			if o.get() < stateRunning {
				continue
			}
		}
		o.terminate()
	}
	r.gates.open()
	r.notify()
}

// exitAll reports whether any job of the run has exitall: fio keeps it for the whole run.
func exitAll(jobs []*job.Job) bool {
	for _, j := range jobs {
		if j.ExitAll {
			return true
		}
	}
	return false
}
