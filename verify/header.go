package verify

import (
	"encoding/binary"

	"fiord/internal/checksum"
)

// HeaderSize is the length of the header in bytes; the checksum lies behind it.
const HeaderSize = 48

// What a header starts with. The high bit of the version tells it from headers of fio before 3.42, which had none.
const (
	magic   = 0xACCA
	version = 0x81
)

// crcOffset is where the header's own CRC32C lies, which covers everything before it.
const crcOffset = 44

// header is the header of one interval as it lies in a buffer, little endian. Bytes 42 and 43 are padding: fio leaves there what
// the contents had.
type header []byte

func (h header) magic() uint16    { return binary.LittleEndian.Uint16(h[0:]) }
func (h header) version() byte    { return h[2] }
func (h header) kind() Type       { return Type(h[3]) }
func (h header) length() uint32   { return binary.LittleEndian.Uint32(h[4:]) }
func (h header) seed() uint64     { return binary.LittleEndian.Uint64(h[8:]) }
func (h header) offset() uint64   { return binary.LittleEndian.Uint64(h[16:]) }
func (h header) numberIO() uint64 { return binary.LittleEndian.Uint64(h[32:]) }
func (h header) thread() uint16   { return binary.LittleEndian.Uint16(h[40:]) }
func (h header) crc() uint32      { return binary.LittleEndian.Uint32(h[crcOffset:]) }
func (h header) sum() uint32      { return checksum.CRC32C(h[:crcOffset]) }

// put writes the header of interval n, which is length bytes long.
func (s *Scheme) put(h header, b *Block, n int, length int) {
	binary.LittleEndian.PutUint16(h[0:], magic)
	h[2], h[3] = version, byte(s.kind)
	binary.LittleEndian.PutUint32(h[4:], uint32(length))
	binary.LittleEndian.PutUint64(h[8:], b.Seed)
	binary.LittleEndian.PutUint64(h[16:], s.headerOffset(b, n))
	binary.LittleEndian.PutUint32(h[24:], uint32(b.Time/1e9))
	binary.LittleEndian.PutUint32(h[28:], uint32(b.Time%1e9))
	binary.LittleEndian.PutUint64(h[32:], b.NumberIO)
	binary.LittleEndian.PutUint16(h[40:], s.thread)
	binary.LittleEndian.PutUint32(h[crcOffset:], h.sum())
}

// headerOffset is what the header of interval n says of its place.
func (s *Scheme) headerOffset(b *Block, n int) uint64 {
	return uint64(b.Offset) + uint64(n)*uint64(s.interval)
}

// checkHeader compares the header of interval n, which is length bytes long, with what the block must have; nil: it does.
func (s *Scheme) checkHeader(h header, b *Block, n, length int) *Failure {
	set := func(k Kind, got, want uint64) *Failure {
		return &Failure{Kind: k, Got: got, Want: want, File: b.File, Offset: b.Offset + int64(n)*int64(length), Length: length,
			Block: b.Offset, BlockLength: len(b.Buf)}
	}
	own := h.thread() == s.thread // or another job writes to the same file
	switch {
	case h.magic() != magic:
		return set(BadMagic, uint64(h.magic()), magic)
	case h.version() != version:
		return set(BadVersion, uint64(h.version()), version)
	case h.length() != uint32(length):
		return set(BadLength, uint64(h.length()), uint64(length))
	case (s.checkSeed || s.ownSeed && own) && h.seed() != b.Seed:
		return set(BadSeed, h.seed(), b.Seed)
	case h.offset() != s.headerOffset(b, n):
		return set(BadOffset, h.offset(), uint64(b.Offset))
	case (s.checkNumber || s.ownNumber && own) && h.numberIO() != b.NumberIO:
		return set(BadNumberIO, h.numberIO(), b.NumberIO)
	case h.crc() != h.sum():
		return set(BadHeaderCRC, uint64(h.crc()), uint64(h.sum()))
	}
	return nil
}
