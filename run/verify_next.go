package run

import (
	"fiord/engines"
	"fiord/verify"
	"fiord/workload"
)

// next loads u with the next I/O of the pass.
func (v *verifier) next(u *engines.IO) workload.Verdict {
	if v.checking {
		if v.replay {
			return v.nextReplay(u)
		}
		for p, ok := v.hist.take(); ok; p, ok = v.hist.take() {
			if !v.stopsAt(p.number) {
				return v.loadCheck(u, p)
			}
		}
		return workload.End
	}
	if v.backlog > 0 && v.hist.n > 0 {
		if p, ok := v.nextBacklog(); ok {
			return v.loadCheck(u, p)
		}
	}
	if v.trims() {
		if p, ok := v.nextTrim(); ok {
			return v.loadTrim(u, p)
		}
		if l := &v.w.loop; v.draining() && l.inflight+len(l.batch) > 0 {
			return workload.Wait
		}
		v.w.gen.Beyond(v.hist.forTrim > 0)
	}
	return v.nextOwn(u)
}

// nextBacklog is the piece to check now while the job still writes (verify_backlog); false: none.
func (v *verifier) nextBacklog() (piece, bool) {
	if v.batch == 0 {
		if v.lastOp == engines.Read || uint64(v.hist.n)%v.backlog != 0 || v.passDone() {
			return piece{}, false
		}
		if v.batch = v.w.job.VerifyBacklogBatch; v.batch == 0 {
			v.batch = int(v.backlog)
		}
	}
	if v.passDone() {
		return piece{}, false
	}
	p, ok := v.hist.take()
	if ok {
		v.batch--
	}
	return p, ok
}

// passDone reports whether fio would leave its loop before it looks for another I/O.
func (v *verifier) passDone() bool {
	return !v.timeBased && v.w.gen.Exhausted() && v.hist.forTrim == 0
}

// draining reports whether a job with a queue has issued its own I/O, and is there for the trims that are left. It then waits
// for what is in flight rather than write more, and trims after a trim: each write may add a trim, so with several in
// flight there might always be one left.
func (v *verifier) draining() bool {
	return v.hist.forTrim > 0 && len(v.w.loop.ios) > 1 && !v.timeBased && v.w.gen.Exhausted()
}

// nextTrim is the piece to trim now (trim_backlog); false: none.
func (v *verifier) nextTrim() (piece, bool) {
	if !v.trims() || v.hist.forTrim == 0 {
		v.trimBatch = 0
		return piece{}, false
	}
	started := v.trimBatch > 0
	if !started && (uint64(v.hist.n)%v.w.job.TrimBacklog != 0 || v.lastOp == engines.Trim && !v.draining()) {
		return piece{}, false
	}
	p, ok := v.hist.nextTrim()
	switch {
	case started && ok:
		v.trimBatch--
	case started:
		v.trimBatch = 0
	case ok:
		if v.trimBatch = v.w.job.TrimBacklogBatch; v.trimBatch == 0 {
			v.trimBatch = int(v.w.job.TrimBacklog)
		}
		v.trimBatch--
	}
	return p, ok
}

// loadCheck sets u to read p back.
func (v *verifier) loadCheck(u *engines.IO, p piece) workload.Verdict {
	w := v.w
	if err := v.openFor(p.file()); err != nil {
		return workload.End
	}
	v.req[0] = workload.Req{Op: engines.Read, File: p.file(), Offset: p.offset, Len: p.length()}
	w.load(u, &v.req[0])
	x := &v.ios[u.Index]
	*x = verifiedIO{role: roleCheck, listed: true, trimmed: p.is(isTrimmed), offset: p.offset, number: p.number, seed: p.seed}
	v.expect(u, x)
	u.Start = w.stampNow()
	v.countOther(u)
	return workload.Issue
}

// loadTrim sets u to trim p, which stays in the history when it is to read back as zeroes.
func (v *verifier) loadTrim(u *engines.IO, p piece) workload.Verdict {
	w := v.w
	if err := v.openFor(p.file()); err != nil {
		return workload.End
	}
	w.load(u, &workload.Req{Op: engines.Trim, File: p.file(), Offset: p.offset, Len: p.length()})
	x := &v.ios[u.Index]
	*x = verifiedIO{role: roleTrim, offset: p.offset, number: p.number, filled: x.filled, kept: w.job.TrimVerifyZero}
	if x.kept {
		v.hist.at(p).mark(inFlight | isTrimmed)
	} else {
		v.hist.remove(p)
	}
	u.Start = w.stampNow()
	v.countOther(u)
	return workload.Issue
}

// openFor opens file i for an I/O that the generator has not chosen, and keeps the generator from closing it meanwhile.
func (v *verifier) openFor(i int) error {
	w := v.w
	if !w.set.IsOpen(i) {
		if err := w.OpenFile(i); err != nil {
			w.failErr(err, "open")
			return err
		}
	}
	if w.loop.tracked && !v.checking {
		w.gen.Hold(i)
	}
	return nil
}

// countOther counts an I/O that the generator has not chosen.
func (v *verifier) countOther(u *engines.IO) {
	w := v.w
	w.st.Dirs[u.Op].IOs++
	if w.rate != nil {
		w.rate.count(u.Op.Dir(), u.Len)
	}
	if !v.checking || !v.replay {
		w.gen.Other(u.Op, uint64(u.Len))
	}
	if w.trace != nil {
		w.logIO(u, u.Start)
	}
}

// nextOwn loads u with the generator's next I/O.
func (v *verifier) nextOwn(u *engines.IO) workload.Verdict {
	w := v.w
	for {
		n, verdict := w.next(v.req[:])
		if n == 0 {
			return verdict
		}
		if p, ok := w.zones.takeInstead(); ok {
			w.gen.Completed(v.req[0].File)
			return v.loadCheck(u, p)
		}
		w.load(u, &v.req[0])
		x := &v.ios[u.Index]
		*x = verifiedIO{offset: u.Offset, filled: x.filled}
		if v.serial && !w.waitOverlap(u) {
			u.User = 0
			return workload.End
		}
		u.Start = w.stampNow()
		switch {
		case u.Op == engines.Write:
			if !v.write(u, x) {
				u.User = 0
				return workload.End
			}
		case u.Op == engines.Trim:
			v.trimmed(&v.req[0])
		case u.Op == engines.Read && v.readsOnly:
			if skip, stop := v.read(u, x); stop {
				u.User = 0
				return workload.End
			} else if skip {
				u.User = 0
				continue
			}
		case u.Op == engines.Read:
			x.filled = 0
		case !u.Op.IsData():
			x.role, x.number = roleSync, v.issued
		}
		if w.trace != nil {
			w.logIO(u, u.Start)
		}
		w.countIssue(u)
		return workload.Issue
	}
}

// write gives a write its number, contents and headers, and records it. It reports false when the job has been told to stop
// meanwhile: whoever told it may have looked at the numbers already, so the write must not be done.
func (v *verifier) write(u *engines.IO, x *verifiedIO) bool {
	x.role, x.number = roleWrite, v.issued
	v.issued++
	if v.saves {
		v.inFlight[u.Index].Store(x.number) // before it counts as issued
		v.numbered.Store(v.issued)
	}
	if v.w.stopping() {
		v.lose(u, x)
		return false
	}
	if v.scheme.Random() {
		x.seed = v.rand.NextSeed()
	}
	b := v.checks.block(u, x, u.Buf)
	switch {
	case v.refill:
		v.w.filler.Fill(u)
	case v.scheme.Steady() && x.filled >= len(u.Buf):
		v.scheme.Head(b)
	default:
		v.scheme.Fill(b)
		x.filled = len(u.Buf)
	}
	if v.keep {
		x.kept = true
		p := x.piece(u)
		if v.marks {
			p.mark(inFlight)
		}
		v.record(p)
	}
	return true
}

// lose notes that a write which has its number is not to be expected on the medium.
func (v *verifier) lose(u *engines.IO, x *verifiedIO) {
	v.mu.Lock()
	v.failed = append(v.failed, x.number)
	v.mu.Unlock()
	v.inFlight[u.Index].Store(verify.NoNumber)
}

// record adds a write to the history.
func (v *verifier) record(p piece) {
	v.hist.add(p)
	if v.trims() && v.drawTrim() {
		v.hist.queueTrim(p)
	}
}

// drawTrim decides whether a write is trimmed later, as fio draws it.
func (v *verifier) drawTrim() bool {
	share := v.trimRand.Max() / 100 * uint64(v.w.job.TrimPercentage)
	return v.trimRand.Next() <= share
}

// read prepares a read of a job that only reads. It reports whether the saved state has it passed over, or the pass end.
func (v *verifier) read(u *engines.IO, x *verifiedIO) (skip, stop bool) {
	x.role, x.number = roleCheck, v.reads
	v.reads++
	if v.scheme.Random() {
		x.seed = v.rand.NextSeed()
	}
	if v.skips(x.number) {
		return true, false
	}
	return false, v.stopsAt(x.number)
}

// nextReplay turns the generator's next write or trim into a read (experimental_verify).
func (v *verifier) nextReplay(u *engines.IO) workload.Verdict {
	w := v.w
	least := min(w.job.MinBS[0], w.job.MinBS[1], w.job.MinBS[2])
	for v.replayBytes >= least {
		n, verdict := w.gen.Fill(v.req[:])
		if n == 0 {
			return verdict
		}
		op := v.req[0].Op
		if op != engines.Write && op != engines.Trim {
			w.gen.Completed(v.req[0].File)
			continue
		}
		w.gen.Replayed(op, uint64(v.req[0].Len))
		v.req[0].Op = engines.Read
		w.load(u, &v.req[0])
		x := &v.ios[u.Index]
		*x = verifiedIO{role: roleCheck, trimmed: op == engines.Trim, offset: u.Offset}
		if op == engines.Write {
			x.number = v.replayed
			v.replayed++
			if v.scheme.Random() {
				x.seed = v.rand.NextSeed()
			}
		}
		v.replayBytes -= min(v.replayBytes, uint64(u.Len))
		if v.stopsAt(x.number) {
			u.User = 0
			return workload.End
		}
		u.Start = w.stampNow()
		v.countOther(u)
		return workload.Issue
	}
	return workload.End
}
