package sys

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Integrity is what a block device tells of its metadata: struct logical_block_metadata_cap of linux/fs.h.
type Integrity struct {
	Flags        uint32 // IntegrityPI, IntegrityRefTag
	Interval     uint16 // bytes of data that each piece of metadata is for
	Size         uint8  // bytes of metadata for each interval
	OpaqueSize   uint8  // bytes that are not protection information
	OpaqueOffset uint8
	PISize       uint8 // bytes of protection information for each interval
	PIOffset     uint8 // where they are in the metadata
	GuardType    uint8 // IntegrityCRC16, IntegrityCRC64 and others
	AppTagSize   uint8
	RefTagSize   uint8
	StoreTagSize uint8
	_            uint8
}

var _ [16]byte = [unsafe.Sizeof(Integrity{})]byte{}

// Flags and guard types of Integrity.
const (
	IntegrityPI     = 1 << 0 // it takes protection information from user space
	IntegrityRefTag = 1 << 1 // with reference tags
	IntegrityCRC16  = 2      // a guard of 16 bits, the T10 CRC
	IntegrityCRC64  = 4      // a guard of 64 bits, that of NVMe
)

// ioctlMetadataCap is FS_IOC_GETLBMD_CAP, _IOWR(0x15, 2, struct logical_block_metadata_cap).
const ioctlMetadataCap = 3<<30 | 16<<16 | 0x15<<8 | 2

// BlockIntegrity asks the block device at path for its metadata, since Linux 6.17; ENOTTY where the kernel is older or path
// is no block device. All is 0 for a device without metadata.
func BlockIntegrity(path string) (Integrity, error) {
	var c Integrity
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer func() { _ = f.Close() }()
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, f.Fd(), ioctlMetadataCap, uintptr(unsafe.Pointer(&c))); e != 0 {
		return c, fmt.Errorf("metadata of %s: %w", path, e)
	}
	return c, nil
}
