package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// memoryLeft is what LockMemory leaves to the rest of the machine, as fio does.
const memoryLeft = 128 << 20

// Locked is memory pinned by LockMemory.
type Locked struct {
	Bytes uint64 // how much is pinned, maybe less than asked for
	mem   []byte
}

// PhysicalMemory is the machine's memory in bytes.
func PhysicalMemory() (uint64, error) {
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err != nil {
		return 0, fmt.Errorf("sysinfo: %w", err)
	}
	return uint64(si.Totalram) * uint64(si.Unit), nil
}

// LockMemory pins n bytes, so that the machine acts as if it had so much less memory. It leaves 128 MiB at least: with a
// larger n it pins less, which Bytes tells.
func LockMemory(n uint64) (*Locked, error) {
	if n == 0 {
		return &Locked{}, nil
	}
	if phys, err := PhysicalMemory(); err == nil && phys > memoryLeft && n > phys-memoryLeft {
		n = phys - memoryLeft
	}
	mem, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("lockmem: %d bytes: %w", n, err)
	}
	if err := unix.Mlock(mem); err != nil {
		_ = unix.Munmap(mem)
		return nil, fmt.Errorf("lockmem: mlock of %d bytes: %w", n, err)
	}
	return &Locked{Bytes: n, mem: mem}, nil
}

// Close unpins the memory.
func (l *Locked) Close() error {
	if l == nil || l.mem == nil {
		return nil
	}
	mem := l.mem
	l.mem = nil
	if err := unix.Munmap(mem); err != nil {
		return fmt.Errorf("lockmem: %w", err)
	}
	return nil
}
