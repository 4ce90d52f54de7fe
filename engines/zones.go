package engines

import "fmt"

// ZoneModel says how a device handles zones.
type ZoneModel uint8

// The models.
const (
	NotZoned    ZoneModel = iota // zones are only imagined, in multiples of the zonesize option
	HostAware                    // writes should be sequential
	HostManaged                  // writes must be sequential
)

// ZoneType is what a zone takes. The numbers are the kernel's (linux/blkzoned.h).
type ZoneType uint8

// The types.
const (
	ConventionalZone    ZoneType = 1
	SequentialZone      ZoneType = 2 // writes must be sequential
	SequentialPreferred ZoneType = 3
)

// ZoneCond is the state of a zone. The numbers are the kernel's (linux/blkzoned.h) and NVMe's.
type ZoneCond uint8

// The states.
const (
	ZoneNoWP     ZoneCond = 0x0 // conventional: it has no write pointer
	ZoneEmpty    ZoneCond = 0x1
	ZoneImpOpen  ZoneCond = 0x2
	ZoneExpOpen  ZoneCond = 0x3
	ZoneClosed   ZoneCond = 0x4
	ZoneReadOnly ZoneCond = 0xd
	ZoneFull     ZoneCond = 0xe
	ZoneOffline  ZoneCond = 0xf
)

// String is the word that blkzone prints for the state.
func (c ZoneCond) String() string {
	switch c {
	case ZoneNoWP:
		return "nw"
	case ZoneEmpty:
		return "em"
	case ZoneImpOpen:
		return "oi"
	case ZoneExpOpen:
		return "oe"
	case ZoneClosed:
		return "cl"
	case ZoneReadOnly:
		return "ro"
	case ZoneFull:
		return "fu"
	case ZoneOffline:
		return "ol"
	}
	return fmt.Sprintf("%#x", uint8(c))
}

// Zone is one entry of a zone report. All numbers are bytes, positions counted from the start of the device.
type Zone struct {
	Start, WP, Length, Capacity uint64
	Type                        ZoneType
	Cond                        ZoneCond
}

// ZoneManager reports and changes the zones of devices. It needs no engine: f may be closed, and then the device is opened
// for the one request. Several workers may use one at a time.
type ZoneManager interface {
	// ZoneModel tells whether the device is zoned at all. An error means that it cannot be used with zones.
	ZoneModel(f *File) (ZoneModel, error)
	// ZoneLimits are how many zones may be open, and open or closed, at once; 0: no limit.
	ZoneLimits(f *File) (open, active uint32, err error)
	// ReportZones stores what is known of the zones from the one at byte from on, and reports how many it stored.
	ReportZones(f *File, from uint64, zones []Zone) (int, error)
	// ResetZones empties the zones of a range in bytes.
	ResetZones(f *File, offset, length uint64) error
	// FinishZones makes the zones of a range full.
	FinishZones(f *File, offset, length uint64) error
	// FillZone writes length bytes at the write pointer of z: those of data, or zeroes where data is nil.
	FillZone(f *File, z *Zone, length uint64, data []byte) error
}

// ZoneAppender is an Engine whose writes can be zone appends, which go to the start of a zone and tell where they have
// landed.
type ZoneAppender interface {
	Appends() bool
	// Landed is where the data of a finished write is; false: it was no append.
	Landed(u *IO) (offset uint64, ok bool)
}
