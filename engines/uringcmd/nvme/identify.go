package nvme

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Controller is what identify tells of a controller.
type Controller struct {
	Serial, Model, Firmware string
	Version                 uint32 // VER: major<<16 | minor<<8 | tertiary
	MaxTransfer             uint64 // bytes of one command (MDTS, in pages of 4 KiB); 0: no limit
	Formats                 bool   // extended LBA formats (ELBAS): guards of more than 16 bits
	Compare, WriteUncor     bool   // optional commands it has
	DSM, WriteZeroes        bool
	Verify                  bool
	WriteCache              bool // there is a volatile write cache
	Directives              bool // it knows directives, streams among them (OACS)
	Placement               bool // it knows flexible data placement (CTRATT)

	// Limits of the NVM command set, from identify's CNSControllerCSI; 0: none known.
	MaxVerify, MaxZeroes, MaxUncor uint64 // bytes
	MaxRanges                      int    // of dataset management
	MaxRange                       uint32 // blocks in one range
	MaxRangesTotal                 uint64 // blocks in all ranges of one command
}

// ErrShort is the error of identify data that are not IdentifySize bytes.
var ErrShort = errors.New("nvme: identify data too short")

// ParseController reads the answer to CNSController.
func ParseController(b []byte) (Controller, error) {
	if len(b) < IdentifySize {
		return Controller{}, ErrShort
	}
	text := func(from, to int) string { return strings.Trim(string(b[from:to]), " \x00") }
	oacs := binary.LittleEndian.Uint16(b[256:])
	attributes := binary.LittleEndian.Uint32(b[96:])
	oncs := binary.LittleEndian.Uint16(b[520:])
	return Controller{
		Serial: text(4, 24), Model: text(24, 64), Firmware: text(64, 72),
		Version:     binary.LittleEndian.Uint32(b[80:]),
		MaxTransfer: pages(b[77]),
		Formats:     attributes&(1<<15) != 0,
		Placement:   attributes&(1<<19) != 0,
		Directives:  oacs&(1<<5) != 0,
		Compare:     oncs&(1<<0) != 0,
		WriteUncor:  oncs&(1<<1) != 0,
		DSM:         oncs&(1<<2) != 0,
		WriteZeroes: oncs&(1<<3) != 0,
		Verify:      oncs&(1<<7) != 0,
		WriteCache:  b[525]&1 != 0,
	}, nil
}

// Limits adds the answer to CNSControllerCSI of the NVM command set. Controllers before NVMe 2.0 have none.
func (c *Controller) Limits(b []byte) error {
	if len(b) < IdentifySize {
		return ErrShort
	}
	c.MaxVerify, c.MaxZeroes, c.MaxUncor = pages(b[0]), pages(b[1]), pages(b[2])
	c.MaxRanges = int(b[3])
	c.MaxRange = binary.LittleEndian.Uint32(b[4:])
	c.MaxRangesTotal = binary.LittleEndian.Uint64(b[8:])
	return nil
}

// pages is 2^n pages in bytes; 0, and what is beyond any memory, is no limit.
func pages(n uint8) uint64 {
	if n == 0 || n > 40 {
		return 0
	}
	return minPage << n
}

// GuardType is the width of the guard in protection information.
type GuardType uint8

// The guard types, by the numbers in extended LBA formats.
const (
	Guard16 GuardType = 0
	Guard32 GuardType = 1
	Guard64 GuardType = 2
)

// Namespace is what identify tells of a namespace and the format it has.
type Namespace struct {
	NSID      uint32
	Blocks    uint64 // size in logical blocks
	DataSize  uint32 // bytes of data in a block, a power of two
	MetaSize  uint32 // bytes of metadata in a block
	Extended  bool   // metadata stand behind the data of each block, in one buffer
	ReadOnly  bool   // write protected
	PIType    uint8  // protection information: 0 none, 1 to 3
	PIFirst   bool   // protection information are the first bytes of the metadata, not the last
	Guard     GuardType
	PISize    uint32 // bytes of protection information; 0: none
	formatIdx int
}

// ParseNamespace reads the answer to CNSNamespace.
func ParseNamespace(nsid uint32, b []byte) (Namespace, error) {
	if len(b) < IdentifySize {
		return Namespace{}, ErrShort
	}
	formats, flbas, dps := int(b[25]), b[26], b[29]
	idx := int(flbas & 0xf)
	if formats >= 16 {
		idx |= int(flbas>>5&3) << 4
	}
	lbaf := b[128+4*idx:]
	n := Namespace{
		NSID:      nsid,
		Blocks:    binary.LittleEndian.Uint64(b),
		MetaSize:  uint32(binary.LittleEndian.Uint16(lbaf)),
		Extended:  flbas&(1<<4) != 0,
		ReadOnly:  b[99]&1 != 0,
		formatIdx: idx,
	}
	if ds := lbaf[2]; ds < 9 || ds > 31 {
		return n, fmt.Errorf("nvme: namespace %d: LBA format %d has blocks of 2^%d bytes: is the namespace active?", nsid, idx, ds)
	}
	n.DataSize = 1 << lbaf[2]
	if n.MetaSize == 0 {
		n.Extended = false
		return n, nil
	}
	if n.PIType = dps & 7; n.PIType != 0 {
		n.PISize, n.PIFirst = 8, dps&(1<<3) != 0
	}
	return n, n.checkPI()
}

// ExtendedFormat adds the answer to CNSNamespaceCSI of the NVM command set, which a controller with extended formats
// gives: the width of the guard. Storage tags and the 32-bit guard, which needs one, are refused.
func (n *Namespace) ExtendedFormat(b []byte) error {
	if len(b) < IdentifySize {
		return ErrShort
	}
	elbaf := binary.LittleEndian.Uint32(b[12+4*n.formatIdx:])
	if n.PIType == 0 {
		return nil
	}
	if tag := elbaf & 0x7f; tag != 0 {
		return fmt.Errorf("nvme: namespace %d: its protection information has storage tags of %d bits, which are not supported",
			n.NSID, tag)
	}
	switch n.Guard = GuardType(elbaf >> 7 & 3); n.Guard {
	case Guard16:
		n.PISize = 8
	case Guard64:
		n.PISize = 16
	default:
		return fmt.Errorf("nvme: namespace %d: its protection information has guards of type %d, which are not supported",
			n.NSID, n.Guard)
	}
	return n.checkPI()
}

// checkPI refuses a namespace whose metadata cannot hold its protection information.
func (n *Namespace) checkPI() error {
	if n.PISize > n.MetaSize {
		return fmt.Errorf("nvme: namespace %d: %d bytes of metadata cannot hold %d of protection information", n.NSID, n.MetaSize, n.PISize)
	}
	return nil
}

// Format is the shape of a namespace's blocks in the buffers of a job.
type Format struct {
	NSID     uint32
	Block    uint32 // bytes of a block in the data buffer: data, and metadata where they stand behind them
	Data     uint32 // bytes of data in a block
	Meta     uint32 // bytes of metadata in a block that the host moves, in the data buffer or beside it
	Extended bool   // metadata are in the data buffer
	PI       PI
	shift    int8 // log2 of Block; -1: no power of two
}

// Format is how commands on n look to the host. With act the controller makes and checks the protection information,
// and where they are all of the metadata none are moved.
func (n *Namespace) Format(act bool) Format {
	f := Format{NSID: n.NSID, Data: n.DataSize, Meta: n.MetaSize, Extended: n.Extended, shift: -1}
	if act && n.PIType != 0 && n.MetaSize == n.PISize {
		f.Meta = 0
	}
	if f.Meta == 0 {
		f.Extended = false
	}
	f.Block = f.Data
	if f.Extended {
		f.Block += f.Meta
	}
	for s := range int8(32) {
		if f.Block == 1<<s {
			f.shift = s
		}
	}
	f.PI = PI{Type: n.PIType, Guard: n.Guard, size: n.PISize}
	if !n.PIFirst && n.MetaSize >= n.PISize {
		f.PI.at = n.MetaSize - n.PISize
	}
	return f
}

// SeparateFormat is a format of blocks of data bytes, a power of two, with metadata beside them that the host moves. It fails
// where the metadata cannot hold the protection information.
func SeparateFormat(data, meta uint32, pi PI) (Format, error) {
	f := Format{Block: data, Data: data, Meta: meta, PI: pi, shift: -1}
	for s := range int8(32) {
		if data == 1<<s {
			f.shift = s
		}
	}
	need := uint32(8)
	if pi.Guard == Guard64 {
		need = 16
	}
	if f.shift < 0 || pi.size < need || pi.at+pi.size > meta {
		return f, fmt.Errorf("nvme: blocks of %d bytes and %d of metadata with %d bytes of protection information at %d make no sense",
			data, meta, pi.size, pi.at)
	}
	return f, nil
}

// Size is the namespace in bytes, as offsets of a job count them.
func (n *Namespace) Size(f *Format) uint64 { return n.Blocks * uint64(f.Block) }

// LBA is the logical block at a byte offset, or the number of blocks in so many bytes.
func (f *Format) LBA(bytes uint64) uint64 {
	if f.shift >= 0 {
		return bytes >> uint8(f.shift)
	}
	return bytes / uint64(f.Block)
}

// Aligned reports whether an offset and a length in bytes are whole blocks.
func (f *Format) Aligned(offset, length uint64) bool {
	if f.shift >= 0 {
		return (offset|length)&(uint64(f.Block)-1) == 0
	}
	return offset%uint64(f.Block) == 0 && length%uint64(f.Block) == 0
}
