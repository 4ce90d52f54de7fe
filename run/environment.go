package run

import (
	"slices"

	"fiord/engines"
	"fiord/internal/environ"
	"fiord/internal/sys"
	"fiord/stats"
)

// environment looks at the machine and at what is below the files of the run, now that nothing is measured any more.
func (r *runner) environment() *environ.Environment {
	var paths []string
	for _, w := range r.workers {
		if w.set == nil || w.drv.Traits.Diskless {
			continue
		}
		for _, f := range w.set.Files {
			paths = append(paths, f.Name)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths) // jobs may share files
	return environ.System{}.Gather(paths)
}

// cpus are the CPUs that the thread may run on, where the report is to say so.
func (w *worker) cpus() []int {
	if !w.r.cfg.Environment {
		return nil
	}
	cpus, err := sys.Affinity()
	if err != nil {
		return nil
	}
	return cpus
}

// counter is the job's engine, if it counts its system calls.
func (w *worker) counter() (engines.Calls, bool) {
	eng := w.eng
	if z := w.zones; z != nil && z.inner != nil {
		eng = z.inner
	}
	c, ok := eng.(engines.Calls)
	return c, ok
}

// markCalls remembers the system calls of the engine so far: the measured part begins after them.
func (w *worker) markCalls() {
	if c, ok := w.counter(); ok {
		w.callsBefore[0], w.callsBefore[1] = c.Calls()
	}
}

// calls stores the system calls of the measured part.
func (w *worker) calls(x *stats.Extra) {
	c, ok := w.counter()
	if !ok {
		return
	}
	x.CountsCalls = true
	submits, reaps := c.Calls()
	x.SubmitCalls, x.ReapCalls = submits-w.callsBefore[0], reaps-w.callsBefore[1]
}
