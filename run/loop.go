package run

import (
	"time"

	"fiord/clock"
	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
	"fiord/workload"
)

// loop is what the hot loop touches on every I/O, apart from the statistics.
type loop struct {
	ios   []*engines.IO   // all, by Index
	free  []*engines.IO   // a stack
	again []*engines.IO   // rests of short transfers and what a full engine refused, to be offered first
	batch []*engines.IO   // filled, not yet accepted
	done  []*engines.IO   // room for one reap
	reqs  []workload.Req  // room for what the generator gives at once
	ahead []workload.Req  // of a synchronous engine: generated, not yet issued
	files []*engines.File // as in the worker's set
	arena []byte
	size  int // bytes of buffer an I/O has

	inflight    int // accepted by the engine, not yet reaped
	batchMax    int // I/Os in a submit: iodepth_batch
	completeMin int // fewest I/Os a reap waits for
	completeMax int // most I/Os a reap takes
	low         int // a full queue is reaped down to this depth: iodepth_low
	polling     bool

	careful  bool // something is to be done around each I/O: rates, pauses, overlap, flows, latency targets
	tracked  bool // the generator wants to know of completed I/Os
	refill   bool // buffers are filled anew for each write, before it starts
	scramble bool // a few words of them change, once it has started
	stamps   bool // latencies are measured
	stats    bool // the job has statistics: not with stats=0
	slat     bool // of latencies, these are measured
	clat     bool
	lat      bool
	timeout  int64 // ns the measured part may take; 0: no limit
	rampEnd  int64 // ns of ramp_time
	nextPub  int64 // when the counters are published again
	ticks    uint32
	now      int64 // the last time read

	lastOp engines.Op // the last one that the engine accepted

	batches batches
	loops   int
	issued  [job.NDirs]uint64 // I/Os, for thinktime
	blocks  [job.NDirs]uint64 // completed I/Os
	moved   [job.NDirs]uint64 // completed bytes, all passes
}

// publishEvery is how often, in ns, a running worker lets the helper see its counters.
const publishEvery = int64(time.Millisecond)

// init makes the I/Os. Buffers are slices of arena, size bytes each; arena is nil when the job moves no data.
func (l *loop) init(w *worker, depth, size int, arena []byte) {
	o := &w.job.Options
	table := make([]engines.IO, depth)
	all := make([]*engines.IO, 5*depth) // one piece of memory: each page of it costs time after each system call
	list := func() (s []*engines.IO) {
		s, all = all[:depth:depth], all[depth:]
		return s
	}
	l.ios, l.done = list(), list()
	l.free, l.again, l.batch = list()[:0], list()[:0], list()[:0]
	l.arena, l.size = arena, size
	for i := range table {
		u := &table[i]
		u.Index = uint32(i)
		l.ios[i] = u
		if arena != nil {
			u.Buf = arena[i*size : (i+1)*size : (i+1)*size]
		}
	}
	for i := depth - 1; i >= 0; i-- {
		l.free = append(l.free, l.ios[i])
	}
	l.polling = o.IODepthBatchCompleteMin == 0 && o.IODepthBatchCompleteMax == 0
	l.batchMax = clamp(o.IODepthBatch, 1, depth)
	if l.polling {
		l.batchMax = 1 // fio waits for an I/O after each that it issues
	}
	l.completeMin = o.IODepthBatchCompleteMin
	l.completeMax = clamp(max(o.IODepthBatchCompleteMax, l.completeMin), 1, depth)
	if w.drv.Traits.ReapsAll {
		l.completeMax = depth
	}
	l.low = clamp(o.IODepthLow, 1, depth)
	l.stamps = !(o.DisableLat && o.DisableClat && o.DisableSlat)
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

// full is the whole buffer of an I/O, whatever its Buf was cut to.
func (l *loop) full(u *engines.IO) []byte {
	if l.arena == nil {
		return nil
	}
	i := int(u.Index)
	return l.arena[i*l.size : (i+1)*l.size : (i+1)*l.size]
}

// bytes is what the job has moved so far.
func (l *loop) bytes() uint64 { return l.moved[0] + l.moved[1] + l.moved[2] }

// blockSum is how many data I/Os have completed.
func (l *loop) blockSum() uint64 { return l.blocks[0] + l.blocks[1] + l.blocks[2] }

// begin sets the limits when the measured part starts.
func (l *loop) begin(w *worker, now int64) {
	o := &w.job.Options // as the engine has left them: some measure no submission latency
	l.stats = o.Stats
	l.slat, l.clat, l.lat = !o.DisableSlat, !o.DisableClat, !o.DisableLat
	l.timeout = int64(w.job.Runtime)
	l.rampEnd = int64(w.job.RampTime)
	l.nextPub = now
	l.tracked = w.gen.NeedsCompletions()
	l.files = w.set.Files
	l.reqs = make([]workload.Req, max(l.batchMax, 16))
	l.careful = w.rate != nil || w.think != nil || w.job.SerializeOverlap || w.job.Thinkcycles > 0 || w.lat != nil ||
		w.flow != nil || w.zones != nil
	if l.careful {
		l.reqs = l.reqs[:1]
	}
	l.batches = batchesOf(w)
	w.single = singleOf(w)
}

// pass does I/O until the generator's pass is over, the time is up, or something went wrong; what is in flight is then
// waited for.
func (w *worker) pass() {
	if w.ramping {
		w.enter(stateRamp)
	} else {
		w.enter(stateRunning)
	}
	switch {
	case w.vfy != nil:
		w.vfy.loop()
	case w.off != nil:
		w.passOffload()
	case w.doer != nil:
		w.passSync()
	case w.single != nil:
		w.passSingle()
	default:
		w.passAsync()
	}
	w.drain()
	w.vfy.collectAll()
	w.gen.Drained()
	if err := w.gen.Err(); err != nil {
		w.failErr(err, "get_io_u")
	}
	if w.st.Error == 0 && w.job.RW.Write {
		w.endSync()
	}
}

// passSync is the loop of engines that complete inside Do.
func (w *worker) passSync() {
	l := &w.loop
	u := l.ios[0]
	l.ahead = l.ahead[:0]
	now := clock.Now()
	for !w.over(now) {
		if len(l.ahead) == 0 {
			var n int
			if w.special {
				n, _ = w.nextSpecial(l.reqs)
			} else {
				n, _ = w.gen.Fill(l.reqs)
			}
			if n == 0 {
				return
			}
			l.ahead = l.reqs[:n]
		}
		w.load(u, &l.ahead[0])
		l.ahead = l.ahead[1:]
		if l.refill && u.Op == engines.Write {
			w.filler.Fill(u)
		}
		now = w.stamp(now)
		u.Start = now
		if l.scramble && u.Op == engines.Write {
			w.filler.Fill(u)
			now = w.stamp(now)
		}
		if w.trace != nil {
			w.logIO(u, now)
		}
		u.Issued = now
		w.countIssue(u)
		w.doer.Do(u)
		now = w.stamp(now)
		for !w.complete(u, now) {
			if w.st.Error != 0 {
				return
			}
			u.Issued = now // the rest of a short transfer
			w.doer.Do(u)
			now = w.stamp(now)
		}
		if w.st.Error != 0 {
			return
		}
		if l.careful {
			now = w.afterIO(now)
		}
	}
}

// stampNow is stamp with the last time kept in the loop.
//
//go:nosplit
func (w *worker) stampNow() int64 {
	w.loop.now = w.stamp(w.loop.now)
	return w.loop.now
}

// stamp reads the clock, unless the job measures no latencies and it has been read lately. It checks no stack (nosplit), as
// what lies between the system call and it does not: that is where a thread yields when the runtime wants it to, and a
// latency would have that time in it.
//
//go:nosplit
func (w *worker) stamp(last int64) int64 {
	l := &w.loop
	if !l.stamps {
		if l.ticks++; l.ticks&15 != 0 {
			return last
		}
	}
	now := clock.Now()
	if now-last > longCall && !w.yields.Load() {
		sys.StayOn()
	}
	return now
}

// longCall is how many ns have passed since the last stamp if the thread may have slept in the kernel. Then it is worth
// the look whether the runtime has asked it to yield meanwhile: most of such requests come while it sleeps.
const longCall = 10_000

// passAsync is the loop of engines that complete later: fill a batch, submit it, reap when the queue is full.
func (w *worker) passAsync() {
	w.loop.now = clock.Now()
	for !w.over(w.loop.now) && w.step() {
	}
}

// step is one turn of passAsync. It reports whether the pass goes on.
func (w *worker) step() bool {
	l := &w.loop
	verdict := w.fill()
	if len(l.batch) > 0 && (len(l.batch) >= l.batchMax || w.full() || verdict != workload.Issue) {
		if !w.submit() {
			return false
		}
	}
	if verdict == workload.End && len(l.again) == 0 {
		return false
	}
	full := w.full()
	if full || l.polling || verdict == workload.Wait {
		if !w.reapFor(full, verdict == workload.Wait) {
			return false
		}
	}
	if l.careful {
		l.now = w.afterIO(l.now)
	}
	return true
}

// full reports whether no more I/Os may be had: all are in use, or as many as the search for latency_target allows.
func (w *worker) full() bool {
	l := &w.loop
	return len(l.free) == 0 || w.lat != nil && w.lat.room(len(l.ios)-len(l.free)) == 0
}

// over reports whether the job must stop issuing: asked to, time up, or failed. It also publishes what is due.
func (w *worker) over(now int64) bool {
	l := &w.loop
	if now >= l.nextPub {
		l.publish(w, now)
	}
	if w.stopping() {
		return true
	}
	if l.timeout > 0 && !w.ramping && now-w.epoch.Load() >= l.timeout {
		w.terminate()
		return true
	}
	return false
}

// publish lets the helper see the counters, and serves its request for a snapshot.
func (l *loop) publish(w *worker, now int64) {
	l.nextPub = now + publishEvery
	for d := range l.moved {
		w.bytes[d].Store(l.moved[d])
		w.ios[d].Store(l.blocks[d])
	}
	if w.steady != nil {
		w.publishLat()
	}
	if w.ramping {
		w.checkRamp(now)
	}
	if w.want.Load() != w.snap.served {
		w.serveSnapshot(now)
	}
}

// fill adds I/Os to the batch until it is full, no I/O is free, or the generator has nothing to issue now.
func (w *worker) fill() workload.Verdict {
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
	for room = min(room, len(l.free)); room > 0; {
		var n int
		var v workload.Verdict
		if reqs := l.reqs[:min(room, len(l.reqs))]; w.special {
			n, v = w.nextSpecial(reqs)
		} else {
			n, v = w.gen.Fill(reqs)
		}
		if n == 0 {
			return v
		}
		room -= n
		if l.batches.issue {
			w.readyAll(l.reqs[:n])
			continue
		}
		for i := range l.reqs[:n] {
			if !w.ready(&l.reqs[i]) {
				return workload.End
			}
		}
	}
	return workload.Issue
}

// ready takes a free I/O for req and adds it to the batch. It reports whether the job goes on.
func (w *worker) ready(req *workload.Req) bool {
	l := &w.loop
	u := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	w.load(u, req)
	if w.job.SerializeOverlap && !w.waitOverlap(u) {
		l.free = append(l.free, u)
		return false
	}
	w.startIO(u)
	l.batch = append(l.batch, u)
	return true
}

// startIO makes the contents of u, stamps its start and counts it.
func (w *worker) startIO(u *engines.IO) {
	l := &w.loop
	if l.refill && u.Op == engines.Write {
		w.filler.Fill(u)
	}
	u.Start = w.stampNow()
	if l.scramble && u.Op == engines.Write {
		w.filler.Fill(u)
	}
	if w.trace != nil {
		w.logIO(u, u.Start)
	}
	w.countIssue(u)
}

// load sets u to do req.
func (w *worker) load(u *engines.IO, req *workload.Req) {
	u.Op = req.Op
	u.Offset = req.Offset
	if f := w.loop.files[req.File]; f != u.File {
		u.File = f // seldom, and a store of a pointer costs more than the look
	}
	u.FileIndex = int32(req.File)
	u.Len = req.Len
	u.User = 1 // in use, for serialize_overlap
	u.Done, u.Errno = 0, 0
	if len(u.Buf) != req.Len || cap(u.Buf) != w.loop.size {
		w.cut(u) // else it is whole, as after any other transfer of that length
	}
}

// cut gives u a buffer of its length, or its ranges.
func (w *worker) cut(u *engines.IO) {
	l := &w.loop
	if l.arena != nil && u.Len <= l.size {
		i := int(u.Index) * l.size
		u.Buf = l.arena[i : i+u.Len : i+l.size]
	} else if w.ranger != nil {
		w.ranger.SetRanges(u, w.gen.Ranges())
	}
}

// countIssue counts an I/O as fio does: when it is handed to the engine.
func (w *worker) countIssue(u *engines.IO) {
	if u.Op.IsData() {
		w.st.Dirs[u.Op].IOs++
		w.loop.issued[u.Op]++
		if w.rate != nil {
			w.rate.count(u.Op.Dir(), u.Len)
		}
		return
	}
	w.st.SyncIOs++
}
