package zoned

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/internal/sysfs"
)

const sector = 512

// Block manages the zones of block devices through the kernel's block layer. The zero value is ready.
type Block struct{ Sys sysfs.FS }

var _ engines.ZoneManager = Block{}

// attribute reads a file of the queue of f's disk; empty where there is none.
func (b Block) attribute(f *engines.File, name string) (string, error) {
	major, minor, err := sys.DeviceNumbers(f.Name)
	if err != nil {
		return "", err
	}
	disk, err := b.Sys.Disk(major, minor)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(disk.Dir, "queue", name))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

func (b Block) number(f *engines.File, name string) (uint32, error) {
	text, err := b.attribute(f, name)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return uint32(n), nil
}

// ZoneModel is what the kernel says in queue/zoned.
func (b Block) ZoneModel(f *engines.File) (engines.ZoneModel, error) {
	if f.Kind != engines.Block {
		return engines.NotZoned, fmt.Errorf("%s is neither a file nor a block device: %w", f.Name, syscall.EINVAL)
	}
	switch text, err := b.attribute(f, "zoned"); text {
	case "host-aware":
		return engines.HostAware, err
	case "host-managed":
		return engines.HostManaged, err
	default:
		return engines.NotZoned, err
	}
}

// ZoneLimits are queue/max_open_zones and max_active_zones, which kernels before 5.9 do not have.
func (b Block) ZoneLimits(f *engines.File) (open, active uint32, err error) {
	if open, err = b.number(f, "max_open_zones"); err != nil {
		return 0, 0, err
	}
	active, err = b.number(f, "max_active_zones")
	return open, active, err
}

// with calls do with a descriptor of f: its own while it is open, else one that is opened for this.
func with(f *engines.File, flags int, do func(fd int) error) error {
	if f.Fd >= 0 && flags == os.O_RDWR {
		return do(f.Fd)
	}
	fd, err := sys.Open(f.Name, flags, 0)
	if err != nil {
		return err
	}
	return errors.Join(do(fd), sys.Close(fd))
}

// ReportZones asks the kernel.
func (b Block) ReportZones(f *engines.File, from uint64, zones []engines.Zone) (int, error) {
	got := make([]sys.BlockZone, len(zones))
	n := 0
	err := with(f, os.O_RDONLY, func(fd int) (err error) {
		n, err = sys.ReportZones(fd, from/sector, got)
		return err
	})
	if err != nil {
		return 0, err
	}
	for i, z := range got[:n] {
		zones[i] = engines.Zone{Start: z.Start * sector, WP: z.WP * sector, Length: z.Length * sector, Capacity: z.Capacity * sector,
			Type: engines.ZoneType(z.Type), Cond: engines.ZoneCond(z.Cond)}
	}
	return n, nil
}

// ResetZones asks the kernel to empty zones.
func (b Block) ResetZones(f *engines.File, offset, length uint64) error {
	return with(f, os.O_RDWR, func(fd int) error { return sys.ResetZones(fd, offset/sector, length/sector) })
}

// FinishZones asks the kernel to fill zones. Kernels before 5.5 cannot; the devices they know close zones by themselves.
func (b Block) FinishZones(f *engines.File, offset, length uint64) error {
	err := with(f, os.O_RDWR, func(fd int) error { return sys.FinishZones(fd, offset/sector, length/sector) })
	if errors.Is(err, syscall.ENOTTY) {
		return nil
	}
	return err
}

// FillZone writes at the write pointer of z.
func (b Block) FillZone(f *engines.File, z *engines.Zone, length uint64, data []byte) error {
	data = data[:min(uint64(len(data)), length)]
	return with(f, os.O_RDWR, func(fd int) error {
		at := int64(z.WP)
		for len(data) > 0 {
			n, err := sys.WriteAt(fd, data, at)
			if err != nil {
				return err
			}
			if n == 0 {
				return syscall.EIO
			}
			data, at, length = data[n:], at+int64(n), length-uint64(n)
		}
		if length == 0 {
			return nil
		}
		return sys.ZeroRange(fd, at, int64(length))
	})
}
