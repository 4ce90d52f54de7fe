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
	free := l.free[len(l.free)-len(reqs):]
	l.free = l.free[:len(l.free)-len(reqs)]
	batch := l.batch[len(l.batch) : len(l.batch)+len(reqs)]
	l.batch = l.batch[:len(l.batch)+len(reqs)]
	if !w.loadAll(batch, free, reqs, now) {
		for _, u := range batch {
			w.cut(u)
		}
	}
	if l.scramble {
		for _, u := range batch {
			w.filler.Fill(u)
		}
	}
}

// loadAll is load for all of batch, taken from the end of free, and counts them. There is no call in its loop, so that
// everything stays in registers; it reports false if the buffers are to be cut.
func (w *worker) loadAll(batch, free []*engines.IO, reqs []workload.Req, now int64) (fit bool) {
	files, size := w.loop.files, w.loop.size
	var issued [engines.Syncfs + 1]uint64
	fit = true
	last := len(free) - 1
	for i := range reqs {
		req := &reqs[i]
		u := free[last-i]
		u.Op, u.Offset, u.Len = req.Op, req.Offset, req.Len
		u.FileIndex, u.User = int32(req.File), 1
		u.Done, u.Errno = 0, 0
		u.Start = now
		if f := files[req.File]; f != u.File {
			u.File = f
		}
		if len(u.Buf) != req.Len || cap(u.Buf) != size {
			fit = false
		}
		issued[req.Op]++
		batch[i] = u
	}
	for op, n := range issued {
		if engines.Op(op).IsData() {
			w.st.Dirs[op].IOs += n
			w.loop.issued[op] += n
		} else {
			w.st.SyncIOs += n
		}
	}
	return fit
}

// completeAll is complete for all I/Os of one reap, which go back to the free ones. Those that are out of the ordinary
// are looked at one by one, the others in streaks that have the same latencies, as those have that were drawn, submitted
// and reaped together.
func (w *worker) completeAll(done []*engines.IO, now int64) {
	l := &w.loop
	for len(done) > 0 {
		n, bytes := l.streak(done)
		if n == 0 {
			w.completeOne(done[0], now)
			done = done[1:]
			continue
		}
		if l.batches.ranges && done[0].Op == engines.Write {
			for _, u := range done[:n] {
				w.wrote(u)
			}
		}
		w.completeStreak(done[0], uint64(n), bytes, now)
		done = done[n:]
	}
}

// streak is how many I/Os at the head of done are whole and have the stamps of the first, and how many bytes they moved.
// They are free then.
func (l *loop) streak(done []*engines.IO) (n int, bytes uint64) {
	op, start, issued := done[0].Op, done[0].Start, done[0].Issued
	free := l.free
	for _, u := range done {
		if u.Op != op || op > engines.Write || u.Errno != 0 || u.Done != len(u.Buf) || u.Start != start || u.Issued != issued {
			break
		}
		bytes += uint64(u.Done)
		u.User = 0
		free = append(free, u)
		n++
	}
	l.free = free
	return n, bytes
}

// completeStreak accounts n I/Os like u, of bytes together, that finished now.
func (w *worker) completeStreak(u *engines.IO, n, bytes uint64, now int64) {
	l, d := &w.loop, &w.st.Dirs[u.Op]
	l.blocks[u.Op] += n
	l.moved[u.Op] += bytes
	d.Bytes += bytes
	clat := uint64(now - u.Issued)
	addLatency(&d.Lat, uint64(now-u.Start), n)
	addLatency(&d.Clat, clat, n)
	w.st.MarkLatencies(clat, n)
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
	for len(ios) > 0 {
		first := ios[0]
		n := 0
		for _, u := range ios {
			if u.Inline || u.Start != first.Start || u.Op != first.Op || isRest(u) {
				break
			}
			u.Issued = now
			n++
		}
		switch {
		case n > 0:
			if first.Op.IsData() {
				addLatency(&w.st.Dirs[first.Op].Slat, uint64(now-first.Start), uint64(n))
			}
			ios = ios[n:]
		case first.Inline:
			first.Inline, first.Issued = false, first.Start
			ios = ios[1:]
		default: // the rest of a short transfer
			first.Issued = now
			ios = ios[1:]
		}
	}
}
