package zoned

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"fiord/engines"
	"fiord/job"
)

// Config is what a job's zones are made from. The functions are called on the worker's thread while it asks for I/Os.
type Config struct {
	Job      *job.Job
	Sync     bool      // I/O ends inside its submission
	Appends  bool      // writes are zone appends, which land where the device likes
	Fake     bool      // the engine only pretends: as in fio, its trims empty no zones
	Registry *Registry // of all jobs of the run
	Manager  engines.ZoneManager

	Quiesce func() bool // waits for all I/O of the job; false: the job is to end
	Resets  func()      // counts a reset
	// Check stores what is to be verified before a zone can be reset; false: nothing is left.
	Check func() (offset, length uint64, ok bool)
	// Unverified reports whether there is data still to be verified.
	Unverified func() bool
	Note       func(format string, args ...any)
}

// Job is one job's part in the zones. All methods are for the worker's thread, or before it runs.
type Job struct {
	cfg       Config
	files     []*File
	random    bool
	verifies  bool
	remainder bool // write_zone_remainder
	minBS     [job.NDirs]uint64
	threshold float64      // zone_reset_threshold
	frequency float64      // zone_reset_frequency
	most      int32        // job_max_open_zones
	writing   atomic.Int32 // zones it has in lists of those written

	now  request // the I/O being decided
	undo undo    // of the last write, for a synchronous engine
}

// File is one file of a job: a part of a device.
type File struct {
	dev            *Device
	f              *engines.File
	from, to       int    // zones, the last one excluded
	offset, length uint64 // of the job's range
}

// New makes a job's zones.
func New(cfg Config) *Job {
	o := &cfg.Job.Options
	j := &Job{cfg: cfg, random: o.RW.Random, verifies: o.Verify != "" && o.Verify != "0", remainder: o.WriteZoneRemainder,
		minBS: cfg.Job.MinBS, threshold: o.ZoneResetThreshold, frequency: o.ZoneResetFrequency, most: int32(max(o.JobMaxOpenZones, 0))}
	j.now.held = none
	return j
}

// Open finds out about the zones of f, a file or device of size bytes, and returns the size of a zone.
func (j *Job) Open(f *engines.File, size uint64) (zoneSize uint64, err error) {
	o := &j.cfg.Job.Options
	open := func() (*Device, error) { return j.open(f, size) }
	var d *Device
	if o.VerifyOnly && o.RW.Write { // the writes are only worked out: other jobs must not see them
		if d, err = open(); err == nil {
			d.imaginaryOnly = true
		}
	} else {
		d, err = j.cfg.Registry.find(f.Name, open)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.Name, err)
	}
	if o.ZoneSize != 0 && o.ZoneSize != d.zoneSize {
		return 0, fmt.Errorf("%s: zonesize=%d: it has zones of %d bytes", f.Name, o.ZoneSize, d.zoneSize)
	}
	for len(j.files) <= f.Index {
		j.files = append(j.files, nil)
	}
	j.files[f.Index] = &File{dev: d, f: f}
	return d.zoneSize, nil
}

func (j *Job) open(f *engines.File, size uint64) (d *Device, err error) {
	o := &j.cfg.Job.Options
	model := engines.NotZoned
	switch f.Kind {
	case engines.PipeFile:
		return nil, errors.New("zonemode=zbd: a pipe has no zones")
	case engines.Regular:
	default:
		if model, err = j.cfg.Manager.ZoneModel(f); err != nil {
			return nil, fmt.Errorf("zonemode=zbd: %w", err)
		}
	}
	if model == engines.NotZoned {
		d, err = imagine(size, o.ZoneSize, o.ZoneCapacity)
	} else {
		d, err = discover(j.cfg.Manager, f, size, o.ZoneSize)
	}
	if err != nil {
		return nil, err
	}
	d.name, d.model, d.manager = f.Name, model, j.cfg.Manager
	return d, j.limits(d, f)
}

// limits sets how many zones may be written at once.
func (j *Job) limits(d *Device, f *engines.File) error {
	o := &j.cfg.Job.Options
	want := uint32(max(o.MaxOpenZones, 0))
	d.mostWrite = want
	if d.model == engines.NotZoned {
		return nil
	}
	open, active, err := j.cfg.Manager.ZoneLimits(f)
	if err != nil {
		return fmt.Errorf("limits on open zones: %w", err)
	}
	d.active = active
	if d.model != engines.HostManaged || o.IgnoreZoneLimits || open == 0 {
		open = want
	}
	switch {
	case want == 0:
		d.mostWrite = open
	case open != 0 && want > open:
		return fmt.Errorf("max_open_zones=%d: the device has at most %d", want, open)
	}
	if d.mostWrite > mostWriting {
		return fmt.Errorf("the device has up to %d open zones, want at most %d: set max_open_zones, with ignore_zone_limits=1", d.mostWrite, mostWriting)
	}
	return nil
}

// sequential reports whether the range holds a zone with a write pointer.
func (f *File) sequential() bool {
	if f.length == 0 {
		return false
	}
	d := f.dev
	for i := d.index(f.offset); i <= d.index(f.offset+f.length-1) && i < d.count; i++ {
		if d.zones[i].hasWP {
			return true
		}
	}
	return false
}

// Fit cuts the range of f, which has size bytes, to whole zones, as fio does.
func (j *Job) Fit(f *engines.File, offset, length, size uint64) (at, n uint64, err error) {
	o, zf := &j.cfg.Job.Options, j.files[f.Index]
	zf.offset, zf.length = offset, length
	if offset < size && zf.sequential() {
		if err := zf.whole(&j.cfg); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	d := zf.dev
	if t := job.Trim; o.RW.Trim && (j.cfg.Job.MinBS[t] != j.cfg.Job.MaxBS[t] || len(o.BSSplit[t]) > 0) {
		return 0, 0, fmt.Errorf("%s: a trim resets a zone: it has one block size, no bsrange or bssplit", f.Name)
	}
	if o.RW.Trim && o.BS[job.Trim] != d.zoneSize {
		return 0, 0, fmt.Errorf("%s: a trim resets a zone: its block size must be that of a zone, %d, not %d", f.Name, d.zoneSize, o.BS[job.Trim])
	}
	if !o.Direct && o.RW.Write && f.Kind == engines.Block && d.model == engines.HostManaged {
		return 0, 0, fmt.Errorf("%s: writes to a zoned device need direct=1", f.Name)
	}
	zf.from, zf.to = d.index(zf.offset), d.index(zf.offset+zf.length)
	return zf.offset, zf.length, j.claim(zf)
}

// whole rounds the range to zones.
func (f *File) whole(cfg *Config) error {
	o, d := &cfg.Job.Options, f.dev
	if o.ZoneSkip.Kind == job.Bytes && o.ZoneSkip.Value%d.zoneSize != 0 {
		return fmt.Errorf("zoneskip=%d: must be a multiple of the zones of %d bytes", o.ZoneSkip.Value, d.zoneSize)
	}
	end := f.offset + f.length
	if o.RW.Read && !o.RW.Write && !o.RW.Trim {
		if last := d.zones[d.index(end)].start; end > last {
			n := max(last, f.offset) - f.offset
			cfg.Note("%s: the range to read is cut from %d to %d bytes, whole zones", f.f.Name, f.length, n)
			f.length = n
		}
		return nil
	}
	if i := d.index(f.offset); f.offset != d.zones[i].start {
		at := d.zones[i+1].start
		if at >= end {
			return errors.New("zonemode=zbd: want a range of at least one zone")
		}
		cfg.Note("%s: offset %d is rounded up to %d, the start of a zone", f.f.Name, f.offset, at)
		f.length -= at - f.offset
		f.offset = at
	}
	if last := d.zones[d.index(end)].start; end != last {
		if last <= f.offset {
			return errors.New("zonemode=zbd: want a range of at least one zone")
		}
		cfg.Note("%s: the range is cut from %d to %d bytes, whole zones", f.f.Name, f.length, last-f.offset)
		f.length = last - f.offset
	}
	return nil
}

// claim counts what the range holds already: bytes for zone_reset_threshold, and open zones against the limits.
func (j *Job) claim(f *File) error {
	o, d := &j.cfg.Job.Options, f.dev
	if err := j.countValid(f); err != nil {
		return err
	}
	if o.MaxOpenZones > 0 && d.mostWrite != uint32(o.MaxOpenZones) {
		return fmt.Errorf("%s: max_open_zones=%d, but another job on it has %d", d.name, o.MaxOpenZones, d.mostWrite)
	}
	if !o.RW.Write {
		if j.most > 0 {
			j.cfg.Note("job_max_open_zones has no effect: the job does not write")
		}
		return nil
	}
	if j.most > 0 && d.mostWrite == 0 {
		return errors.New("job_max_open_zones needs a limit for all jobs: set max_open_zones")
	}
	if !j.remainder && f.sequential() && j.minBS[job.Write]%512 != 0 {
		return fmt.Errorf("block size %d: writes to zones must be multiples of 512 bytes", j.minBS[job.Write])
	}
	for i := f.from; i < f.to; i++ {
		z := &d.zones[i]
		open := z.cond == engines.ZoneImpOpen || z.cond == engines.ZoneExpOpen || z.cond == engines.ZoneClosed && d.active > 0
		if open && !j.enlist(f, i) {
			return fmt.Errorf("%s: more zones are open than max_open_zones allows", d.name)
		}
	}
	return nil
}

// counts reports whether the job keeps track of the bytes in zones.
func (j *Job) counts() bool { return j.threshold != 0 && j.cfg.Job.RW.Write }

func (j *Job) countValid(f *File) error {
	d := f.dev
	if !j.counts() || !f.sequential() {
		return nil
	}
	if d.rangeA != d.rangeB {
		if d.rangeA != f.from || d.rangeB != f.to {
			return fmt.Errorf("%s: zone_reset_threshold: jobs that write different ranges cannot share it", d.name)
		}
		return nil
	}
	d.rangeA, d.rangeB = f.from, f.to
	for i := f.from; i < f.to; i++ {
		if z := &d.zones[i]; z.hasWP {
			d.valid += z.wp - z.start
		}
	}
	return nil
}

// Start puts file i back to the start of a pass: a job that verifies empties its zones, so that it need not while it writes.
func (j *Job) Start(i int) error {
	f := j.files[i]
	if !j.cfg.Job.RW.Write {
		return nil
	}
	d := f.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if j.verifies && !j.cfg.Unverified() {
		for i := f.from; i < f.to; i++ {
			if !d.zones[i].hasWP {
				continue
			}
			if !j.hold(f, i) {
				return nil
			}
			var err error
			if z := &d.zones[i]; z.wp != z.start {
				if err = j.empty(f, z); err == nil {
					j.delist(d, i)
				}
			}
			j.release(d, i)
			if err != nil {
				return err
			}
		}
	}
	d.restart(j.frequency)
	return nil
}

// restart begins the count of writes until the next reset anew.
func (d *Device) restart(frequency float64) {
	d.untilReset = math.MaxUint32
	if frequency > 0 {
		d.untilReset = uint32(min(1/frequency, math.MaxUint32))
	}
}

// At is the zone at a position of file i: where it starts and ends, where its capacity ends and where it is written next.
func (j *Job) At(i int, at uint64) (start, wp, capEnd, end uint64) {
	d := j.files[i].dev
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.index(at)
	if k >= d.count {
		z := &d.zones[d.count]
		return z.start, z.start, z.start, math.MaxUint64
	}
	z := &d.zones[k]
	return z.start, z.wp, z.capEnd(), d.zones[k+1].start
}
