package zoned

import "fiord/engines"

// target finds the zone that a write of r goes to and holds it; k is the zone that its offset lies in, which is held.
// Limits on zones that are written at once come first: a write moves into one of those that are written already rather
// than start another.
func (j *Job) target(r *request, k int) int {
	d := r.f.dev
	if j.leftover(&d.zones[k], r.least) {
		if k = j.skipRest(r, k); k == none {
			return none
		}
	}
	if j.admit(r.f, k) {
		return k
	}
	i := j.candidate(r)
	if i == none {
		return none
	}
	if j.usable(r, i) {
		return j.from(r, i)
	}
	if !j.remainder && j.crowded(r.f) && !j.quiesce(d) {
		return none
	}
	for again := true; ; {
		got, next := j.search(r, k, i)
		if got != none || r.err != nil {
			return got
		}
		// I/O in flight, of any job, may leave zones behind when it is done.
		busy := d.held > r.own()
		if !busy && !again {
			break
		}
		again = busy
		j.let(r)
		if !j.quiesce(d) {
			return none
		}
		if busy && d.held > 0 {
			d.freed.Wait()
		}
		if i = next; !j.move(r, i) {
			return none
		}
	}
	return j.sacrifice(r)
}

// own is how many holds r itself has.
func (r *request) own() int {
	if r.held == none {
		return 0
	}
	return 1
}

// from is zone i, with r at its start.
func (j *Job) from(r *request, i int) int {
	r.offset = r.f.dev.zones[i].start
	return i
}

// skipRest finishes zone k, whose rest is too small, and goes to the next one with a write pointer.
func (j *Job) skipRest(r *request, k int) int {
	f, d := r.f, r.f.dev
	j.delist(d, k)
	if !j.quiesce(d) {
		return none
	}
	if r.err = j.finish(f, k); r.err != nil {
		return none
	}
	j.let(r)
	if k+1 >= f.to && !j.random {
		return none
	}
	for next := true; next || !d.zones[k].hasWP; next = false {
		if k++; k >= f.to {
			k = f.from
		}
	}
	if !j.move(r, k) {
		return none
	}
	return k
}

// spot is where in the list of zones that are written a random offset leads.
func (r *request) spot() int {
	return int((r.offset - r.base) * uint64(r.f.dev.listLen) / r.f.length)
}

// pick is a zone of the list that lies in the job's range.
func (r *request) pick() int {
	d := r.f.dev
	at := r.spot()
	for range d.listLen {
		if at >= d.listLen {
			at = 0
		}
		if k := int(d.list[at]); k >= r.f.from && k < r.f.to {
			return k
		}
		at++
	}
	return none
}

// candidate holds the zone to try first once the one of r's offset is out of the question.
func (j *Job) candidate(r *request) int {
	f, d := r.f, r.f.dev
	limited := d.mostWrite > 0 || j.most > 0
	i := d.index(r.offset)
	if limited {
		i = int(d.list[r.spot()])
	}
	i = max(f.from, min(i, f.to-1))
	for {
		if !j.move(r, i) {
			return none
		}
		if z := &d.zones[i]; z.hasWP && (!limited && z.cond != engines.ZoneOffline || d.listLen == 0) {
			return i
		}
		picked := r.pick()
		if picked == none {
			return none
		}
		if picked == i {
			return i
		}
		i = picked // the list may have changed while the job waited
	}
}

// usable reports whether the candidate takes the write.
func (j *Job) usable(r *request, i int) bool {
	d := r.f.dev
	limited := d.mostWrite > 0 || j.most > 0
	if limited && d.listLen == 0 || d.zones[i].cond == engines.ZoneOffline {
		return false
	}
	return d.zones[i].room() >= r.least
}

// crowded reports whether no zone can be started before another is done with.
func (j *Job) crowded(f *File) bool {
	d := f.dev
	return d.listLen == f.to-f.from || d.mostWrite > 0 && uint32(d.listLen) == d.mostWrite || j.most > 0 && j.writing.Load() == j.most
}

// search goes through the zones behind i, for random I/O behind k, and takes the first that may be started; else one of
// those started that has room. next is where another search goes on.
func (j *Job) search(r *request, k, i int) (got, next int) {
	f, d := r.f, r.f.dev
	if j.random {
		if !j.move(r, k) {
			return none, k
		}
		if j.admit(f, k) {
			return k, k
		}
		i = k
	}
	for range f.length / d.zoneSize {
		if i++; i >= f.to {
			i = f.from
		}
		if !j.move(r, i) {
			return none, i
		}
		if z := &d.zones[i]; z.hasWP && !z.writing && j.admit(f, i) {
			return j.from(r, i), i
		}
	}
	for at := 0; at < d.listLen; at++ {
		w := int(d.list[at])
		if w < f.from || w >= f.to {
			continue
		}
		if i = w; !j.move(r, i) {
			return none, i
		}
		room := d.zones[i].room()
		if (room >= r.least || j.remainder && room > 0) && j.admit(f, i) {
			return j.from(r, i), i
		}
	}
	return none, i
}

// sacrifice finishes a zone of the list for a random write when the rests of all of them are too small. It is no
// remedy for a job that verifies: the zone would be written again.
func (j *Job) sacrifice(r *request) int {
	d := r.f.dev
	j.let(r)
	if !j.random || j.verifies || j.remainder {
		return none
	}
	i := r.pick()
	if i == none {
		return none
	}
	if !j.move(r, i) || !j.quiesce(d) {
		return none
	}
	if r.err = j.finish(r.f, i); r.err != nil {
		return none
	}
	return j.from(r, i)
}
