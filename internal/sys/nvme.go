package sys

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nvmeAdmin is the kernel's struct nvme_passthru_cmd.
type nvmeAdmin struct {
	opcode, flags              uint8
	_                          uint16
	nsid, cdw2, cdw3           uint32
	metadata, addr             uint64
	metadataLen, dataLen       uint32
	cdw10, cdw11, cdw12, cdw13 uint32
	cdw14, cdw15               uint32
	timeoutMs, result          uint32
}

// NVMeNamespace asks the namespace behind a block or generic device for its identify data, 4096 bytes. It needs the
// capability that admin commands need.
func NVMeNamespace(path string) ([]byte, error) {
	const ioctlID, ioctlAdmin = 0x4e40, 0xc0484e41
	const identify, size = 0x06, 4096
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("identify: %w", err)
	}
	defer f.Close() // only asked
	fd := f.Fd()
	nsid, _, e := unix.Syscall(unix.SYS_IOCTL, fd, ioctlID, 0)
	if e != 0 {
		return nil, fmt.Errorf("identify %s: %w", path, e)
	}
	mem, err := NewArena("malloc", size, 0, 0, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = mem.Close() }()
	c := nvmeAdmin{opcode: identify, nsid: uint32(nsid), addr: uint64(ptr(&mem.Mem[0])), dataLen: size}
	status, _, e := unix.Syscall(unix.SYS_IOCTL, fd, ioctlAdmin, uintptr(unsafe.Pointer(&c)))
	if e != 0 {
		return nil, fmt.Errorf("identify %s: %w", path, e)
	}
	if status != 0 {
		return nil, fmt.Errorf("identify %s: status %#x", path, status)
	}
	return append([]byte(nil), mem.Mem[:size]...), nil
}
