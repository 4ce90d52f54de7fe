package run

import (
	"errors"

	"fiord/engines"
)

// errLost is the error of an engine that has I/Os in flight and does not hand any of them back.
var errLost = errors.New("the engine has lost its I/O")

// submit hands the batch to the engine and stamps what it accepted. It reports whether the job can go on; if not, what is
// left of the batch was never accepted.
func (w *worker) submit() bool {
	l := &w.loop
	rest := l.batch
	for len(rest) > 0 {
		if w.locks != nil {
			w.locks.lock(rest)
		}
		n, err := w.eng.Submit(rest)
		now := w.stampNow() // before any call that could yield
		if w.locks != nil {
			w.locks.unlock()
		}
		if n > 0 {
			w.accepted(rest[:n], now)
			rest = rest[n:]
		}
		if n > 0 && err == nil || w.retry(err) {
			continue
		}
		l.batch = l.batch[:copy(l.batch, rest)]
		return false
	}
	l.batch = l.batch[:0]
	return true
}

// retry goes on after a submit that failed or took nothing: an engine that is full has to be reaped first. It reports whether
// to submit again.
func (w *worker) retry(err error) bool {
	l := &w.loop
	switch {
	case err != nil: // what was taken before it is waited for
		w.failErr(err, "submit")
	case l.inflight == 0:
		w.fail(errAgain, "io engine takes nothing")
	default:
		return w.reapUpTo(1, len(l.done))
	}
	return false
}

// accepted counts what one submit, which ended now, has put in flight.
func (w *worker) accepted(ios []*engines.IO, now int64) {
	l := &w.loop
	depth := len(l.ios) - len(l.free)
	if w.off != nil {
		depth = 1 // of each thread
	}
	w.st.MarkDepth(depth, uint64(len(ios)))
	w.issuedNow(ios, now)
	l.inflight += len(ios)
	l.lastOp = ios[len(ios)-1].Op
}

// issuedNow stamps the I/Os of one submit, which ended now, and records their submission latencies. The rest of a short
// transfer has had its own already. What the engine did at once has none: as in fio, all of its time is completion latency.
func (w *worker) issuedNow(ios []*engines.IO, now int64) {
	w.st.MarkSubmit(len(ios))
	if w.off != nil {
		return // its threads stamp
	}
	slat := w.loop.slat && !w.ramping
	if slat && w.loop.batches.finish {
		w.issuedAll(ios, now)
		return
	}
	for _, u := range ios {
		if u.Inline {
			u.Inline, u.Issued = false, u.Start
			continue
		}
		u.Issued = now
		if slat && u.Op.IsData() && !isRest(u) {
			w.addSlat(u, now)
		}
	}
}

// isRest reports whether u is what is left of a transfer after a short one.
func isRest(u *engines.IO) bool { return u.Op != engines.Trim && u.Buf != nil && len(u.Buf) != u.Len }

// reapFor reaps as fio's wait_for_completions: at least one I/O when the queue is full, down to iodepth_low.
func (w *worker) reapFor(full, must bool) bool {
	l := &w.loop
	least := min(l.completeMin, l.inflight)
	if (full || must || l.polling) && least == 0 {
		least = min(1, l.inflight)
	}
	for {
		if !w.reap(least) {
			return false
		}
		if !full || l.inflight <= l.low {
			return true
		}
	}
}

// reap takes finished I/Os, at least least of them and no more than the job wants at once, and accounts them.
func (w *worker) reap(least int) bool {
	return w.reapUpTo(least, max(w.loop.completeMax, least))
}

func (w *worker) reapUpTo(least, most int) bool {
	l := &w.loop
	n, err := w.eng.Reap(l.done[:min(most, len(l.done))], least, -1)
	return w.reaped(n, least, err, w.stampNow())
}

// reaped accounts the n I/Os that one reap, which ended now, has brought of at least least.
func (w *worker) reaped(n, least int, err error, now int64) bool {
	l := &w.loop
	if err == nil && n == 0 && least > 0 {
		err = errLost
	}
	if err != nil { // what came before it is accounted all the same
		w.failErr(err, "reap")
	}
	if err == nil || n > 0 {
		w.st.MarkComplete(n)
	}
	if n == 0 {
		return err == nil
	}
	l.inflight -= n
	if w.off != nil {
		w.off.account(l.done[:n])
		return w.st.Error == 0
	}
	if w.vfy != nil {
		w.vfy.reaped(l.done[:n], now)
		return w.st.Error == 0
	}
	if l.batches.finish && !w.ramping {
		w.completeAll(l.done[:n], now)
		return w.st.Error == 0
	}
	for _, u := range l.done[:n] {
		w.completeOne(u, now)
	}
	return w.st.Error == 0
}

// completeOne takes a finished I/O, which is free then, or to be offered again.
func (w *worker) completeOne(u *engines.IO, now int64) {
	l := &w.loop
	if !w.complete(u, now) && w.st.Error == 0 {
		l.again = append(l.again, u)
		return
	}
	u.User = 0
	l.free = append(l.free, u)
	if l.tracked {
		w.gen.Completed(int(u.FileIndex))
	}
}

// quiesce submits what is pending and waits for all I/O in flight. It reports whether the job goes on.
func (w *worker) quiesce() bool {
	l := &w.loop
	for len(l.batch) > 0 || l.inflight > 0 || len(l.again) > 0 {
		l.batch, l.again = append(l.batch, l.again...), l.again[:0]
		if len(l.batch) > 0 && !w.submit() {
			return false
		}
		if l.inflight > 0 && !w.reap(min(l.inflight, len(l.done))) {
			return false
		}
	}
	return true
}

// drain ends a pass: what was filled still goes out, as with fio, and all in flight is waited for. After an error nothing
// more is issued; what was counted but never accepted by the engine is taken back.
func (w *worker) drain() {
	l := &w.loop
	if w.st.Error == 0 && w.quiesce() {
		return
	}
	for l.inflight > 0 {
		before := l.inflight
		w.reap(l.inflight)
		if l.inflight == before {
			break // the engine lost its I/Os: its error is recorded
		}
	}
	for _, u := range l.batch {
		if !isRest(u) {
			w.uncount(u)
		}
	}
	l.free = append(append(l.free, l.batch...), l.again...)
	l.batch, l.again = l.batch[:0], l.again[:0]
}

// uncount takes back what countIssue counted.
func (w *worker) uncount(u *engines.IO) {
	if !u.Op.IsData() {
		w.st.SyncIOs -= min(w.st.SyncIOs, 1)
		return
	}
	if d := &w.st.Dirs[u.Op]; d.IOs > 0 { // a ramp may have ended in between
		d.IOs--
		w.loop.issued[u.Op]--
	}
}
