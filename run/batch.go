package run

import (
	"fiord/engines"
	"fiord/stats"
	"fiord/workload"
)

// batches says what of a job may be done for a batch of I/Os at a time.
type batches struct {
	issue  bool // nothing is to be done around an I/O when it is issued
	finish bool // nor when it has finished
	ranges bool // sync_file_range wants to know what was written
}

func batchesOf(w *worker) batches {
	l := &w.loop
	return batches{
		issue:  !w.job.SerializeOverlap && !l.refill && w.trace == nil && w.rate == nil,
		finish: w.job.Stats && !w.watched && w.vfy == nil && w.zones == nil && !l.tracked && !w.job.DisableLat && !w.job.DisableClat,
		ranges: w.job.SyncFileRange.Every != 0,
	}
}

// readyAll is ready for all of reqs, of which there are no more than free I/Os. They were drawn at once, and so they start
// at once.
func (w *worker) readyAll(reqs []workload.Req) {
	l := &w.loop
	now := w.stampNow()
	var issued [engines.Syncfs + 1]uint64
	for i := range reqs {
		req := &reqs[i]
		u := l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
		w.load(u, req)
		u.Start = now
		if l.scramble && req.Op == engines.Write {
			w.filler.Fill(u)
		}
		issued[req.Op]++
		l.batch = append(l.batch, u)
	}
	for op, n := range issued {
		if engines.Op(op).IsData() {
			w.st.Dirs[op].IOs += n
			l.issued[op] += n
		} else {
			w.st.SyncIOs += n
		}
	}
}

// A streak is I/Os in a row that have the same latencies, as those have that were drawn, submitted and reaped together.
type streak struct {
	n             uint64
	op            engines.Op
	start, issued int64 // their stamps
	bytes         uint64
}

// completeAll is complete for all I/Os of one reap, which go back to the free ones. Those that are out of the ordinary
// are looked at one by one.
func (w *worker) completeAll(done []*engines.IO, now int64) {
	l := &w.loop
	var s streak
	for _, u := range done {
		if u.Op > engines.Write || u.Errno != 0 || u.Done != len(u.Buf) {
			w.completeOne(u, now)
			continue
		}
		if u.Start != s.start || u.Issued != s.issued || u.Op != s.op {
			w.completeStreak(&s, now)
			s = streak{op: u.Op, start: u.Start, issued: u.Issued}
		}
		s.n++
		s.bytes += uint64(u.Done)
		if l.batches.ranges && u.Op == engines.Write {
			w.wrote(u)
		}
		u.User = 0
		l.free = append(l.free, u)
	}
	w.completeStreak(&s, now)
}

// completeStreak accounts what finished now.
func (w *worker) completeStreak(s *streak, now int64) {
	if s.n == 0 {
		return
	}
	l, d := &w.loop, &w.st.Dirs[s.op]
	l.blocks[s.op] += s.n
	l.moved[s.op] += s.bytes
	d.Bytes += s.bytes
	clat := uint64(now - s.issued)
	addLatency(&d.Lat, uint64(now-s.start), s.n)
	addLatency(&d.Clat, clat, s.n)
	w.st.MarkLatencies(clat, s.n)
}

// addLatency adds n times ns.
func addLatency(l *stats.Latency, ns, n uint64) {
	l.AddN(ns, n)
	if l.Hist != nil {
		l.Hist.AddN(ns, n)
	}
}

// issuedAll records the submission latencies of data I/Os that were submitted now, in a job that issues in batches.
func (w *worker) issuedAll(ios []*engines.IO, now int64) {
	var s streak
	for _, u := range ios {
		if u.Inline {
			u.Inline, u.Issued = false, u.Start
			continue
		}
		u.Issued = now
		if !u.Op.IsData() || isRest(u) {
			continue
		}
		if u.Start != s.start || u.Op != s.op {
			w.issuedStreak(&s, now)
			s = streak{op: u.Op, start: u.Start}
		}
		s.n++
	}
	w.issuedStreak(&s, now)
}

func (w *worker) issuedStreak(s *streak, now int64) {
	if s.n > 0 {
		addLatency(&w.st.Dirs[s.op].Slat, uint64(now-s.start), s.n)
	}
}
