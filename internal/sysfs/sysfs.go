// Package sysfs reads what the kernel tells of block devices: which disk a device number belongs to, what it is built
// of and what it has done.
//
// It owns the layout of /sys. It must not know what the numbers are used for.
package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FS is a sysfs mounted at Root; the zero FS is the one at /sys.
type FS struct{ Root string }

// Disk is a whole block device.
type Disk struct {
	Name string // as the kernel names it, such as nvme0n1
	Dir  string // its folder in sysfs
}

// Stat are a disk's counters since it appeared (Documentation/block/stat.rst). Index 0 is reads, 1 writes.
type Stat struct {
	IOs, Merges, Sectors, Ticks [2]uint64 // Sectors of 512 bytes, Ticks in ms
	IOTicks                     uint64    // ms in which I/O was in flight
	InQueue                     uint64    // ms summed over the I/Os in flight
}

// ErrNoDisk is returned for device numbers that no block device has, as those of tmpfs and overlay file systems.
var ErrNoDisk = errors.New("no block device")

// Disk finds the disk that the device with these numbers is, or is a partition of.
func (s FS) Disk(major, minor uint32) (Disk, error) {
	link := filepath.Join(s.root(), "dev", "block", fmt.Sprintf("%d:%d", major, minor))
	dir, err := filepath.EvalSymlinks(link)
	if errors.Is(err, fs.ErrNotExist) {
		return Disk{}, fmt.Errorf("device %d:%d: %w", major, minor, ErrNoDisk)
	}
	if err != nil {
		return Disk{}, fmt.Errorf("device %d:%d: %w", major, minor, err)
	}
	return wholeDisk(dir), nil
}

// wholeDisk is the disk of a block device's folder: a partition's folder lies in that of its disk, which has the queue.
func wholeDisk(dir string) Disk {
	parent := filepath.Dir(dir)
	if info, err := os.Stat(filepath.Join(parent, "queue")); err == nil && info.IsDir() {
		dir = parent
	}
	return Disk{Name: filepath.Base(dir), Dir: dir}
}

// Slaves are the disks below a device mapper or RAID device, in the order of their names; none for others.
func (s FS) Slaves(d Disk) ([]Disk, error) {
	entries, err := os.ReadDir(filepath.Join(d.Dir, "slaves"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("slaves of %s: %w", d.Name, err)
	}
	var out []Disk
	for _, e := range entries {
		dir, err := filepath.EvalSymlinks(filepath.Join(d.Dir, "slaves", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("slaves of %s: %w", d.Name, err)
		}
		out = append(out, wholeDisk(dir))
	}
	return out, nil
}

// Stat reads a disk's counters.
func (s FS) Stat(d Disk) (Stat, error) {
	text, err := os.ReadFile(filepath.Join(d.Dir, "stat"))
	if err != nil {
		return Stat{}, fmt.Errorf("counters of %s: %w", d.Name, err)
	}
	st, err := parseStat(string(text))
	if err != nil {
		return Stat{}, fmt.Errorf("counters of %s: %w", d.Name, err)
	}
	return st, nil
}

// parseStat reads the first eleven fields; the ninth, I/Os in flight, is no counter. Newer kernels append more.
func parseStat(text string) (Stat, error) {
	fields := strings.Fields(text)
	if len(fields) < 11 {
		return Stat{}, fmt.Errorf("want at least 11 fields, got %d", len(fields))
	}
	var s Stat
	to := []*uint64{&s.IOs[0], &s.Merges[0], &s.Sectors[0], &s.Ticks[0], &s.IOs[1], &s.Merges[1], &s.Sectors[1],
		&s.Ticks[1], nil, &s.IOTicks, &s.InQueue}
	for i, p := range to {
		if p == nil {
			continue
		}
		n, err := strconv.ParseUint(fields[i], 10, 64)
		if err != nil {
			return Stat{}, fmt.Errorf("field %d: %w", i+1, err)
		}
		*p = n
	}
	return s, nil
}

// SetScheduler makes the disk use the named I/O scheduler, and checks that it does. It reports false where the disk has
// none to choose, which is no error.
func (s FS) SetScheduler(d Disk, name string) (bool, error) {
	path := filepath.Join(d.Dir, "queue", "scheduler")
	// Without O_CREATE: a disk that has no such file has no schedulers.
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("scheduler of %s: %w", d.Name, err)
	}
	_, err = f.WriteString(name)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("scheduler %q of %s: %w", name, d.Name, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("scheduler of %s: %w", d.Name, err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line == "none" {
		return false, nil
	}
	if !strings.Contains(line, "["+name+"]") {
		return false, fmt.Errorf("scheduler of %s: could not be set to %q: it has %s", d.Name, name, line)
	}
	return true, nil
}

func (s FS) root() string {
	if s.Root == "" {
		return "/sys"
	}
	return s.Root
}
