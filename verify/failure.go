package verify

import (
	"fmt"
	"math/bits"
	"syscall"
)

// Kind says what is wrong with a block.
type Kind uint8

// The kinds of failure. The first ones concern the header, in the order in which it is checked.
const (
	BadMagic Kind = iota
	BadVersion
	BadLength
	BadSeed
	BadOffset
	BadNumberIO
	BadHeaderCRC
	BadChecksum
	BadPattern
	NotZero      // a trimmed block holds data
	TypeMismatch // the header names another checksum; it goes with a BadChecksum or BadPattern
)

// IsHeader reports whether the header itself is bad, so that nothing behind it was looked at.
func (k Kind) IsHeader() bool { return k <= BadHeaderCRC }

// Failure is what is wrong with one interval of a block. Its text is fio's.
type Failure struct {
	Kind        Kind
	Name        string // of the checksum or pattern; empty for the header
	File        string
	Offset      int64 // of the interval in the file, bytes
	Length      int   // of the interval, bytes
	Block       int64 // offset of the I/O that was checked, bytes
	BlockLength int
	Flags       uint32 // fio's flags of the I/O
	Got, Want   uint64 // header fields, pattern bytes, or types
	At          int    // of a pattern or zeroes: the first bad byte, from the start of the interval or block
	// Of a checksum: what the header holds, and what the data gives. They belong to the checker and hold until its next
	// check.
	Expected, Received []byte
}

// Unwrap is the error number that fio gives a block which is not what was written: EILSEQ.
func (f *Failure) Unwrap() error { return syscall.EILSEQ }

// Error is what fio prints, on one or several lines.
func (f *Failure) Error() string {
	switch f.Kind {
	case BadChecksum:
		return fmt.Sprintf("%s\n       Expected CRC: %x\n       Received CRC: %x", f.failed(), f.Expected, f.Received)
	case BadPattern:
		return fmt.Sprintf("fio: got pattern '%02x', wanted '%02x'. Bad bits %d\nfio: bad pattern block offset %d\n%s", f.Got, f.Want,
			bits.OnesCount8(uint8(f.Got^f.Want)), f.At, f.failed())
	case NotZero:
		return fmt.Sprintf("verify failed for zeroed data at file %s offset %d, length %d, block offset %d", f.File, f.Offset,
			f.Length, f.At)
	case TypeMismatch:
		return fmt.Sprintf("fio: blocks were written with verify type %d, this job checks type %d", f.Got, f.Want)
	}
	return fmt.Sprintf("verify: %s at file %s offset %d, length %d (requested block: offset=%d, length=%d)", f.field(), f.File,
		f.Offset, f.Length, f.Block, f.BlockLength)
}

// nameWidth is how much of a checksum's name fio prints.
const nameWidth = 8

// failed is the line that fio prints of data that is bad.
func (f *Failure) failed() string {
	return fmt.Sprintf("%.*s: verify failed at file %s offset %d, length %d (requested block: offset=%d, length=%d, flags=%x)",
		nameWidth, f.Name, f.File, f.Offset, f.Length, f.Block, f.BlockLength, f.Flags)
}

// field says what is wrong with a header.
func (f *Failure) field() string {
	switch f.Kind {
	case BadMagic:
		return fmt.Sprintf("bad magic header %x, wanted %x", f.Got, f.Want)
	case BadVersion:
		return fmt.Sprintf("unsupported header version %x, wanted %x. Are you trying to verify across versions of fio?", f.Got, f.Want)
	case BadLength:
		return fmt.Sprintf("bad header length %d, wanted %d", f.Got, f.Want)
	case BadSeed:
		return fmt.Sprintf("bad header rand_seed %d, wanted %d", f.Got, f.Want)
	case BadOffset:
		return fmt.Sprintf("bad header offset %d, wanted %d", f.Got, f.Want)
	case BadNumberIO:
		return fmt.Sprintf("bad header numberio %d, wanted %d", f.Got, f.Want)
	}
	return fmt.Sprintf("bad header crc %x, calculated %x", f.Got, f.Want)
}
