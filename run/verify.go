package run

import (
	"fmt"
	"sync"
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

	// What is looked at for each I/O is copied from the options: they are on other pages, which cost time after a system call.
	backlog   uint64 // verify_backlog
	timeBased bool   // time_based
	trimming  bool   // trim_backlog and trim_percentage
	keep      bool   // writes are recorded in the history
	marks     bool   // writes that have not completed are marked there: I/Os are in flight while others are prepared
	saves     bool   // the state is to be saved
	replay    bool   // experimental_verify: the generator repeats the writes, there is no history
	serial    bool   // writes that overlap what is in flight wait
	readsOnly bool   // the job only reads: every read is checked
	compare   bool   // the device compares, there is nothing to check here
	refill    bool   // verify=null: contents are as without verify

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
	synced   atomic.Uint64   // verify_policy=fsynced: 1 more than the number of writes under the last fsync; 0: there was none
	mu       sync.Mutex      // guards failed and saved
	failed   []uint64        // numbers of writes that failed
	saved    bool            // the state has been saved
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
	listed       bool  // a check that comes from the history, not from the generator
	trimmed      bool  // it must read zeroes
	bad          bool  // the check found it so
	kept         bool  // the history has it, unless it has left
	offset       int64 // of the whole, while IO.Offset may be that of a rest
	number, seed uint64
	filled       int // bytes of the buffer that hold the pattern
}

// piece is what u is, or is about, in the history.
func (x *verifiedIO) piece(u *engines.IO) piece {
	return newPiece(u.FileIndex, x.offset, u.Len, x.number, x.seed)
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
		readsOnly: !j.RW.Write, lastOp: engines.Sync, backlog: j.VerifyBacklog, timeBased: j.TimeBased,
		trimming: j.TrimBacklog > 0 && j.TrimPercentage > 0,
	}
	v.checks = newChecker(v, s)
	// fio differs: it also replays jobs that mix directions or whose random numbers do not repeat, and then may look for
	// what was never written.
	v.replay = j.ExperimentalVerify && !j.RW.Read && !j.RW.Trim && j.RandRepeat && !j.IsSet("randseed") && !overwrites(j)
	v.keep = j.RW.Write && (j.DoVerify || v.trims()) && !v.replay
	sorted := overwrites(j) || j.VerifyOnly && j.VerifyStateLoad && j.Loops > 1
	v.serial = j.SerializeOverlap || (sorted || j.RW.Trim && j.RW.Write) && !w.drv.Traits.Sync
	v.hist = newHistory(sorted)
	v.saves = j.VerifyStateSave && j.RW.Write && !j.VerifyOnly
	if n := max(j.MaxBS[0], j.MaxBS[1], j.MaxBS[2]); n > maxLength {
		return nil, fmt.Errorf("verify=%s: a block of %d bytes is too long", j.Verify, n)
	}
	v.refill = !s.Checks() && w.filler != nil && w.filler.PerIO() &&
		(j.IsSet("refill_buffers") || j.BufferCompressPercentage > 0 || j.DedupePercentage > 0)
	return v, nil
}

func verifies(j *job.Job) bool { return j.Verify != "" && j.Verify != "0" }

// trims reports whether the job trims some of what it has written.
func (v *verifier) trims() bool { return v.trimming }

// overwrites reports whether a pass of the job may write the same bytes twice. fio's rule is narrower: it overlooks jobs
// that go by time, strided ones and those that are random in part, and then finds what it has overwritten to be bad.
func overwrites(j *job.Job) bool {
	partly := j.RW.Random && j.PercentageRandom != job.PerDir[int]{100, 100, 100}
	return j.ReadIolog != "" || j.NoRandomMap || j.SoftRandomMap || j.RW.SeqAdd != 0 || j.RW.SeqNr > 1 || j.TimeBased || partly || j.BSUnaligned ||
		j.ZoneMode == "strided" || j.IOSize.Value > 0 || j.FileServiceType.Kind == "zipf" || j.FileServiceType.Kind == "pareto" ||
		j.FileServiceType.Kind == "normal" || j.FileServiceType.Kind == "gauss"
}

// start is called when the I/Os exist.
func (v *verifier) start() error {
	v.compare = comparesAt(v.w.eng)
	v.marks = v.w.doer == nil
	if s := v.w.set; s != nil && len(s.Files) > maxFiles {
		return fmt.Errorf("verify=%s: %d files are too many", v.w.job.Verify, len(s.Files))
	}
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
	if v.readsOnly && v.readsBack() {
		v.between() // as in fio: files that were done before the job had read all it may are read again
		return true
	}
	if !v.readsBack() {
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
		return v.dryPasses()
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

// errBad is the error number of data that is not what was written.
const errBad = syscall.EILSEQ
