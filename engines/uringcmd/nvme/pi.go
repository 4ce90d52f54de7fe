package nvme

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// PI is the protection information of a format: a guard, an application tag and a reference tag at the same place in
// the metadata of each block.
type PI struct {
	Type  uint8 // 0: none
	Guard GuardType
	size  uint32 // bytes
	at    uint32 // offset in the metadata of a block
}

// PIAt is protection information of size bytes at an offset in the metadata of a block.
func PIAt(typ uint8, guard GuardType, at, size uint32) PI {
	return PI{Type: typ, Guard: guard, at: at, size: size}
}

// Checks says which fields of protection information are made and looked at, and with what.
type Checks struct {
	Flags   uint32 // PRInfo bits
	AppTag  uint16
	AppMask uint16 // bits of the application tag that count
}

// ParseChecks reads the names of fields to check, GUARD, REFTAG and APPTAG, separated by commas or their like.
func ParseChecks(text string) (flags uint32, err error) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == '|' || r == ':' }) {
		switch word {
		case "GUARD":
			flags |= PRInfoChkGuard
		case "REFTAG":
			flags |= PRInfoChkRef
		case "APPTAG":
			flags |= PRInfoChkApp
		default:
			return 0, fmt.Errorf("want GUARD, REFTAG or APPTAG, got %q", word)
		}
	}
	return flags, nil
}

// PIError is a field of protection information that is not what it should be.
type PIError struct {
	Field     string // guard, application tag or reference tag
	LBA       uint64
	Want, Got uint64
}

func (e *PIError) Error() string {
	return fmt.Sprintf("protection information: %s of LBA %d is %#x, want %#x", e.Field, e.LBA, e.Got, e.Want)
}

// Host reports whether the host makes and checks the protection information of f itself under c.
func (f *Format) Host(c *Checks) bool { return f.PI.Type != 0 && c.Flags&PRInfoAct == 0 && f.Meta != 0 }

// Command sets the protection fields of a command on blocks that begin at start: what the controller is to do, and what
// it compares with.
func (c *Checks) Command(f *Format, cmd *Command, start uint64) {
	if f.PI.Type == 0 {
		return
	}
	cmd.CDW12 |= c.Flags & prInfoMask
	if c.Flags&PRInfoChkRef != 0 && f.PI.Type != 3 {
		cmd.CDW14 = uint32(start)
		if f.PI.Guard == Guard64 {
			cmd.CDW3 = uint32(start>>32) & 0xffff
		}
	}
	if c.Flags&PRInfoChkApp != 0 {
		cmd.CDW15 = uint32(c.AppMask)<<16 | uint32(c.AppTag)
	}
}

// block is one logical block in memory: what the guard covers, in two parts, and the protection information.
type block struct{ data, meta, pi []byte }

// blockAt cuts block i out of the buffers. The guard covers the metadata before the protection information, not those
// behind it.
func (f *Format) blockAt(i int, data, meta []byte) block {
	d := data[i*int(f.Block):][:f.Block]
	m := d[f.Data:]
	if !f.Extended {
		m = meta[i*int(f.Meta):][:f.Meta]
	}
	at := f.PI.at
	return block{d[:f.Data], m[:at], m[at : at+f.PI.size]}
}

// Generate fills the protection information of the blocks in data, which begin at start, as far as c names fields:
// others keep what they hold. meta are the separate metadata, nil for extended blocks.
func (f *Format) Generate(c *Checks, data, meta []byte, start uint64) {
	for i := range len(data) / int(f.Block) {
		b := f.blockAt(i, data, meta)
		app := b.pi[2:4]
		if f.PI.Guard == Guard64 {
			app = b.pi[8:10]
		}
		if c.Flags&PRInfoChkGuard != 0 {
			f.putGuard(b)
		}
		if c.Flags&PRInfoChkApp != 0 {
			binary.BigEndian.PutUint16(app, c.AppTag)
		}
		if c.Flags&PRInfoChkRef != 0 && f.PI.Type != 3 {
			f.putRef(b.pi, start+uint64(i))
		}
	}
}

func (f *Format) putGuard(b block) {
	if f.PI.Guard == Guard64 {
		binary.BigEndian.PutUint64(b.pi, CRC64(CRC64(0, b.data), b.meta))
		return
	}
	binary.BigEndian.PutUint16(b.pi, CRC16(CRC16(0, b.data), b.meta))
}

func (f *Format) putRef(pi []byte, lba uint64) {
	if f.PI.Guard == Guard64 {
		binary.BigEndian.PutUint16(pi[10:], uint16(lba>>32))
		binary.BigEndian.PutUint32(pi[12:], uint32(lba))
		return
	}
	binary.BigEndian.PutUint32(pi[4:], uint32(lba))
}

// fields reads protection information.
func (f *Format) fields(pi []byte) (guard uint64, app uint16, ref, refMask uint64) {
	if f.PI.Guard == Guard64 {
		ref = uint64(binary.BigEndian.Uint16(pi[10:]))<<32 | uint64(binary.BigEndian.Uint32(pi[12:]))
		return binary.BigEndian.Uint64(pi), binary.BigEndian.Uint16(pi[8:]), ref, 1<<48 - 1
	}
	return uint64(binary.BigEndian.Uint16(pi)), binary.BigEndian.Uint16(pi[2:]), uint64(binary.BigEndian.Uint32(pi[4:])), 1<<32 - 1
}

// Check compares the protection information of the blocks in data, which begin at start, as far as c names fields. A
// block whose tags say that it is not protected passes. The error is a *PIError.
func (f *Format) Check(c *Checks, data, meta []byte, start uint64) error {
	for i := range len(data) / int(f.Block) {
		b := f.blockAt(i, data, meta)
		lba := start + uint64(i)
		guard, app, ref, refMask := f.fields(b.pi)
		if app == 0xffff && (f.PI.Type != 3 || ref == refMask) {
			continue
		}
		if c.Flags&PRInfoChkGuard != 0 {
			want := uint64(0)
			if f.PI.Guard == Guard64 {
				want = CRC64(CRC64(0, b.data), b.meta)
			} else {
				want = uint64(CRC16(CRC16(0, b.data), b.meta))
			}
			if guard != want {
				return &PIError{"guard", lba, want, guard}
			}
		}
		if got, want := app&c.AppMask, c.AppTag&c.AppMask; c.Flags&PRInfoChkApp != 0 && got != want {
			return &PIError{"application tag", lba, uint64(want), uint64(got)}
		}
		if want := lba & refMask; c.Flags&PRInfoChkRef != 0 && f.PI.Type != 3 && ref != want {
			return &PIError{"reference tag", lba, want, ref}
		}
	}
	return nil
}
