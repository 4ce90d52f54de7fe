package zoned

import "fiord/engines"

// none is no zone.
const none = -1

// hold makes zone i the job's own until it is released as often: nobody else does I/O in it or changes it. A job that
// must wait for another finishes its own I/O first, so that two jobs never wait for each other. The caller has d.mu,
// which is given up meanwhile. False: the job is to end.
func (j *Job) hold(f *File, i int) bool {
	d := f.dev
	z := &d.zones[i]
	if z.holder != nil && z.holder != j {
		if !j.quiesce(d) {
			return false
		}
		for z.holder != nil && z.holder != j {
			d.freed.Wait()
		}
	}
	z.holder = j
	z.holds++
	d.held++
	return true
}

// release undoes one hold.
func (j *Job) release(d *Device, i int) {
	z := &d.zones[i]
	z.holds--
	d.held--
	if z.holds == 0 {
		z.holder = nil
		d.freed.Broadcast()
	}
}

// quiesce waits for all I/O of the job. The caller has d.mu, which is given up meanwhile.
func (j *Job) quiesce(d *Device) bool {
	if j.cfg.Sync {
		return true
	}
	d.mu.Unlock()
	defer d.mu.Lock()
	return j.cfg.Quiesce()
}

// enlist makes zone i one of those that are written, if the limits allow it. The job holds it, or nobody runs yet.
func (j *Job) enlist(f *File, i int) bool {
	d := f.dev
	z := &d.zones[i]
	switch {
	case z.cond == engines.ZoneOffline:
		return false
	case j.verifies && z.room() == 0:
		return false // to write it, it would have to be reset, and what is in it is to be verified
	case d.mostWrite == 0:
		return true
	case z.writing:
		return z.room() > 0 // what is in flight may fill it
	case j.most > 0 && j.writing.Load() >= j.most, uint32(d.listLen) >= d.mostWrite:
		return false
	}
	d.list[d.listLen] = uint32(i)
	d.listLen++
	z.writing, z.writer = true, j
	j.writing.Add(1)
	return true
}

// admit is enlist for a zone that must take another write of a job that verifies.
func (j *Job) admit(f *File, i int) bool {
	if j.verifies && j.full(&f.dev.zones[i], j.minBS[engines.Write]) {
		return false
	}
	return j.enlist(f, i)
}

// delist takes zone i out of the list.
func (j *Job) delist(d *Device, i int) {
	z := &d.zones[i]
	if !z.writing {
		return
	}
	for k := range d.listLen {
		if d.list[k] == uint32(i) {
			copy(d.list[k:], d.list[k+1:])
			d.listLen--
			break
		}
	}
	z.writer.writing.Add(-1)
	z.writing, z.writer = false, nil
}

// full reports whether a write of n bytes does not fit into z.
func (j *Job) full(z *zone, n uint64) bool {
	if !z.hasWP {
		return false
	}
	if j.remainder {
		return z.room() == 0
	}
	return n > z.room()
}

// empty resets a zone that the job holds. The caller has d.mu, which is given up meanwhile.
func (j *Job) empty(f *File, z *zone) error {
	d := f.dev
	n := z.wp - z.start
	if n == 0 {
		return nil
	}
	if d.managed() {
		d.mu.Unlock()
		err := d.manager.ResetZones(f.f, z.start, d.zoneSize)
		d.mu.Lock()
		if err != nil {
			return &requestError{"reset of the zone", f.f.Name, z.start, err}
		}
	}
	j.emptied(d, z)
	if !d.imaginaryOnly {
		j.cfg.Resets()
	}
	return nil
}

// emptied notes that a zone holds nothing any more.
func (j *Job) emptied(d *Device, z *zone) {
	if j.counts() {
		d.valid -= z.wp - z.start
	}
	z.wp = z.start
}

// finish makes zone i, which the job holds, full. The caller has d.mu, which is given up meanwhile.
func (j *Job) finish(f *File, i int) error {
	d := f.dev
	z := &d.zones[i]
	if d.managed() {
		d.mu.Unlock()
		err := d.manager.FinishZones(f.f, z.start, d.zoneSize)
		d.mu.Lock()
		if err != nil {
			return &requestError{"finish of the zone", f.f.Name, z.start, err}
		}
	}
	z.wp = d.zones[i+1].start
	return nil
}
