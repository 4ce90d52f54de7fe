package nvme

import (
	"encoding/binary"
	"fmt"
)

// OpIOMgmtRecv is I/O management receive, which tells of reclaim unit handles.
const OpIOMgmtRecv = 0x12

// mgmtReclaimUnits asks I/O management receive for the status of the reclaim unit handles.
const mgmtReclaimUnits = 1

// Directive is the type of a directive (DTYPE), which says what the number beside it means.
type Directive uint8

// The directives of writes.
const (
	DirectiveNone      Directive = 0
	DirectiveStreams   Directive = 1 // the number is a stream
	DirectivePlacement Directive = 2 // the number is a placement identifier
)

// Direct adds a directive and its number to a write.
func (c *Command) Direct(d Directive, number uint16) {
	c.CDW12 |= uint32(d) << 20
	c.CDW13 = uint32(number) << 16
}

// Sizes of the answer on reclaim unit handles.
const (
	reclaimHeader = 16
	reclaimEntry  = 32
)

// ReclaimSize is how many bytes the status of n reclaim unit handles has.
func ReclaimSize(n int) int { return reclaimHeader + n*reclaimEntry }

// ReclaimUnits is the I/O command that fills size bytes at addr with the status of the reclaim unit handles: a multiple of
// 4, and of as many handles as there is room for.
func ReclaimUnits(nsid uint32, addr uint64, size int) Command {
	return Command{Opcode: OpIOMgmtRecv, NSID: nsid, Addr: addr, DataLen: uint32(size), CDW10: mgmtReclaimUnits,
		CDW11: uint32(size/4 - 1)}
}

// ParseReclaimUnits reads how many handles there are out of the answer, and the placement identifiers of those that b has
// room for, in the order of the handles.
func ParseReclaimUnits(b []byte) (total int, ids []uint16, err error) {
	if len(b) < reclaimHeader {
		return 0, nil, fmt.Errorf("nvme: status of reclaim unit handles: %d bytes are too short", len(b))
	}
	total = int(binary.LittleEndian.Uint16(b[14:]))
	ids = make([]uint16, min(total, (len(b)-reclaimHeader)/reclaimEntry))
	for i := range ids {
		ids[i] = binary.LittleEndian.Uint16(b[reclaimHeader+i*reclaimEntry:])
	}
	return total, ids, nil
}
