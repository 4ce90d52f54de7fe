package sys

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BlockZone is a zone as the kernel reports it (struct blk_zone of linux/blkzoned.h). Sectors have 512 bytes.
type BlockZone struct {
	Start, Length, WP uint64 // sectors
	Type, Cond        uint8
	_                 [6]uint8
	Capacity          uint64 // sectors, where the report has it
	_                 [24]uint8
}

type zoneReport struct {
	sector uint64
	count  uint32
	flags  uint32
}

type zoneRange struct{ sector, sectors uint64 }

var (
	_ [64]byte = [unsafe.Sizeof(BlockZone{})]byte{}
	_ [16]byte = [unsafe.Sizeof(zoneReport{})]byte{}
	_ [16]byte = [unsafe.Sizeof(zoneRange{})]byte{}
)

// The requests of linux/blkzoned.h.
const (
	blkReportZone = 3<<30 | 16<<16 | 0x12<<8 | 130
	blkResetZone  = 1<<30 | 16<<16 | 0x12<<8 | 131 // since Linux 4.10, as blkReportZone
	blkFinishZone = 1<<30 | 16<<16 | 0x12<<8 | 136 // since Linux 5.5
	zoneCapacity  = 1                              // of zoneReport.flags: the zones have a capacity
)

// ReportZones stores in zones what the kernel knows of the zones of the block device behind fd, from the one at sector on,
// and reports how many it stored. Where the kernel has no capacities (before 5.9), they are the lengths.
func ReportZones(fd int, sector uint64, zones []BlockZone) (int, error) {
	const head = unsafe.Sizeof(zoneReport{}) / unsafe.Sizeof(uint64(0))
	const each = unsafe.Sizeof(BlockZone{}) / unsafe.Sizeof(uint64(0))
	buf := make([]uint64, int(head)+len(zones)*int(each))
	r := (*zoneReport)(unsafe.Pointer(&buf[0]))
	r.sector, r.count = sector, uint32(len(zones))
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), blkReportZone, uintptr(unsafe.Pointer(r))); e != 0 {
		return 0, fmt.Errorf("BLKREPORTZONE: %w", e)
	}
	n := min(int(r.count), len(zones))
	if n == 0 {
		return 0, nil
	}
	copy(zones, unsafe.Slice((*BlockZone)(unsafe.Pointer(&buf[head])), n))
	if r.flags&zoneCapacity == 0 {
		for i := range zones[:n] {
			zones[i].Capacity = zones[i].Length
		}
	}
	return n, nil
}

func zoneRequest(fd int, request uintptr, sector, sectors uint64) error {
	r := zoneRange{sector, sectors}
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&r))); e != 0 {
		return e
	}
	return nil
}

// ResetZones empties zones of the block device behind fd.
func ResetZones(fd int, sector, sectors uint64) error {
	return zoneRequest(fd, blkResetZone, sector, sectors)
}

// FinishZones makes zones of the block device behind fd full. ENOTTY comes from kernels before 5.5, which have no such
// request and no devices that need it.
func FinishZones(fd int, sector, sectors uint64) error {
	return zoneRequest(fd, blkFinishZone, sector, sectors)
}

// ZeroRange writes n zeroes at off.
func ZeroRange(fd int, off, n int64) error {
	for {
		if err := unix.Fallocate(fd, unix.FALLOC_FL_ZERO_RANGE|unix.FALLOC_FL_KEEP_SIZE, off, n); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// DeviceNumbers are the numbers of the device node at path.
func DeviceNumbers(path string) (major, minor uint32, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, 0, err
	}
	return unix.Major(st.Rdev), unix.Minor(st.Rdev), nil
}
