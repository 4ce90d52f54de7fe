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
		for p := v.hist.take(); p != nil; p = v.hist.take() {
			if !v.stopsAt(p.number) {
				return v.loadCheck(u, p)
			}
			v.hist.recycle(p)
		}
		return workload.End
	}
	if p := v.nextBacklog(); p != nil {
		return v.loadCheck(u, p)
	}
	if p := v.nextTrim(); p != nil {
		return v.loadTrim(u, p)
	}
	if v.trims() {
		v.w.gen.Beyond(v.hist.forTrim > 0)
	}
	return v.nextOwn(u)
}

// nextBacklog is the piece to check now while the job still writes (verify_backlog); nil: none.
func (v *verifier) nextBacklog() *piece {
	backlog := v.backlog
	if backlog == 0 || v.hist.n == 0 {
		return nil
	}
	if v.batch == 0 {
		if uint64(v.hist.n)%backlog != 0 || v.lastOp == engines.Read || v.passDone() {
			return nil
		}
		if v.batch = v.w.job.VerifyBacklogBatch; v.batch == 0 {
			v.batch = int(backlog)
		}
	}
	if v.passDone() {
		return nil
	}
	p := v.hist.take()
	if p != nil {
		v.batch--
	}
	return p
}

// passDone reports whether fio would leave its loop before it looks for another I/O.
func (v *verifier) passDone() bool {
	return !v.w.job.TimeBased && v.w.gen.Exhausted() && v.hist.forTrim == 0
}

// nextTrim is the piece to trim now (trim_backlog); nil: none.
func (v *verifier) nextTrim() *piece {
	if !v.trims() || v.hist.forTrim == 0 {
		v.trimBatch = 0
		return nil
	}
	started := v.trimBatch > 0
	if !started && (uint64(v.hist.n)%v.w.job.TrimBacklog != 0 || v.lastOp == engines.Trim) {
		return nil
	}
	p := v.hist.nextTrim()
	switch {
	case started && p != nil:
		v.trimBatch--
	case started:
		v.trimBatch = 0
	case p != nil:
		if v.trimBatch = v.w.job.TrimBacklogBatch; v.trimBatch == 0 {
			v.trimBatch = int(v.w.job.TrimBacklog)
		}
		v.trimBatch--
	}
	return p
}

// loadCheck sets u to read p back. p goes out of use.
func (v *verifier) loadCheck(u *engines.IO, p *piece) workload.Verdict {
	w := v.w
	if err := v.openFor(int(p.file)); err != nil {
		return workload.End
	}
	w.load(u, &workload.Req{Op: engines.Read, File: int(p.file), Offset: p.offset, Len: p.length})
	x := &v.ios[u.Index]
	*x = verifiedIO{role: roleCheck, listed: true, trimmed: p.trimmed, offset: p.offset, number: p.number, seed: p.seed}
	v.hist.recycle(p)
	v.expect(u, x)
	u.Start = w.stampNow()
	v.countOther(u)
	return workload.Issue
}

// loadTrim sets u to trim p, which stays in the history when it is to read back as zeroes.
func (v *verifier) loadTrim(u *engines.IO, p *piece) workload.Verdict {
	w := v.w
	if err := v.openFor(int(p.file)); err != nil {
		return workload.End
	}
	w.load(u, &workload.Req{Op: engines.Trim, File: int(p.file), Offset: p.offset, Len: p.length})
	x := &v.ios[u.Index]
	*x = verifiedIO{role: roleTrim, offset: p.offset, number: p.number, filled: x.filled}
	if w.job.TrimVerifyZero {
		p.inFlight, p.trimmed = true, true
		x.piece = p
	} else {
		v.hist.remove(p)
		v.hist.recycle(p)
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
		if p := w.zones.takeInstead(); p != nil {
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
	v.inFlight[u.Index].Store(x.number) // before it counts as issued
	v.numbered.Store(v.issued)
	if v.w.stopping() {
		v.lose(u, x)
		return false
	}
	if v.scheme.Random() {
		x.seed = v.rand.NextSeed()
	}
	x.block = verify.Block{Buf: u.Buf, File: u.File.Name, Offset: u.Offset, Seed: x.seed, NumberIO: x.number, Time: u.Start}
	switch {
	case v.refill:
		v.w.filler.Fill(u)
	case v.scheme.Steady() && x.filled >= len(u.Buf):
		v.scheme.Head(&x.block)
	default:
		v.scheme.Fill(&x.block)
		x.filled = len(u.Buf)
	}
	if v.keep {
		x.piece = v.record(u, x.number, x.seed)
		x.piece.inFlight = true
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
func (v *verifier) record(u *engines.IO, number, seed uint64) *piece {
	p := v.hist.piece()
	p.file, p.offset, p.length, p.number, p.seed = u.FileIndex, u.Offset, u.Len, number, seed
	v.hist.add(p)
	if v.trims() && v.drawTrim() {
		v.hist.queueTrim(p)
	}
	return p
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
