package nvme

import (
	"encoding/binary"
	"fmt"
)

// Opcodes of the zoned namespace command set.
const (
	OpZoneSend    = 0x79 // zone management send: reset, finish
	OpZoneReceive = 0x7a // zone management receive: report
	OpZoneAppend  = 0x7d
)

// ZoneAction is what zone management send does (ZSA).
type ZoneAction uint8

// The actions.
const (
	ZoneFinish ZoneAction = 2
	ZoneReset  ZoneAction = 4
)

// ZonedNamespace is what identify tells of a namespace of the zoned command set, in logical blocks.
type ZonedNamespace struct {
	ZoneSize  uint64
	MaxOpen   uint32 // zones open at once; 0: no limit
	MaxActive uint32 // zones open or closed at once; 0: no limit
}

// Zoned reads the answer to CNSNamespaceCSI of the zoned command set, for the format that n has.
func (n *Namespace) Zoned(b []byte) (ZonedNamespace, error) {
	if len(b) < IdentifySize {
		return ZonedNamespace{}, ErrShort
	}
	z := ZonedNamespace{
		ZoneSize:  binary.LittleEndian.Uint64(b[2816+16*n.formatIdx:]),
		MaxActive: binary.LittleEndian.Uint32(b[4:]) + 1, // all ones, no limit, becomes 0
		MaxOpen:   binary.LittleEndian.Uint32(b[8:]) + 1,
	}
	if z.ZoneSize == 0 || z.ZoneSize > n.Blocks {
		return z, fmt.Errorf("nvme: namespace %d of %d blocks has zones of %d", n.NSID, n.Blocks, z.ZoneSize)
	}
	return z, nil
}

// AppendLimit reads the answer to CNSControllerCSI of the zoned command set: the most bytes of a zone append, 0 where only
// the limit on any command holds.
func AppendLimit(b []byte) (uint64, error) {
	if len(b) < IdentifySize {
		return 0, ErrShort
	}
	return pages(b[0]), nil
}

// Sizes of a zone report in bytes.
const (
	ReportHead = 64
	ReportZone = 64
)

// Zone is one entry of a zone report, in logical blocks.
type Zone struct {
	Type, State         uint8 // State has the numbers of ZS
	Capacity, Start, WP uint64
}

// ParseReport reads the zones of a report into zones and reports how many there were room for.
func ParseReport(b []byte, zones []Zone) (int, error) {
	if len(b) < ReportHead {
		return 0, ErrShort
	}
	n := int(min(binary.LittleEndian.Uint64(b), uint64(len(zones)), uint64((len(b)-ReportHead)/ReportZone)))
	for i := range n {
		d := b[ReportHead+i*ReportZone:]
		zones[i] = Zone{Type: d[0] & 0xf, State: d[1] >> 4, Capacity: binary.LittleEndian.Uint64(d[8:]),
			Start: binary.LittleEndian.Uint64(d[16:]), WP: binary.LittleEndian.Uint64(d[24:])}
	}
	return n, nil
}

// reportPartial has a report count only the zones that are in it.
const reportPartial = 1 << 16

// ReportZones is the command that fills the n bytes at addr, a multiple of 4, with a report of the zones from block start on.
func ReportZones(nsid uint32, start, addr uint64, n uint32) Command {
	return Command{Opcode: OpZoneReceive, NSID: nsid, Addr: addr, DataLen: n, CDW10: uint32(start), CDW11: uint32(start >> 32),
		CDW12: n/4 - 1, CDW13: reportPartial}
}

// ZoneManage is the command that does action to the zone that starts at block start.
func ZoneManage(nsid uint32, start uint64, action ZoneAction) Command {
	return Command{Opcode: OpZoneSend, NSID: nsid, CDW10: uint32(start), CDW11: uint32(start >> 32), CDW13: uint32(action)}
}
