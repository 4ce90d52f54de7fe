package workload

import (
	"slices"

	"fiord/engines"
	"fiord/job"
)

// Next stores the next I/O in r and returns Issue. Wait means that an I/O in flight must complete (see Completed) before
// there is another one, End that the pass is over: all of it is issued, or Err is set.
func (g *Generator) Next(r *Req) Verdict {
	if g.fast != fastNone {
		if g.fillFast(g.one[:]) == 1 {
			*r = g.one[0]
			return Issue
		}
	}
	return g.nextSlow(r)
}

// Fill stores I/Os in reqs and reports how many. With n above 0 the verdict is Issue; else it is Next's. Jobs of several
// files get one I/O at a time, so that files open and close in order with the I/Os; paced jobs too.
func (g *Generator) Fill(reqs []Req) (n int, v Verdict) {
	if g.fast != fastNone {
		if n := g.fillFast(reqs); n > 0 {
			return n, Issue
		}
	}
	if len(reqs) == 0 {
		return 0, Issue
	}
	if v := g.nextSlow(&reqs[0]); v != Issue {
		return 0, v
	}
	n = 1
	if len(g.files) == 1 && g.pace == nil && g.mostRanges == 0 && g.zbd == nil {
		n += g.fillSingle(reqs[1:])
	}
	return n, Issue
}

// fillSingle goes on with the only file, which is open, up to the I/O that it has no room for: giving it up waits for the
// next call, since the caller has not issued what is in reqs.
func (g *Generator) fillSingle(reqs []Req) int {
	f := &g.files[0]
	for n := range reqs {
		if g.full || !g.timeBased && g.exhausted() || g.pauses && g.passQueued >= g.passLimit {
			return n
		}
		op, _ := g.operation(f)
		if !g.form(f, op, &reqs[n]) {
			g.spent = true
			return n
		}
		reqs[n].File = 0
	}
	return len(reqs)
}

func (g *Generator) nextSlow(r *Req) Verdict {
	if g.spent {
		g.abandon(0)
	}
	if g.err != nil || g.full || !g.timeBased && g.exhausted() || g.pauses && g.passQueued >= g.passLimit {
		return End
	}
	for range g.patience() {
		i, v := g.nextFile()
		if v != Issue {
			return v
		}
		f := &g.files[i]
		op, ok := g.operation(f)
		if !ok {
			g.giveUp(i)
			return End
		}
		if g.form(f, op, r) {
			r.File = i
			if g.tracked {
				f.refs++
				g.inflight++
			}
			return Issue
		}
		g.abandon(i)
		if g.err != nil {
			return End
		}
	}
	g.note("no file has room for an I/O")
	return End
}

// patience is how many files in a row may turn out to have no I/O left. Files that are done are not asked again; those
// picked unevenly start over, and if none of them has room for one block fio goes on forever.
func (g *Generator) patience() int {
	if g.service == serveSkewed {
		return 1 << 16
	}
	return len(g.files) + 1
}

// form fills r with an I/O of f that does op. It reports false when f has no such I/O left.
func (g *Generator) form(f *file, op engines.Op, r *Req) bool {
	r.Op = op
	if !op.IsData() {
		r.Offset, r.Len = int64(g.offset), 0
		g.lastOp = op
		g.unmarked = false
		return true
	}
	d := op.Dir()
	if g.strided {
		g.enterZone(f, d)
	}
	if g.mostRanges > 0 {
		return g.formRanges(f, r)
	}
	if g.zbd != nil {
		return g.formZoned(f, op, r)
	}
	random, ok := g.place(f, d)
	if !ok {
		return false
	}
	n := g.lengthOf(f, d, random)
	if n == 0 || g.offset+n > f.size {
		return false
	}
	if f.blocks != nil {
		n = g.mark(f, d, n)
	}
	g.zoneBytes += n
	f.begin[d], f.pos[d] = g.offset, g.offset+n
	g.unmarked = false
	r.Offset, r.Len = int64(g.offset), int(n)
	g.account(op, 1, n)
	g.quota = 0
	return true
}

// account counts n data I/Os of size bytes each as issued.
func (g *Generator) account(op engines.Op, n, size uint64) {
	g.issues[op] += n
	g.bytes[op] += n * size
	g.done += n
	g.lastOp = op
	if g.isAsync(op) {
		g.passQueued += n * size
	}
}

// exhausted reports whether the pass has issued all that the job may: its bytes, its I/Os, or one pass worth of them.
func (g *Generator) exhausted() bool {
	return g.passQueued >= g.passLimit || g.beyond < pastLimits && (g.issuedBytes() >= g.limit || g.enoughIOs())
}

// issuedBytes is what counts against the limit: of a job that trims and writes, the writes.
func (g *Generator) issuedBytes() uint64 {
	if g.mixed {
		return g.bytes[job.Read] + g.bytes[job.Write]
	}
	return g.bytes[g.only]
}

// enoughIOs is fio's number_ios rule: it counts over all loops.
func (g *Generator) enoughIOs() bool {
	return g.numberIOs != 0 && g.done >= g.numberIOs*g.loops
}

// NeedsCompletions reports whether the job's files open and close on the way while I/Os are in flight, so that the caller
// must report each completed I/O with Completed.
func (g *Generator) NeedsCompletions() bool { return g.tracked }

// Completed takes back one I/O of file i, data or sync. Jobs that need no completions ignore it.
func (g *Generator) Completed(i int) {
	if !g.tracked {
		return
	}
	f := &g.files[i]
	f.refs--
	g.inflight--
	if f.refs == 0 && f.closing {
		g.closeFile(i)
	}
}

// Failed takes back one data I/O that ended with an error which the job tolerates: number_ios counts those done.
func (g *Generator) Failed() {
	if g.done > 0 {
		g.done--
	}
}

// Issued is how many I/Os and bytes of each direction were issued since the start, or since RampOver for the I/Os.
func (g *Generator) Issued() (ios, bytes job.PerDir[uint64]) { return g.issues, g.bytes }

// Remaining is how many more data bytes the job may issue in all its loops; a job that goes by time has no such limit.
func (g *Generator) Remaining() uint64 {
	done := g.issuedBytes()
	if g.timeBased || done >= g.limit {
		return 0
	}
	return g.limit - done
}

// Err is the error of an event, if one ended the job.
func (g *Generator) Err() error { return g.err }

// Notes are remarks on the job that its user should see, such as zones beyond the end of the file, each once.
func (g *Generator) Notes() []string { return g.notes }

func (g *Generator) note(text string) {
	if !slices.Contains(g.notes, text) {
		g.notes = append(g.notes, text)
	}
}

// SyncReq is the fsync of file i at the end of a pass. Its offset is the one that fio logs with it: the last I/O's.
func (g *Generator) SyncReq(i int) Req {
	return Req{Op: engines.Sync, File: i, Offset: int64(g.offset)}
}
