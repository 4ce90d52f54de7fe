package zoned

import (
	"fmt"

	"fiord/engines"
)

// request is an I/O that is being decided.
type request struct {
	f              *File
	op             engines.Op
	offset, length uint64
	base           uint64 // what the job's offsets count from at the moment
	least          uint64 // smallest block of the direction
	held           int    // the zone that is held for it, or none
	check          bool   // it is to be a read that verifies
	err            error
}

// Adjust moves an I/O of file i to where the zones take it, and cuts its length. base is where the job's range starts at
// the moment. check says that data must be verified before the write can be done: the I/O becomes that read. Without ok
// the file has no such I/O left, or Err says what is wrong. Take or Drop must follow an I/O that is ok.
func (j *Job) Adjust(i int, op engines.Op, offset, length, base uint64) (at, n uint64, check, ok bool) {
	r := &j.now
	*r = request{f: j.files[i], op: op, offset: offset, length: length, base: base, least: j.minBS[op], held: none}
	d := r.f.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.index(offset)
	if k >= d.count {
		return 0, 0, false, false
	}
	z := &d.zones[k]
	switch {
	case !z.hasWP:
		j.conventional(r, k)
		return r.offset, r.length, false, r.length > 0
	case op == engines.Read && j.cfg.Job.ReadBeyondWP && z.cond != engines.ZoneOffline:
		return offset, length, false, true
	}
	if !j.grab(r, k) {
		return 0, 0, false, false
	}
	switch op {
	case engines.Read:
		ok = j.read(r)
	case engines.Write:
		ok = j.write(r)
	default:
		ok = j.trim(r)
	}
	if !ok {
		j.let(r)
		return 0, 0, false, false
	}
	if op == engines.Read && j.cfg.Job.ReadBeyondWP {
		j.let(r) // such reads need no zone to themselves
	}
	if r.held != none && op == engines.Write && !r.check {
		d.zones[r.held].writes++
	}
	return r.offset, r.length, r.check, true
}

// Err is why the last Adjust had no I/O, nil where the file simply has none left.
func (j *Job) Err() error { return j.now.err }

// Drop gives up the I/O of the last Adjust.
func (j *Job) Drop() {
	r := &j.now
	d := r.f.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.held != none && r.op == engines.Write {
		d.zones[r.held].writes--
	}
	j.let(r)
}

// let releases what is held for r.
func (j *Job) let(r *request) {
	if r.held != none {
		j.release(r.f.dev, r.held)
		r.held = none
	}
}

// grab holds zone k for r in place of what was held, waiting until its write pointer is known again.
func (j *Job) grab(r *request, k int) bool {
	d := r.f.dev
	for {
		if !j.move(r, k) {
			return false
		}
		if j.cfg.Sync || !d.zones[k].fixing {
			return true
		}
		j.let(r)
		if !j.quiesce(d) {
			return false
		}
	}
}

// move holds zone k for r in place of what was held. A zone without a write pointer needs no holding.
func (j *Job) move(r *request, k int) bool {
	j.let(r)
	if !r.f.dev.zones[k].hasWP {
		return true
	}
	if !j.hold(r.f, k) {
		return false
	}
	r.held = k
	return true
}

// conventional keeps writes in a zone without a write pointer out of one behind it that has one.
func (j *Job) conventional(r *request, k int) {
	d := r.f.dev
	start, next := d.zones[k].start, &d.zones[k+1]
	if r.op != engines.Write || !next.hasWP || r.offset+r.length <= next.start {
		return
	}
	n := next.start - r.offset
	if r.offset+r.least > next.start {
		r.offset = start + n
		n = min(r.length, next.start-r.offset)
	}
	r.length = n / r.least * r.least
}

// read moves a read to what has been written.
func (j *Job) read(r *request) bool {
	d := r.f.dev
	k := r.held
	z := &d.zones[k]
	inZone := r.offset - z.start
	written := z.wp - z.start
	if z.cond == engines.ZoneOffline {
		written = 0
	}
	if written < r.least || !j.random && r.offset+r.least > z.wp {
		j.let(r)
		if k = j.find(r, k, r.least); k == none {
			return false
		}
		z = &d.zones[k]
		written = z.wp - z.start
		if !j.random {
			r.offset = z.start
		}
	}
	if written <= r.length {
		r.offset = z.start
	} else if j.random {
		r.offset = z.start + inZone%(written-r.length)/r.least*r.least
	}
	if z.hasWP {
		r.length = min(r.length, (z.wp-r.offset)/r.least*r.least)
	}
	return true
}

// find is the zone nearest to zone k, behind it or for random I/O before it too, that holds n bytes; it is held for r.
func (j *Job) find(r *request, k int, n uint64) int {
	f, d := r.f, r.f.dev
	has := func(i int) bool {
		if d.zones[i].cond == engines.ZoneOffline || !j.move(r, i) {
			return false
		}
		if z := &d.zones[i]; z.start+n <= z.wp {
			return true
		}
		j.let(r)
		return false
	}
	for up, down := k+1, k-1; up < f.to || down >= f.from; up, down = up+1, down-1 {
		switch {
		case up < f.to && d.zones[up].cond != engines.ZoneOffline:
			if has(up) {
				return up
			}
		case !j.random:
			return none
		}
		if j.random && down >= f.from && has(down) {
			return down
		}
	}
	return none
}

// trim moves a random trim to a zone that holds data. A trim empties the zone; it is marked here and done on its way to
// the device, see Trim.
func (j *Job) trim(r *request) bool {
	d := r.f.dev
	k := r.held
	if j.random && d.zones[k].wp == d.zones[k].start {
		j.let(r)
		if k = j.find(r, k, 1); k == none {
			return false
		}
		r.offset = d.zones[k].start
	}
	if d.zones[k].writes > 0 {
		return j.quiesce(d) // or the reset would overtake them
	}
	return true
}

// write moves a write to the write pointer of a zone that may be written, resetting the zone if it must be.
func (j *Job) write(r *request) bool {
	d := r.f.dev
	if r.length > d.zoneSize {
		r.err = fmt.Errorf("%s: a write of %d bytes: zones have %d", d.name, r.length, d.zoneSize)
		return false
	}
	k := r.held
	for {
		if k = j.target(r, k); k == none {
			return false
		}
		if !j.leftover(&d.zones[k], r.least) {
			break
		}
	}
	z := &d.zones[k]
	if j.frequency > 0 && float64(d.valid) >= float64(r.f.length)*j.threshold && j.countDown(d) {
		z.resetDue = true
	}
	if z.resetDue || j.full(z, r.least) {
		if done := j.renew(r, z); done {
			return r.err == nil
		}
	}
	if j.cfg.Appends && j.verifies && z.writes > 0 && !j.quiesce(d) {
		return false // headers say where a block is, so it must get there
	}
	r.offset = z.wp
	if r.offset >= r.base+r.f.length || r.offset < r.f.offset {
		r.err = fmt.Errorf("%s: the write pointer %d lies outside of the job's range", d.name, r.offset)
		return false
	}
	n := min(r.length, z.capEnd()-r.offset)
	if !j.remainder || n > r.least {
		n = n / r.least * r.least
	}
	if n < r.least && !j.remainder {
		r.err = fmt.Errorf("%s: what is left of a zone, %d bytes, is less than a block of %d", d.name, z.capEnd()-r.offset, r.least)
		return false
	}
	r.length = n
	return true
}

// leftover reports whether the rest of z is too small for a write, so that it is left unwritten.
func (j *Job) leftover(z *zone, least uint64) bool {
	return !j.remainder && z.room() > 0 && z.room() < least
}

// countDown counts a write and reports whether it is time for a reset.
func (j *Job) countDown(d *Device) bool {
	if d.untilReset--; d.untilReset > 0 {
		return false
	}
	d.restart(j.frequency)
	return true
}

// renew resets the zone of r before it is written again. done says that r is decided: it becomes a check of what is
// written already, or it fails.
func (j *Job) renew(r *request, z *zone) (done bool) {
	d := r.f.dev
	if j.verifies {
		var ok bool
		if r.offset, r.length, ok = j.check(r); ok {
			j.let(r)
			r.check = true
			return true
		}
	}
	if !j.quiesce(d) {
		r.err = errEnds
		return true
	}
	z.resetDue = false
	if r.err = j.empty(r.f, z); r.err != nil {
		return true
	}
	if z.capacity < r.least {
		r.err = fmt.Errorf("%s: the capacity of a zone, %d bytes, is less than a block of %d", d.name, z.capacity, r.least)
		return true
	}
	return false
}

func (j *Job) check(r *request) (offset, length uint64, ok bool) {
	if j.cfg.Check == nil || r.f.dev.imaginaryOnly {
		return r.offset, r.length, false
	}
	if offset, length, ok = j.cfg.Check(); ok {
		return offset, length, true
	}
	return r.offset, r.length, false
}

// Take says that the I/O of the last Adjust goes out with n bytes.
func (j *Job) Take(n uint64) {
	r := &j.now
	if r.held == none {
		return
	}
	d := r.f.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	z := &d.zones[r.held]
	switch r.op {
	case engines.Write:
		end := min(r.offset+n, z.capEnd())
		j.undo = undo{zone: r.held, wp: z.wp}
		if j.counts() && z.wp <= end {
			j.undo.valid = end - z.wp
			d.valid += end - z.wp
		}
		z.wp = end
	case engines.Trim:
		if j.cfg.Fake {
			break
		}
		z.reset = z.wp != z.start
		j.emptied(d, z)
		j.delist(d, r.held)
	}
	if d.imaginaryOnly {
		if r.op == engines.Write {
			j.wrote(d, r.held, r.offset+n)
		}
		j.let(r)
	}
	r.held = none // the I/O has it from now on
}
