package run

import (
	"sync"
	"sync/atomic"
	"time"

	"fiord/clock"
	"fiord/internal/sys"
)

// flow balances the jobs of one flow_id: of all I/Os that they issue each job gets a share in proportion to its weight.
type flow struct {
	issued atomic.Int64 // by the members that are left, and one, so that it can be divided by
	weight atomic.Int64 // of the members that are left

	mu      sync.Mutex
	members []*flowShare
}

// flowShare is one job's part in a flow. nil: the job is in none.
type flowShare struct {
	flow   *flow
	w      *worker
	weight int64
	issued int64 // written by the worker alone
	left   bool  // guarded by flow.mu
	pause  time.Duration
}

// flowKey tells flows apart. Jobs on two sides of a stonewall never run together, so that one would wait for the other
// for ever: they do not share a flow.
type flowKey struct{ id, stonewall int }

// joinFlows puts the jobs with a weight into their flows, before any starts.
func (r *runner) joinFlows() {
	flows := map[flowKey]*flow{}
	for _, w := range r.workers {
		if w.job.Flow <= 0 {
			continue
		}
		key := flowKey{w.job.FlowID, w.job.Stonewall}
		f := flows[key]
		if f == nil {
			f = new(flow)
			f.issued.Store(1)
			flows[key] = f
		}
		w.flow = &flowShare{flow: f, w: w, weight: int64(w.job.Flow), pause: time.Duration(w.job.FlowSleep) * time.Microsecond}
		w.special = true
		if w.job.WaitFor == "" {
			w.flow.join()
		}
	}
}

// join makes the job's weight count. A job that waits for another joins when it starts: the other may be in the flow.
func (s *flowShare) join() {
	if s == nil {
		return
	}
	s.flow.mu.Lock()
	defer s.flow.mu.Unlock()
	for _, m := range s.flow.members {
		if m == s {
			return
		}
	}
	s.flow.members = append(s.flow.members, s)
	s.flow.weight.Add(s.weight)
}

// wait returns when the job may issue its next I/O, and counts it. It reports false when the job must end instead.
func (s *flowShare) wait() bool {
	const spins = 100 // before the thread sleeps between two looks
	const nap = 20 * time.Microsecond
	for n := 0; s.ahead(); n++ {
		w := s.w
		switch {
		case s.pause > 0:
			if !w.quiesce() {
				return false
			}
			sys.Sleep(s.pause)
		case w.zones != nil: // others wait for the zones that its I/O holds
			if !w.quiesce() {
				return false
			}
			sys.Sleep(nap)
		case w.loop.inflight > 0:
			if !w.reap(0) {
				return false
			}
		case n > spins:
			sys.Sleep(nap)
		}
		if w.over(clock.Now()) {
			return false
		}
		s.flow.prune()
	}
	s.issued++
	s.flow.issued.Add(1)
	return true
}

// ahead reports whether the job has had more than its share.
func (s *flowShare) ahead() bool {
	f := s.flow
	return float64(s.issued)/float64(f.issued.Load()) > float64(s.weight)/float64(f.weight.Load())
}

// prune takes out the members that have ended, with what they issued.
func (f *flow) prune() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if !m.left && m.w.get() >= stateExited {
			m.left = true
			f.issued.Add(-m.issued)
			f.weight.Add(-m.weight)
		}
	}
}
