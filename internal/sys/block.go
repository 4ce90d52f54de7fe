package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

func ptr(p *byte) uintptr { return uintptr(unsafe.Pointer(p)) }

// BlockSize is the size of the block device behind fd, in bytes.
func BlockSize(fd int) (uint64, error) {
	var n uint64
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.BLKGETSIZE64, uintptr(unsafe.Pointer(&n))); e != 0 {
		return 0, fmt.Errorf("size of block device: %w", e)
	}
	return n, nil
}

// SectorSize is the logical block size of the block device behind fd, in bytes.
func SectorSize(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, unix.BLKSSZGET)
	if err != nil {
		return 0, fmt.Errorf("sector size of block device: %w", err)
	}
	return n, nil
}

// FlushBlock drops the cached pages of the block device behind fd.
func FlushBlock(fd int) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.BLKFLSBUF, 0); e != 0 {
		return fmt.Errorf("flush block device: %w", e)
	}
	return nil
}
