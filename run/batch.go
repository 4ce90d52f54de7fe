package run

import (
	"fiord/engines"
	"fiord/stats"
	"fiord/workload"
)

// batches is the scratch of a loop that accounts I/Os a batch at a time: latencies by direction, room for all I/Os.
type batches struct {
	issue  bool // nothing is to be done around an I/O when it is issued
	finish bool // nor when it has finished
	ranges bool // sync_file_range wants to know what was written

	lat, clat [2][]uint64
}

// initBatches decides what of the job may be accounted a batch at a time.
func (l *loop) initBatches(w *worker) {
	b := &l.batches
	b.issue = !w.job.SerializeOverlap && !l.refill && w.trace == nil && w.rate == nil
	b.finish = w.job.Stats && !w.watched && w.vfy == nil && w.zones == nil && !l.tracked && !w.job.DisableLat && !w.job.DisableClat
	b.ranges = w.job.SyncFileRange.Every != 0
	for d := range b.lat {
		b.lat[d], b.clat[d] = make([]uint64, len(l.ios)), make([]uint64, len(l.ios))
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

// completeAll is complete for all I/Os of one reap, which go back to the free ones. Those that are out of the ordinary
// are looked at one by one.
func (w *worker) completeAll(done []*engines.IO, now int64) {
	l := &w.loop
	var n [2]int
	var bytes [2]uint64
	for _, u := range done {
		op := u.Op
		if op > engines.Write || u.Errno != 0 || u.Done != len(u.Buf) {
			w.completeOne(u, now)
			continue
		}
		op &= 1
		k := n[op]
		l.batches.lat[op][k] = uint64(now - u.Start)
		l.batches.clat[op][k] = uint64(now - u.Issued)
		n[op]++
		bytes[op] += uint64(u.Done)
		if l.batches.ranges && op == engines.Write {
			w.wrote(u)
		}
		u.User = 0
		l.free = append(l.free, u)
	}
	for op, k := range n {
		if k == 0 {
			continue
		}
		l.blocks[op] += uint64(k)
		l.moved[op] += bytes[op]
		d := &w.st.Dirs[op]
		d.Bytes += bytes[op]
		clats := l.batches.clat[op][:k]
		addRuns(&d.Lat, l.batches.lat[op][:k])
		addRuns(&d.Clat, clats)
		for i := 0; i < k; {
			v, n := run(clats, i)
			w.st.MarkLatencies(v, n)
			i += int(n)
		}
	}
}

// addRuns adds latencies, of which those of I/Os that were drawn, submitted and reaped together are the same.
func addRuns(l *stats.Latency, vs []uint64) {
	for i := 0; i < len(vs); {
		v, n := run(vs, i)
		l.AddN(v, n)
		if l.Hist != nil {
			l.Hist.AddN(v, n)
		}
		i += int(n)
	}
}

// run is the value at i, and how often it is repeated from there on.
func run(vs []uint64, i int) (v, n uint64) {
	v = vs[i]
	n = 1
	for _, o := range vs[i+1:] {
		if o != v {
			break
		}
		n++
	}
	return v, n
}

// issuedAll records the submission latencies of data I/Os that were stamped now, in a job that issues in batches.
func (w *worker) issuedAll(ios []*engines.IO, now int64) {
	l := &w.loop
	var n [2]int
	for _, u := range ios {
		if u.Inline {
			u.Inline, u.Issued = false, u.Start
			continue
		}
		u.Issued = now
		op := u.Op
		if op > engines.Write || len(u.Buf) != u.Len {
			if u.Op.IsData() && !isRest(u) {
				w.addSlat(u, now)
			}
			continue
		}
		op &= 1
		l.batches.lat[op][n[op]] = uint64(now - u.Start)
		n[op]++
	}
	for op, k := range n {
		if k > 0 {
			addRuns(&w.st.Dirs[op].Slat, l.batches.lat[op][:k])
		}
	}
}
