package zoned

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"fiord/engines"
)

// mostWriting is the most zones that can be written at once under a limit.
const mostWriting = 4096

// zone is one zone. The job that holds it may change it; so may nobody else, whatever the device's lock says.
type zone struct {
	start, wp, capacity uint64
	cond                engines.ZoneCond // as reported at the start of the run: it is not kept up to date
	hasWP               bool

	writing  bool // it is in the device's list of zones that are written
	resetDue bool // to be reset before the next write (zone_reset_frequency)
	reset    bool // it is to be reset by a trim that is on its way to the device

	writes   int    // in flight
	fixing   bool   // its write pointer is being looked for after an error
	errorEnd uint64 // how far failed writes reached, from the start of the zone

	holder *Job // who has I/O in the zone, or decides about one; nil: nobody
	holds  int
	writer *Job // whose zone it is in the list of those written
}

func (z *zone) capEnd() uint64 { return z.start + z.capacity }

// room is what can still be written to the zone, in bytes.
func (z *zone) room() uint64 {
	if z.wp >= z.capEnd() {
		return 0
	}
	return z.capEnd() - z.wp
}

// Device is what the jobs on one device know of its zones.
type Device struct {
	name     string
	model    engines.ZoneModel
	zoneSize uint64
	count    int
	zones    []zone // and one behind the last, of which only the start counts

	mu        sync.Mutex
	freed     sync.Cond // some zone is no longer held
	held      int       // holds of all zones
	mostWrite uint32    // zones that may be written at once; 0: any number, and there is no list of them
	active    uint32    // the device's limit on open and closed zones; 0: none

	list    [mostWriting]uint32 // zones that are written
	listLen int

	valid         uint64 // bytes in zones, for zone_reset_threshold
	rangeA        int    // zones of the jobs that count them
	rangeB        int
	untilReset    uint32 // writes until the next reset of zone_reset_frequency
	manager       engines.ZoneManager
	imaginaryOnly bool // nothing is to be changed on the device (verify_only)
}

// index is the zone that holds byte at; count for what is behind the last.
func (d *Device) index(at uint64) int {
	return int(min(at/d.zoneSize, uint64(d.count)))
}

// managed reports whether requests go to the device.
func (d *Device) managed() bool { return d.model != engines.NotZoned && !d.imaginaryOnly }

// Registry knows the devices of a run by their names. The zero value is ready.
type Registry struct {
	mu      sync.Mutex
	devices map[string]*Device
}

// find returns the device called name, made by open unless it is there. Jobs are set up one at a time.
func (r *Registry) find(name string, open func() (*Device, error)) (*Device, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.devices[name]; d != nil {
		return d, nil
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	if r.devices == nil {
		r.devices = map[string]*Device{}
	}
	r.devices[name] = d
	return d, nil
}

var errNoZoneSize = errors.New("zonemode=zbd needs zonesize on a file or device that has no zones")

// imagine makes a device of size bytes that has no zones of its own.
func imagine(size, zoneSize, capacity uint64) (*Device, error) {
	if capacity == 0 {
		capacity = zoneSize
	}
	switch {
	case zoneSize == 0:
		return nil, errNoZoneSize
	case zoneSize < 512:
		return nil, fmt.Errorf("zonesize=%d: want at least 512 bytes with zonemode=zbd", zoneSize)
	case capacity > zoneSize:
		return nil, fmt.Errorf("zonecapacity=%d is larger than zonesize=%d", capacity, zoneSize)
	case size < zoneSize:
		return nil, fmt.Errorf("size of %d bytes is less than one zone of zonesize=%d", size, zoneSize)
	}
	d := newDevice(size, zoneSize)
	if d == nil {
		return nil, fmt.Errorf("zonesize=%d: too many zones for %d bytes", zoneSize, size)
	}
	for i := range d.count {
		start := uint64(i) * zoneSize
		d.zones[i] = zone{start: start, wp: start, capacity: capacity, cond: engines.ZoneEmpty, hasWP: true}
	}
	d.zones[d.count].start = uint64(d.count) * zoneSize
	return d, nil
}

// mostZones bounds what the memory of zones takes.
const mostZones = 1 << 26

func newDevice(size, zoneSize uint64) *Device {
	n := (size-1)/zoneSize + 1
	if n > mostZones || n > math.MaxUint64/zoneSize {
		return nil
	}
	d := &Device{zoneSize: zoneSize, count: int(n), zones: make([]zone, n+1)}
	d.freed.L = &d.mu
	return d
}

// reportChunk is how many zones are asked for at once.
const reportChunk = 8192

// discover reads the zones of a device.
func discover(m engines.ZoneManager, f *engines.File, size, wanted uint64) (*Device, error) {
	report := make([]engines.Zone, reportChunk)
	n, err := m.ReportZones(f, 0, report)
	if err != nil {
		return nil, fmt.Errorf("report zones: %w", err)
	}
	if n == 0 || report[0].Length == 0 {
		return nil, errors.New("report zones: there are none")
	}
	zoneSize := report[0].Length
	if wanted != 0 && wanted != zoneSize {
		return nil, fmt.Errorf("zonesize=%d: the zones of the device have %d bytes", wanted, zoneSize)
	}
	d := newDevice(size, zoneSize)
	if d == nil {
		return nil, fmt.Errorf("report zones: too many zones of %d bytes", zoneSize)
	}
	var at uint64
	for i := 0; ; {
		for k := range report[:n] {
			if i >= d.count {
				break
			}
			if report[k].Start != at {
				return nil, fmt.Errorf("report zones: zone %d starts at %d, want %d", i, report[k].Start, at)
			}
			if d.zones[i], err = known(&report[k], zoneSize); err != nil {
				return nil, fmt.Errorf("report zones: zone %d: %w", i, err)
			}
			at += zoneSize
			i++
		}
		if i >= d.count {
			break
		}
		if n, err = m.ReportZones(f, at, report[:min(d.count-i, reportChunk)]); err != nil {
			return nil, fmt.Errorf("report zones from byte %d: %w", at, err)
		}
		if n == 0 {
			return nil, fmt.Errorf("report zones from byte %d: there are none", at)
		}
	}
	d.zones[d.count].start = at
	return d, nil
}

// known is the state of a zone by its report.
func known(r *engines.Zone, zoneSize uint64) (zone, error) {
	z := zone{start: r.Start, wp: r.WP, capacity: r.Capacity, cond: r.Cond, hasWP: r.Type == engines.SequentialZone}
	if r.Capacity > zoneSize {
		return z, fmt.Errorf("capacity %d above %d", r.Capacity, zoneSize)
	}
	switch r.Cond {
	case engines.ZoneNoWP, engines.ZoneFull:
		z.wp = z.capEnd()
	case engines.ZoneReadOnly, engines.ZoneOffline: // neither is to be used
		z.cond, z.wp = engines.ZoneOffline, z.start
	default:
		if r.WP < r.Start || r.WP > r.Start+zoneSize {
			return z, fmt.Errorf("write pointer %d outside", r.WP)
		}
	}
	return z, nil
}
