package peak

import "fiord/engines/uring/ring"

// burstLength is how many no-ops go by without a look at what the worker is told, about.
const burstLength = 2048

// stepNops is step for no-ops that are all alike and have ended when their call returns: many rounds of the least there is
// to do. What ends otherwise is left to step.
func (w *worker) stepNops() error {
	r, todo := w.ring, uint32(w.submit)
	if w.flight > 0 || r.Pending() > 0 {
		return w.step()
	}
	w.flight = w.submit
	rounds := max(burstLength/w.submit, 1)
	done, err := r.Burst(todo, w.waitFor(todo), w.want, rounds)
	w.calls += uint64(done)
	w.submitted += uint64(done) * uint64(todo)
	w.done += uint64(done) * uint64(todo)
	if done == rounds {
		w.flight = 0
	} else {
		w.calls++
		w.submitted += uint64(todo - r.Pending())
		if e := w.reap(); e != nil {
			return e
		}
	}
	w.publish()
	if err == ring.ErrBusy {
		return w.busy()
	}
	return err
}

// fillNops has nothing to write but time stamps: such entries are all alike, and use no buffer.
func (w *worker) fillNops(n uint32, stamp uint64) {
	if stamp == 0 {
		return
	}
	first, rest := w.ring.SQEs(n)
	for i := range first {
		first[i].UserData = stamp
	}
	for i := range rest {
		rest[i].UserData = stamp
	}
}

// takeNops looks at the next n completions, which belong to no buffer.
func (w *worker) takeNops(n uint32) error {
	first, rest := w.ring.CQEs(n)
	want := w.want
	for i := range first {
		if first[i].Res != want {
			return w.result(first[i].Res, 0)
		}
	}
	for i := range rest {
		if rest[i].Res != want {
			return w.result(rest[i].Res, 0)
		}
	}
	return nil
}
