package run

import (
	"sync/atomic"
	"syscall"

	"fiord/engines"
	"fiord/job"
	"fiord/verify"
	"fiord/workload"
)

// verifier is what the worker of a job with verify= has besides: contents of writes, the history of what is to be read
// back, and the checks. It is the worker's own but for what verify_async.go shares.
type verifier struct {
	w      *worker
	scheme *verify.Scheme
	rand   workload.Rand // seeds of random contents
	hist   *history
	ios    []verifiedIO // by the index of the I/O
	req    [1]workload.Req
	checks *checker

	keep      bool // writes are recorded in the history
	replay    bool // experimental_verify: the generator repeats the writes, there is no history
	serial    bool // writes that overlap what is in flight wait
	readsOnly bool // the job only reads: every read is checked
	refill    bool // verify=null: contents are as without verify

	checking    bool       // the pass reads back
	checked     bool       // the pass that has just ended did
	issued      uint64     // writes so far: the number of the next one
	reads       uint64     // reads so far, of a job that only reads
	replayed    uint64     // writes repeated so far
	replayBytes uint64     // bytes that the replay may still read
	lastOp      engines.Op // the last to complete
	batch       int        // reads of verify_backlog still to come
	trimBatch   int
	trimRand    workload.Rand

	state    *verify.State   // what verify_state_load has loaded; nil: nothing
	synced   uint64          // verify_policy=fsynced: 1 more than the number of writes under the last fsync; 0: there was none
	failed   []uint64        // numbers of writes that failed
	inFlight []atomic.Uint64 // numbers of writes in flight, by the index of the I/O
	numbered atomic.Uint64   // issued, for who saves the state meanwhile

	async *asyncChecks // nil: the worker checks itself
}

// role says what an I/O of a verifying job is for.
type role uint8

const (
	rolePlain role = iota
	roleWrite
	roleTrim  // of a recorded write
	roleCheck // a read to be checked
	roleSync
)

// verifiedIO is what the verifier knows of an I/O beyond engines.IO.
type verifiedIO struct {
	role         role
	listed       bool // a check that comes from the history, not from the generator
	trimmed      bool // it must read zeroes
	bad          bool // the check found it so
	piece        *piece
	offset       int64 // of the whole, while IO.Offset may be that of a rest
	number, seed uint64
	filled       int // bytes of the buffer that hold the pattern
	block        verify.Block
}

// newVerifier prepares the verification of the worker's job; nil: it verifies nothing.
func newVerifier(w *worker) (*verifier, error) {
	j := w.job
	if !verifies(j) {
		return nil, nil
	}
	s, err := verify.New(j)
	if err != nil {
		return nil, err
	}
	v := &verifier{
		w: w, scheme: s, rand: *workload.StreamRand(j, workload.VerifyStream), trimRand: *workload.StreamRand(j, workload.TrimStream),
		readsOnly: !j.RW.Write, lastOp: engines.Sync,
	}
	v.checks = newChecker(v, s)
	// fio differs: it also replays jobs that mix directions or whose random numbers do not repeat, and then may look for
	// what was never written.
	v.replay = j.ExperimentalVerify && !j.RW.Read && !j.RW.Trim && j.RandRepeat && !j.IsSet("randseed") && !overwrites(j)
	v.keep = j.RW.Write && (j.DoVerify || v.trims()) && !v.replay
	sorted := overwrites(j)
	v.serial = sorted && !w.drv.Traits.Sync
	v.hist = newHistory(sorted)
	v.refill = !s.Checks() && w.filler != nil && w.filler.PerIO() &&
		(j.IsSet("refill_buffers") || j.BufferCompressPercentage > 0 || j.DedupePercentage > 0)
	return v, nil
}

func verifies(j *job.Job) bool { return j.Verify != "" && j.Verify != "0" }

// trims reports whether the job trims some of what it has written.
func (v *verifier) trims() bool {
	return v.w.job.TrimBacklog > 0 && v.w.job.TrimPercentage > 0
}

// overwrites reports whether a pass of the job may write the same bytes twice. fio's rule is narrower: it overlooks jobs
// that go by time, strided ones and those that are random in part, and then finds what it has overwritten to be bad.
func overwrites(j *job.Job) bool {
	partly := j.RW.Random && j.PercentageRandom != job.PerDir[int]{100, 100, 100}
	return j.NoRandomMap || j.SoftRandomMap || j.RW.SeqAdd != 0 || j.RW.SeqNr > 1 || j.TimeBased || partly || j.BSUnaligned ||
		j.ZoneMode == "strided" || j.IOSize.Value > 0 || j.FileServiceType.Kind == "zipf" || j.FileServiceType.Kind == "pareto" ||
		j.FileServiceType.Kind == "normal" || j.FileServiceType.Kind == "gauss"
}

// start is called when the I/Os exist.
func (v *verifier) start() error {
	v.ios = make([]verifiedIO, len(v.w.loop.ios))
	v.inFlight = make([]atomic.Uint64, len(v.ios))
	for i := range v.inFlight {
		v.inFlight[i].Store(verify.NoNumber)
	}
	if v.w.job.VerifyAsync > 0 {
		a, err := newAsyncChecks(v)
		if err != nil {
			return err
		}
		v.async = a
	}
	return v.loadState()
}

// readsBack reports whether passes of writes are followed by one that reads back.
func (v *verifier) readsBack() bool {
	return v.w.job.DoVerify
}

// cycle is one pass of writes, or of checked reads, and the pass that reads back. It reports whether the job goes on.
func (w *worker) cycle() bool {
	v := w.vfy
	before := w.loop.bytes()
	done := v.writePass()
	w.passTime()
	if w.st.Error != 0 || w.stopping() || !done || w.loop.bytes() == before {
		return false
	}
	if !v.readsBack() || v.readsOnly {
		return true
	}
	v.between()
	v.checkPass(w.loop.bytes() - before)
	v.checked = true
	w.passTime()
	v.checked = false
	return w.st.Error == 0 && !w.stopping()
}

// writePass issues the job's own I/O, or with verify_only works out what it would have been. It reports whether there is
// anything to read back.
func (v *verifier) writePass() bool {
	w := v.w
	v.hist.clear()
	v.checking = false
	if w.job.VerifyOnly && w.job.RW.Write {
		return v.dryRun()
	}
	if v.readsOnly && !w.ramping {
		w.enter(stateVerifying)
	}
	w.pass()
	return true
}

// between puts everything back to the start for the pass that reads back.
func (v *verifier) between() {
	w := v.w
	w.gen.NextPass()
	v.rewind()
	v.closeOpen()
}

// rewind starts the seeds anew where the job's random numbers repeat.
func (v *verifier) rewind() {
	if v == nil {
		return
	}
	if j := v.w.job; j.RandRepeat && !j.IsSet("randseed") {
		v.rand = *workload.StreamRand(j, workload.VerifyStream)
	}
}

// takesTime reports whether the pass that has ended counts as time of direction d, as fio counts it.
func (v *verifier) takesTime(d job.Dir) bool {
	j := v.w.job
	switch {
	case v.checked:
		return d == job.Read
	case d == job.Read:
		return j.RW.Read || j.VerifyBacklog > 0 && j.RW.Write
	case d == job.Write:
		return j.RW.Write && !j.VerifyOnly
	}
	return j.RW.Trim || j.TrimBacklog > 0 && j.RW.Write
}

// closeOpen closes files that the checks have opened.
func (v *verifier) closeOpen() {
	w := v.w
	for i := range w.set.Files {
		if !w.set.IsOpen(i) {
			continue
		}
		w.ClosingFile(i)
		if err := w.CloseFile(i); err != nil {
			w.failErr(err, "close")
		}
	}
}

// checkPass reads back what the pass before has written, bytes in all.
func (v *verifier) checkPass(bytes uint64) {
	w := v.w
	w.enter(stateVerifying)
	v.checking, v.replayBytes = true, bytes
	w.gen.Beyond(v.replay)
	v.loop()
	w.gen.Beyond(false)
	w.drain()
	v.collectAll()
	v.checking = false
	v.closeOpen()
	w.enter(stateRunning)
}

// next loads u with the next I/O of the pass.
func (v *verifier) next(u *engines.IO) workload.Verdict {
	if v.checking {
		if v.replay {
			return v.nextReplay(u)
		}
		p := v.hist.take()
		if p == nil || v.stopsAt(p.number) {
			return workload.End
		}
		return v.loadCheck(u, p)
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
	backlog := v.w.job.VerifyBacklog
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
		n, verdict := w.gen.Fill(v.req[:])
		if n == 0 {
			return verdict
		}
		w.load(u, &v.req[0])
		x := &v.ios[u.Index]
		*x = verifiedIO{offset: u.Offset, filled: x.filled}
		if (v.serial || w.job.SerializeOverlap) && !w.waitOverlap(u) {
			u.User = 0
			return workload.End
		}
		u.Start = w.stampNow()
		switch {
		case u.Op == engines.Write:
			v.write(u, x)
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

// write gives a write its number, contents and headers, and records it.
func (v *verifier) write(u *engines.IO, x *verifiedIO) {
	x.role, x.number = roleWrite, v.issued
	v.issued++
	v.inFlight[u.Index].Store(x.number) // before it counts as issued
	v.numbered.Store(v.issued)
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

// errBad is the error number of data that is not what was written.
const errBad = syscall.EILSEQ
