package nvme

import "unsafe"

// Opcodes of the NVM command set.
const (
	OpFlush       = 0x00
	OpWrite       = 0x01
	OpRead        = 0x02
	OpWriteUncor  = 0x04
	OpCompare     = 0x05
	OpWriteZeroes = 0x08
	OpDSM         = 0x09 // dataset management: deallocate
	OpVerify      = 0x0c
)

// AdminIdentify is the opcode of identify, an admin command.
const AdminIdentify = 0x06

// What identify is asked for (CNS).
const (
	CNSNamespace     = 0x00
	CNSController    = 0x01
	CNSNamespaceCSI  = 0x05 // what belongs to one I/O command set
	CNSControllerCSI = 0x06
)

// Command sets (CSI).
const (
	CSINVM = 0
	CSIZNS = 2
)

// IdentifySize is how many bytes identify answers with.
const IdentifySize = 4096

// Bits of dword 12 of reads, writes and their like.
const (
	PRInfoChkRef   = 1 << 26 // check the reference tag
	PRInfoChkApp   = 1 << 27 // check the application tag
	PRInfoChkGuard = 1 << 28 // check the guard
	PRInfoAct      = 1 << 29 // the controller inserts and strips protection information
	FUA            = 1 << 30 // force unit access
	Deallocate     = 1 << 25 // of write zeroes: DEAC
)

// prInfoMask is all of PRINFO.
const prInfoMask = PRInfoChkRef | PRInfoChkApp | PRInfoChkGuard | PRInfoAct

// attributeDeallocate is bit AD in dword 11 of dataset management.
const attributeDeallocate = 1 << 2

// MaxBlocks is the most logical blocks in one command: its count has 16 bits.
const MaxBlocks = 1 << 16

// MaxRanges is the most ranges in one dataset management command.
const MaxRanges = 256

// Command is struct nvme_uring_cmd and, with Result, struct nvme_passthru_cmd of linux/nvme_ioctl.h.
type Command struct {
	Opcode      uint8
	Flags       uint8
	_           uint16
	NSID        uint32
	CDW2, CDW3  uint32
	Metadata    uint64 // address of the separate metadata
	Addr        uint64 // address of the data, or of iovecs
	MetadataLen uint32 // bytes
	DataLen     uint32 // bytes, or iovecs
	CDW10       uint32
	CDW11       uint32
	CDW12       uint32
	CDW13       uint32
	CDW14       uint32
	CDW15       uint32
	TimeoutMs   uint32 // 0: the kernel's own limit
	Result      uint32 // set by the ioctls, reserved in io_uring
}

// Range is one range of a dataset management command.
type Range struct {
	Attributes uint32
	Blocks     uint32
	Start      uint64 // logical block
}

var (
	_ [72]byte = [unsafe.Sizeof(Command{})]byte{}
	_ [16]byte = [unsafe.Sizeof(Range{})]byte{}
)

// The requests of linux/nvme_ioctl.h.
const (
	NVME_IOCTL_ID         = 'N'<<8 | 0x40                  // the namespace's number
	NVME_IOCTL_ADMIN_CMD  = 3<<30 | 72<<16 | 'N'<<8 | 0x41 // an admin command
	NVME_IOCTL_IO_CMD     = 3<<30 | 72<<16 | 'N'<<8 | 0x43 // an I/O command
	NVME_URING_CMD_IO     = 3<<30 | 72<<16 | 'N'<<8 | 0x80 // since Linux 5.19
	NVME_URING_CMD_IO_VEC = 3<<30 | 72<<16 | 'N'<<8 | 0x81 // since Linux 5.19
	minPage               = 4096                           // the memory page that MDTS and its like count in
)

// At takes the bytes of an io_uring entry as a command.
func At(b *[80]byte) *Command { return (*Command)(unsafe.Pointer(b)) }

// Identify is the admin command that fills the IdentifySize bytes at addr.
func Identify(nsid uint32, cns, csi uint8, addr uint64) Command {
	return Command{Opcode: AdminIdentify, NSID: nsid, Addr: addr, DataLen: IdentifySize,
		CDW10: uint32(cns), CDW11: uint32(csi) << 24}
}

// Blocks sets what a command on a run of logical blocks needs: where it starts, how many (1 to MaxBlocks), and flags of
// dword 12.
func (c *Command) Blocks(opcode uint8, nsid uint32, start uint64, n uint32, flags uint32) {
	c.Opcode, c.NSID = opcode, nsid
	c.CDW10, c.CDW11 = uint32(start), uint32(start>>32)
	c.CDW12 = (n - 1) | flags
}

// Flush sets c to flush the namespace.
func (c *Command) Flush(nsid uint32) { c.Opcode, c.NSID = OpFlush, nsid }

// DeallocateRanges sets c to deallocate n ranges (1 to MaxRanges) that lie at addr.
func (c *Command) DeallocateRanges(nsid uint32, addr uint64, n int) {
	c.Opcode, c.NSID = OpDSM, nsid
	c.CDW10, c.CDW11 = uint32(n-1), attributeDeallocate
	c.Addr, c.DataLen = addr, uint32(n)*uint32(unsafe.Sizeof(Range{}))
}

// Sends reports whether the command sends something to the drive: the lowest bit of all opcodes tells.
func Sends(opcode uint8) bool { return opcode&1 != 0 }

// MovesData reports whether the command carries a buffer.
func MovesData(opcode uint8) bool {
	return opcode == OpRead || opcode == OpWrite || opcode == OpCompare || opcode == OpZoneAppend
}
