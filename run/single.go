package run

import (
	"fiord/clock"
	"fiord/engines"
	"fiord/workload"
)

// singleOf is how passSingle submits, nil for jobs that are not for it: those that submit in batches, or that have something to
// be done around their I/Os.
func singleOf(w *worker) engines.SingleSubmitter {
	l := &w.loop
	if w.doer != nil || l.batchMax > 1 || l.polling || l.careful || w.special || w.vfy != nil || w.off != nil || w.locks != nil {
		return nil
	}
	if s, ok := w.eng.(engines.SingleSubmitter); ok {
		return s
	}
	return &oneInSlice{Engine: w.eng}
}

// oneInSlice submits one I/O to an Engine that has no way of its own for that.
type oneInSlice struct {
	engines.Engine
	one [1]*engines.IO
}

// SubmitOne is Submit for u alone.
func (s *oneInSlice) SubmitOne(u *engines.IO) (int, error) {
	s.one[0] = u
	return s.Submit(s.one[:])
}

// passSingle is passAsync for jobs whose I/Os are submitted one by one (iodepth_batch=1, the default). To handle each of them as
// a batch takes two thirds more instructions; what it does is the same, which TestSingleDoesAsTheOthers holds it to.
func (w *worker) passSingle() {
	l := &w.loop
	l.ahead = l.ahead[:0]
	l.now = clock.Now()
	for !w.over(l.now) {
		switch {
		case w.ramping || len(l.again) > 0:
			if !w.step() {
				return
			}
			continue
		case len(l.ahead) == 0:
			if !w.look() {
				return
			}
			continue
		}
		req := &l.ahead[0]
		l.ahead = l.ahead[1:]
		if !w.issueOne(req) || len(l.free) == 0 && !w.reapFull() {
			return
		}
	}
}

// look draws I/Os ahead, or waits for one in flight when there are none to draw before it ends. It reports whether the pass goes
// on.
func (w *worker) look() bool {
	l := &w.loop
	reqs := l.reqs
	if l.tracked {
		reqs = reqs[:1] // the generator counts it as in flight
	}
	n, verdict := w.gen.Fill(reqs)
	l.ahead = reqs[:n]
	return n > 0 || verdict != workload.End && w.reapFor(false, true)
}

// issueOne submits an I/O for req. It reports whether the job goes on.
func (w *worker) issueOne(req *workload.Req) bool {
	l := &w.loop
	last := len(l.free) - 1
	u := l.free[last]
	l.free = l.free[:last]
	w.load(u, req)
	w.startIO(u)
	n, err := w.single.SubmitOne(u)
	now := w.stampNow() // before any call that could yield
	if n == 0 || err != nil {
		l.batch = append(l.batch, u)
		return w.submitted(n, err, now)
	}
	w.st.MarkDepth(len(l.ios)-len(l.free), 1)
	w.st.MarkSubmit(1)
	l.inflight++
	l.lastOp = u.Op
	if u.Inline {
		u.Inline, u.Issued = false, u.Start
		return true
	}
	u.Issued = now
	if l.slat && u.Op.IsData() {
		w.addSlat(u, now)
	}
	return true
}

// submitted goes on after a submit of the one I/O in the batch that did not simply succeed.
func (w *worker) submitted(n int, err error, now int64) bool {
	l := &w.loop
	if n > 0 {
		w.accepted(l.batch, now)
		l.batch = l.batch[:0]
	}
	return w.retry(err) && w.submit()
}

// reapFull is reapFor for a full queue.
func (w *worker) reapFull() bool {
	l := &w.loop
	for {
		least := max(min(l.completeMin, l.inflight), 1)
		n, err := w.eng.Reap(l.done[:min(max(l.completeMax, least), len(l.done))], least, -1)
		now := w.stampNow()
		if err != nil || n == 0 {
			return w.reaped(n, least, err, now)
		}
		w.st.MarkComplete(n)
		l.inflight -= n
		for _, u := range l.done[:n] {
			w.completeOne(u, now)
		}
		if w.st.Error != 0 {
			return false
		}
		if l.inflight <= l.low {
			return true
		}
	}
}
