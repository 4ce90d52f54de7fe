package zoned

import (
	"errors"
	"fmt"
	"syscall"

	"fiord/engines"
)

var errEnds = errors.New("the job is to end")

// undo is how the last write moved its zone.
type undo struct {
	zone      int
	wp, valid uint64
}

// zoneOf is the zone that u holds; none for what needs no zone.
func (j *Job) zoneOf(u *engines.IO) (*File, int) {
	if !u.Op.IsData() {
		return nil, none
	}
	f := j.files[u.File.Index]
	k := f.dev.index(uint64(u.Offset))
	if k >= f.dev.count || f.dev.imaginaryOnly || !f.dev.zones[k].hasWP || u.Op == engines.Read && j.cfg.Job.ReadBeyondWP {
		return nil, none
	}
	return f, k
}

// Trims reports whether u is a trim that stands for the reset of a zone.
func (j *Job) Trims(u *engines.IO) bool {
	_, k := j.zoneOf(u)
	return u.Op == engines.Trim && k != none && !j.cfg.Fake
}

// Trim does a trim for which Trims is true.
func (j *Job) Trim(u *engines.IO) {
	f, k := j.zoneOf(u)
	d := f.dev
	z := &d.zones[k]
	u.Done, u.Errno = 0, 0
	if uint64(u.Offset) != z.start {
		u.Errno = syscall.EINVAL
		return
	}
	if z.reset {
		z.reset = false
		if d.managed() {
			if err := d.manager.ResetZones(f.f, z.start, d.zoneSize); err != nil {
				if !errors.As(err, &u.Errno) || u.Errno == 0 {
					u.Errno = syscall.EIO
				}
				return
			}
		}
		j.cfg.Resets()
	}
	u.Done = u.Len
}

// Ended takes back what an I/O held that has ended, well or with an error.
func (j *Job) Ended(u *engines.IO) {
	f, k := j.zoneOf(u)
	if k == none {
		return
	}
	d := f.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if u.Op == engines.Write {
		j.endedWrite(f, k, u)
	}
	j.release(d, k)
}

func (j *Job) endedWrite(f *File, k int, u *engines.IO) {
	d := f.dev
	z := &d.zones[k]
	if u.Errno != 0 && j.cfg.Job.RecoverZBDWriteError {
		j.recover(f, z, u)
	} else if u.Errno != 0 && j.cfg.Sync && j.undo.zone == k {
		z.wp = j.undo.wp
		d.valid -= j.undo.valid
	}
	if u.Errno == 0 || !j.cfg.Sync {
		j.wrote(d, k, uint64(u.Offset)+uint64(len(u.Buf)))
	} else if z.writes--; z.writes == 0 {
		z.fixing = false
	}
}

// wrote ends a write that reached up to end.
func (j *Job) wrote(d *Device, k int, end uint64) {
	z := &d.zones[k]
	if end >= z.capEnd() {
		j.delist(d, k)
	}
	if z.writes--; z.writes == 0 {
		z.fixing = false
	}
}

// recover finds out where the write pointer is after an error and moves it to where the writes would have left it, once
// nothing else is in flight in the zone.
func (j *Job) recover(f *File, z *zone, u *engines.IO) {
	d := f.dev
	z.fixing = true
	z.errorEnd = max(z.errorEnd, uint64(u.Offset)+uint64(len(u.Buf))-z.start)
	if z.writes > 1 || !d.managed() {
		return
	}
	d.mu.Unlock()
	wp, err := j.repair(f, z, u)
	d.mu.Lock()
	if err != nil {
		j.cfg.Note("%s: the write pointer of the zone at %d could not be recovered: %v", d.name, z.start, err)
		return
	}
	z.wp, z.errorEnd = wp, 0
}

func (j *Job) repair(f *File, z *zone, u *engines.IO) (uint64, error) {
	var now [1]engines.Zone
	n, err := f.dev.manager.ReportZones(f.f, z.start, now[:])
	if err != nil {
		return 0, err
	}
	end := z.start + z.errorEnd
	wp := now[0].WP
	if n != 1 || wp < z.start || wp > end {
		return 0, fmt.Errorf("it is at %d", wp)
	}
	var data []byte
	if from := int64(wp) - u.Offset; from >= 0 && from <= int64(len(u.Buf)) {
		data = u.Buf[from:]
		if uint64(len(data)) > end-wp {
			data = data[:end-wp]
		}
	}
	if end > wp {
		if err := f.dev.manager.FillZone(f.f, &now[0], end-wp, data); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// Landed checks where a zone append has put the data of u: at byte at. It must be in the zone, and where it was expected
// to be if it is going to be verified.
func (j *Job) Landed(u *engines.IO, at uint64) error {
	f, k := j.zoneOf(u)
	if k == none {
		return nil
	}
	z := &f.dev.zones[k]
	if at < z.start || at+uint64(len(u.Buf)) > z.capEnd() || j.verifies && at != uint64(u.Offset) {
		return fmt.Errorf("zone append to the zone at %d wrote at %d, expected %d", z.start, at, u.Offset)
	}
	return nil
}

// Close releases all that I/Os hold which were never issued.
func (j *Job) Close() {
	for _, f := range j.files {
		if f == nil {
			continue
		}
		d := f.dev
		d.mu.Lock()
		for i := range d.zones {
			for z := &d.zones[i]; z.holder == j; {
				j.release(d, i)
				z.writes = 0
			}
		}
		d.mu.Unlock()
	}
}
