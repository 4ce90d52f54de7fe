package scsi

import (
	"encoding/binary"
	"fmt"
)

// CDB is a command descriptor block; its length is beside it.
type CDB [32]byte

// Op is what a command does with a run of blocks.
type Op uint8

// The operations.
const (
	Read Op = iota
	Write
	Verify
	Prefetch
)

// opcode10 and opcode16 are the operation codes of the command blocks of 10 and 16 bytes, action32 the service actions of
// those of 32; there is none for prefetching.
var (
	opcode10 = [...]byte{Read: 0x28, Write: 0x2a, Verify: 0x2f, Prefetch: 0x34}
	opcode16 = [...]byte{Read: 0x88, Write: 0x8a, Verify: 0x8f, Prefetch: 0x90}
	action32 = [...]uint16{Read: 0x0009, Write: 0x000b, Verify: 0x000a}
)

// Other operation codes.
const (
	opReadCapacity10 = 0x25
	opSyncCache10    = 0x35
	opSyncCache16    = 0x91
	opUnmap          = 0x42
	opVariable       = 0x7f // the command block of 32 bytes
	opServiceIn16    = 0x9e
	actionCapacity16 = 0x10
)

// Bits of the byte behind the operation code.
const (
	FUA      = 1 << 3 // force unit access
	bytchkAt = 1      // BYTCHK of a verify has two bits from here on
)

// Bytchk is what a verify compares: 0 nothing, 1 all blocks with the data sent, 3 each block with the one that is sent.
func Bytchk(n int) uint8 { return uint8(n) << bytchkAt }

// Fit is the length of the shortest command block that can name n blocks from lba on: 10 or 16 bytes.
func Fit(lba, n uint64) int {
	if lba > 1<<32-1 || n > 1<<16-1 {
		return 16
	}
	return 10
}

// Check reports why a command block of so many bytes cannot name up to most blocks, or the block before end; nil: it can.
func Check(length int, most, end uint64) error {
	if length == 10 && end > 1<<32 {
		return fmt.Errorf("a command block of 10 bytes reaches block 2^32-1, not %d", end-1)
	}
	if length == 10 && most > 1<<16-1 {
		return fmt.Errorf("a command block of 10 bytes names at most 65535 blocks, not %d", most)
	}
	if most > 1<<32-1 {
		return fmt.Errorf("a command names at most 2^32-1 blocks, not %d", most)
	}
	return nil
}

// Blocks sets c to do op with n blocks from lba on, in a command block of 10, 16 or 32 bytes. Flags are FUA and Bytchk.
func (c *CDB) Blocks(op Op, length int, lba, n uint64, flags uint8) {
	*c = CDB{}
	switch length {
	case 10:
		c[0], c[1] = opcode10[op], flags
		binary.BigEndian.PutUint32(c[2:], uint32(lba))
		binary.BigEndian.PutUint16(c[7:], uint16(n))
	case 16:
		c[0], c[1] = opcode16[op], flags
		binary.BigEndian.PutUint64(c[2:], lba)
		binary.BigEndian.PutUint32(c[10:], uint32(n))
	default:
		c[0], c[7] = opVariable, 32-8
		binary.BigEndian.PutUint16(c[8:], action32[op])
		c[10] = flags
		binary.BigEndian.PutUint64(c[12:], lba)
		binary.BigEndian.PutUint32(c[28:], uint32(n))
	}
}

// SyncCache sets c to flush the whole disk, and reports the length of the command block: 10, else 16, as there is none of
// 32.
func (c *CDB) SyncCache(length int) int {
	*c = CDB{opSyncCache10}
	if length == 10 {
		return 10
	}
	c[0] = opSyncCache16
	return 16
}

// UnmapSize is the length of the list of an unmap of one range, in bytes.
const UnmapSize = 24

// Unmap sets c to unmap n blocks from lba on, which it writes to list. The command block has 10 bytes.
func (c *CDB) Unmap(list *[UnmapSize]byte, lba uint64, n uint32) {
	*c = CDB{opUnmap}
	binary.BigEndian.PutUint16(c[7:], UnmapSize)
	*list = [UnmapSize]byte{}
	binary.BigEndian.PutUint16(list[0:], UnmapSize-2)
	binary.BigEndian.PutUint16(list[2:], UnmapSize-8)
	binary.BigEndian.PutUint64(list[8:], lba)
	binary.BigEndian.PutUint32(list[16:], n)
}

// CapacitySize is how many bytes the answers to capacity commands have at most.
const CapacitySize = 32

// ReadCapacity sets c to ask for the capacity, and reports the length of the command block: 10, or with large 16, for disks
// of more than 2^32 blocks.
func (c *CDB) ReadCapacity(large bool) int {
	if !large {
		*c = CDB{opReadCapacity10}
		return 10
	}
	*c = CDB{opServiceIn16, actionCapacity16}
	binary.BigEndian.PutUint32(c[10:], CapacitySize)
	return 16
}

// ParseCapacity reads the answer: the number of blocks and their bytes. With large false a disk that is too large for the
// answer gives 0 blocks.
func ParseCapacity(b []byte, large bool) (blocks uint64, size uint32, err error) {
	if len(b) < CapacitySize {
		return 0, 0, fmt.Errorf("scsi: capacity: %d bytes are too short", len(b))
	}
	if large {
		blocks, size = binary.BigEndian.Uint64(b)+1, binary.BigEndian.Uint32(b[8:])
	} else if last := binary.BigEndian.Uint32(b); last != 1<<32-1 {
		blocks, size = uint64(last)+1, binary.BigEndian.Uint32(b[4:])
	} else {
		return 0, binary.BigEndian.Uint32(b[4:]), nil
	}
	if size < 256 || size&(size-1) != 0 || size > 1<<20 || blocks > 1<<62/uint64(size) {
		return 0, 0, fmt.Errorf("scsi: capacity: %d blocks of %d bytes make no sense", blocks, size)
	}
	return blocks, size, nil
}
