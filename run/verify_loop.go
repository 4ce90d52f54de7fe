package run

import (
	"fiord/clock"
	"fiord/engines"
	"fiord/verify"
	"fiord/workload"
)

// loop is the hot loop of jobs that verify. It takes one I/O at a time, since each may be the job's own, a check or a trim.
func (v *verifier) loop() {
	if v.w.doer != nil {
		v.loopSync()
	} else {
		v.loopAsync()
	}
}

// loopSync is the loop of engines that complete inside Do.
func (v *verifier) loopSync() {
	w := v.w
	l := &w.loop
	l.now = clock.Now()
	for !w.over(l.now) {
		u := v.freeIO()
		if u == nil {
			return
		}
		if v.next(u) != workload.Issue {
			v.giveBack(u)
			return
		}
		if v.ios[u.Index].listed {
			u.Issued = u.Start // nothing was done since
		} else {
			u.Issued = w.stampNow()
		}
		w.doer.Do(u)
		for !v.finish(u, w.stampNow()) {
			u.Issued = l.now // the rest of a short transfer
			w.doer.Do(u)
		}
		if w.st.Error != 0 {
			return
		}
		if l.careful {
			l.now = w.afterIO(l.now)
		}
	}
}

// loopAsync is the loop of engines that complete later.
func (v *verifier) loopAsync() {
	w := v.w
	l := &w.loop
	for l.now = clock.Now(); !w.over(l.now); {
		verdict := v.fill()
		if len(l.batch) > 0 && !w.submit() {
			return
		}
		if w.st.Error != 0 || verdict == workload.End && len(l.again) == 0 {
			return
		}
		full := len(l.free) == 0 || w.lat != nil && w.lat.room(len(l.ios)-len(l.free)) == 0
		if full || l.polling || verdict == workload.Wait {
			if !v.wait(full, verdict == workload.Wait) {
				return
			}
		}
		if l.careful {
			l.now = w.afterIO(l.now)
		}
	}
}

// wait reaps as the plain loop does; with nothing in flight it waits for a check of verify_async.
func (v *verifier) wait(full, must bool) bool {
	l := &v.w.loop
	if l.inflight == 0 && len(l.again) == 0 {
		if full || must {
			v.collect(true)
		}
		return v.w.st.Error == 0
	}
	return v.w.reapFor(full && l.inflight > 0, must)
}

// fill adds I/Os to the batch until it is full or there is none to issue now.
func (v *verifier) fill() workload.Verdict {
	w := v.w
	l := &w.loop
	room := l.batchMax - len(l.batch)
	if l.careful {
		room = min(room, 1)
	}
	if w.lat != nil {
		room = min(room, w.lat.room(len(l.ios)-len(l.free)))
	}
	for ; room > 0 && len(l.again) > 0; room-- {
		l.batch = append(l.batch, l.again[len(l.again)-1])
		l.again = l.again[:len(l.again)-1]
	}
	v.collect(false)
	for ; room > 0 && len(l.free) > 0; room-- {
		u := l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
		if verdict := v.next(u); verdict != workload.Issue {
			v.giveBack(u)
			return verdict
		}
		l.batch = append(l.batch, u)
	}
	return workload.Issue
}

// freeIO takes an I/O of a synchronous engine, waiting for a check of verify_async that holds it; nil: the job ends.
func (v *verifier) freeIO() *engines.IO {
	l := &v.w.loop
	v.collect(len(l.free) == 0)
	if v.w.st.Error != 0 || len(l.free) == 0 {
		return nil
	}
	u := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	return u
}

func (v *verifier) giveBack(u *engines.IO) {
	u.User = 0
	v.w.loop.free = append(v.w.loop.free, u)
}

// finish takes a finished I/O of a synchronous engine; false: u is a rest to be issued.
func (v *verifier) finish(u *engines.IO, now int64) bool {
	switch v.complete(u, now) {
	case ioRest:
		return false
	case ioDone:
		v.giveBack(u)
	}
	return true
}

// reaped takes what an asynchronous engine has finished.
func (v *verifier) reaped(done []*engines.IO, now int64) {
	l := &v.w.loop
	for _, u := range done {
		switch v.complete(u, now) {
		case ioDone:
			v.giveBack(u)
		case ioRest:
			l.again = append(l.again, u)
		}
	}
}

// fate is what becomes of a finished I/O.
type fate uint8

const (
	ioDone fate = iota // free again
	ioRest             // its rest is to be issued
	ioHeld             // verify_async has it
)

// complete accounts a finished I/O and does what its role asks for.
func (v *verifier) complete(u *engines.IO, now int64) fate {
	w := v.w
	x := &v.ios[u.Index]
	errno := u.Errno
	whole := w.complete(u, now)
	if !whole && w.st.Error == 0 {
		return ioRest
	}
	if u.Op.IsData() {
		v.lastOp = u.Op
	}
	good := whole && errno == 0
	missing := len(u.Buf) - u.Done // at the end of a file or device
	switch x.role {
	case roleWrite:
		if !good || missing > 0 { // a short write after which the job ended is not there either
			v.lose(u, x)
		} else if v.saves {
			v.inFlight[u.Index].Store(verify.NoNumber)
		}
		v.wrote(u, x, good && missing == 0)
	case roleTrim:
		if !x.kept {
			break
		}
		if p := v.hist.at(x.piece(u)); p != nil {
			p.unmark(inFlight)
			if !good {
				p.unmark(isTrimmed)
			}
		}
	case roleSync:
		if good {
			v.synced.Store(max(v.synced.Load(), x.number+1))
		}
	}
	v.release(u, x)
	compared := u.Compare
	u.Compare = false
	if x.role != roleCheck || !good || compared {
		return ioDone
	}
	x.filled = 0
	if missing > 0 {
		buf := w.loop.full(u)[:u.Len]
		clear(buf[u.Len-missing:]) // whatever an earlier I/O has left there was not read now
	}
	if v.async != nil {
		u.User = 0
		v.async.check(u)
		return ioHeld
	}
	v.checks.check(u)
	v.judge(x)
	return ioDone
}

// wrote notes how a write ended: what has failed or is not all there is not read back.
func (v *verifier) wrote(u *engines.IO, x *verifiedIO, good bool) {
	switch {
	case !x.kept:
	case !good:
		v.hist.remove(x.piece(u))
	case v.marks:
		if p := v.hist.at(x.piece(u)); p != nil {
			p.unmark(inFlight)
		}
	}
}

// release tells the generator of an I/O that it counts as in flight.
func (v *verifier) release(u *engines.IO, x *verifiedIO) {
	w := v.w
	if w.loop.tracked && !(v.checking && x.listed) {
		w.gen.Completed(int(u.FileIndex))
	}
}
