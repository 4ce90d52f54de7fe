package workload

import (
	"fiord/engines"
	"fiord/job"
)

// setRanges prepares trims of several ranges (num_range).
func (g *Generator) setRanges(j *job.Job) {
	if j.RW.Trim && !j.RW.TrimWrite && j.NumRange > 1 {
		g.mostRanges = j.NumRange
		g.ranges = make([]engines.Range, 0, j.NumRange)
	}
}

// Ranges are those of the trim that was given last, for a job whose trims have several; they hold until the next one is
// asked for. Such a job gets one I/O at a time: its offset is that of the last range, its length that of all together.
func (g *Generator) Ranges() []engines.Range { return g.ranges }

// formRanges fills r with a trim of as many ranges as there are to be had, each chosen like a trim of its own. It reports
// false when there is none.
//
// fio differs: it gives up a trim whose last range starts nearer to the end of the file than the length of all of them.
func (g *Generator) formRanges(f *file, r *Req) bool {
	g.ranges = g.ranges[:0]
	total := uint64(0)
	for len(g.ranges) < g.mostRanges {
		random, ok := g.place(f, job.Trim)
		if !ok {
			break
		}
		n := g.lengthOf(f, job.Trim, random)
		if n == 0 || g.offset+n > f.size {
			break
		}
		g.ranges = append(g.ranges, engines.Range{Offset: int64(g.offset), Len: int64(n)})
		total += n
		f.begin[job.Trim], f.pos[job.Trim] = g.offset, g.offset+n
		if f.blocks != nil {
			g.mark(f, job.Trim, n) // as in fio, a range is not cut where it runs into blocks that are done
		}
	}
	g.unmarked = false
	if len(g.ranges) == 0 {
		return false
	}
	last := g.ranges[len(g.ranges)-1]
	g.offset = uint64(last.Offset)
	g.zoneBytes += total
	r.Offset, r.Len = last.Offset, int(total)
	g.account(engines.Trim, 1, total)
	g.quota = 0
	return true
}
