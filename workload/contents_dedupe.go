package workload

import "fiord/job"

// dedupe decides which buffers repeat earlier ones. It works on states of the stream that seeds buffers: a buffer made
// from the same state is the same buffer.
type dedupe struct {
	percent int
	set     bool // duplicates come from the working set; else the block before is repeated
	draw    Rand // duplicate or not
	index   Rand // which page of the working set
	prev    Rand // state behind the last new buffer
	pages   stateList
}

// origin is the state from which to make the next buffer.
type origin struct {
	state Rand
	fresh bool // it is the job's own stream, which moves on
}

// choose draws whether the next buffer is new or a duplicate. cur is the job's own stream.
func (d *dedupe) choose(cur Rand) origin {
	switch {
	case d.percent == 0:
		return origin{cur, true}
	case d.percent == 100:
		return origin{cur, false}
	case d.draw.Between(1, 100) > uint64(d.percent):
		return origin{cur, true}
	case d.set:
		return origin{d.pages.at(d.index.Between(0, uint64(d.pages.len()-1))), false}
	}
	return origin{d.prev, false}
}

// newDedupe prepares the streams and, for dedupe_mode=working_set, the states of the pages that may repeat.
func newDedupe(j *job.Job, minWrite, chunk uint64, buf Rand, all []*job.Job) (dedupe, error) {
	d := dedupe{percent: j.DedupePercentage, prev: buf}
	if d.percent == 0 {
		return d, nil
	}
	d.draw = *StreamRand(j, DedupeStream)
	if j.DedupeMode != "working_set" {
		return d, nil
	}
	d.set = true
	d.index = *StreamRand(j, DedupeSetStream)
	pages := max(pagesOf(j, minWrite), 1)
	if pages > tooManyPages {
		return d, pagesError(pages)
	}
	// A page is made in pieces of a chunk, each of which takes one seed.
	steps := uint64(1)
	if chunk > 0 {
		steps = minWrite / min(minWrite, chunk)
	}
	d.pages = workingSet(j, int(pages), steps, buf, all)
	return d, nil
}

// pagesOf is how many pages the working set has.
func pagesOf(j *job.Job, minWrite uint64) uint64 {
	if j.Size.Kind != job.Bytes {
		return 0
	}
	percent := uint64(max(j.DedupeWorkingSetPercentage, 0))
	return (j.Size.Value/100*percent + j.Size.Value%100*percent/100) / minWrite
}

// workingSet lists the states of the job's first pages. With dedupe_global it goes on with the streams of the other jobs
// in turn, so that all jobs repeat each other's pages; those must run on the same generator and be repeatable.
func workingSet(j *job.Job, pages int, steps uint64, buf Rand, all []*job.Job) stateList {
	l := newStateList(pages, buf)
	share, next := max(pages/max(len(all), 1), 1), j.Number-1
	for i := 1; i < pages; i++ {
		for range steps {
			buf.seed()
		}
		if j.DedupeGlobal && len(all) > 0 && i%share == 0 {
			next++
			other := all[next%len(all)]
			buf = newSeeds(other).stream(other, BufferStream, l.wide != nil)
		}
		l.set(i, buf)
	}
	return l
}

// stateList holds generator states at their true size: a working set can have millions.
type stateList struct {
	narrow []taus88
	wide   []taus258
}

func newStateList(n int, first Rand) stateList {
	var l stateList
	if first.wide {
		l.wide = make([]taus258, n)
	} else {
		l.narrow = make([]taus88, n)
	}
	l.set(0, first)
	return l
}

func (l *stateList) len() int { return len(l.narrow) + len(l.wide) }

// set stores state i, of the same generator as the first.
func (l *stateList) set(i int, r Rand) {
	if l.wide != nil {
		l.wide[i] = r.t64
	} else {
		l.narrow[i] = r.t32
	}
}

func (l *stateList) at(i uint64) Rand {
	if l.wide != nil {
		return Rand{wide: true, t64: l.wide[i]}
	}
	return Rand{t32: l.narrow[i]}
}
