package peak

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fiord/engines/uringcmd"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/sys"
	"fiord/internal/sysfs"
)

// machine is what peak asks of the machine, so that a test can play a drive.
type machine struct {
	inspect  func(path string) (uringcmd.Drive, error)
	pollable func(d *uringcmd.Drive) error
	hugePage func(path string) (int, error) // bytes of a page of the hugetlbfs that a file lies in
	sysfs    sysfs.FS
	second   time.Duration // between two lines
}

var linux = &machine{inspect: uringcmd.Inspect, pollable: (*uringcmd.Drive).Pollable, hugePage: hugePage, second: time.Second}

// file is an open file or device. All threads that read it share it.
type file struct {
	path   string
	fd     int
	blocks uint64 // reads of the block size that fit
	unit   uint64 // what one block adds to an offset: bytes, or logical blocks of a namespace
	node   int    // NUMA node of the device; sysfs.NoNode: none or unknown
	format nvme.Format
}

// open opens all files, for reading only.
func (m *machine) open(c *Config) ([]*file, error) {
	var files []*file
	for _, path := range c.Files {
		f, err := m.openFile(c, path)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func closeAll(files []*file) {
	for _, f := range files {
		_ = sys.Close(f.fd)
	}
}

func (m *machine) openFile(c *Config, path string) (*file, error) {
	const odd = os.ModeDir | os.ModeNamedPipe | os.ModeSocket
	if st, err := os.Stat(path); err == nil && st.Mode()&odd != 0 { // to open a pipe would wait for its writer
		return nil, fmt.Errorf("%s is no file or block device", path)
	}
	flags := os.O_RDONLY | sys.OpenNoAtime
	if c.Direct {
		flags |= sys.OpenDirect
	}
	fd, err := sys.Open(path, flags, 0)
	if errors.Is(err, syscall.EPERM) { // O_NOATIME is for the owner
		fd, err = sys.Open(path, flags&^sys.OpenNoAtime, 0)
	}
	if err != nil {
		if errors.Is(err, syscall.EINVAL) && c.Direct {
			why := "the file system has no O_DIRECT"
			if st, e := os.Stat(path); e == nil && st.Mode()&os.ModeCharDevice != 0 {
				why = "a character device refuses O_DIRECT"
			}
			return nil, fmt.Errorf("%s: %w: %s: give -O0", path, err, why)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &file{path: path, fd: fd, node: sysfs.NoNode}
	if err := m.measure(c, f); err != nil {
		_ = sys.Close(fd)
		return nil, err
	}
	return f, nil
}

// measure finds out how much there is to read, and refuses what cannot be read as the flags say.
func (m *machine) measure(c *Config, f *file) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(f.fd, &st); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	kind := st.Mode & syscall.S_IFMT
	if c.Place {
		var err error
		if f.node, err = m.node(&st); err != nil {
			c.notes = append(c.notes, fmt.Sprintf("-P1: %s: %v", f.path, err))
		} else if f.node == sysfs.NoNode {
			c.notes = append(c.notes, fmt.Sprintf("-P1: %s is near to no NUMA node", f.path))
		}
	}
	if c.Passthrough {
		if kind != syscall.S_IFCHR {
			return uringcmd.NotGeneric(f.path, kind == syscall.S_IFBLK)
		}
		return m.namespace(c, f)
	}
	f.unit = uint64(c.BlockSize)
	var size uint64
	switch kind {
	case syscall.S_IFBLK:
		var err error
		if size, err = sys.BlockSize(f.fd); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if err := m.block(c, f, st.Rdev); err != nil {
			return err
		}
	case syscall.S_IFREG:
		size = uint64(st.Size)
	case syscall.S_IFCHR:
		return fmt.Errorf("%s is a character device: only NVMe namespaces can be read, with -u1", f.path)
	default:
		return fmt.Errorf("%s is no file or block device", f.path)
	}
	if f.blocks = size / f.unit; f.blocks == 0 {
		return fmt.Errorf("%s: %d bytes, less than one read of %d", f.path, size, c.BlockSize)
	}
	return nil
}

// block checks what a block device asks of reads.
func (m *machine) block(c *Config, f *file, dev uint64) error {
	if !c.Direct {
		return nil
	}
	sector, err := sys.SectorSize(f.fd)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if c.BlockSize%sector != 0 {
		return fmt.Errorf("%s: -b%d: with O_DIRECT reads must be multiples of the device's %d bytes", f.path, c.BlockSize, sector)
	}
	if disk, err := m.sysfs.Disk(sys.Numbers(dev)); err == nil && c.Polled && !c.Nop {
		if on, ok := number(filepath.Join(disk.Dir, "queue", "io_poll")); ok && on == 0 {
			c.notes = append(c.notes, fmt.Sprintf("-p1: %s has no poll queues: the kernel refuses to poll, or does without", f.path))
		}
	}
	return nil
}

// namespace finds the size of an NVMe namespace and how it is read. fio differs: t/io_uring takes the number of logical
// blocks for that of reads, and reads past the end.
func (m *machine) namespace(c *Config, f *file) error {
	d, err := m.inspect(f.path)
	if err != nil {
		return err
	}
	f.format = d.Namespace.Format(true)
	block, bs := uint64(f.format.Block), uint64(c.BlockSize)
	switch {
	case f.format.Meta != 0 && !f.format.Extended:
		return fmt.Errorf("%s: each block has %d bytes of separate metadata, which peak has no buffers for", f.path, f.format.Meta)
	case bs%block != 0:
		return fmt.Errorf("%s: -b%d: must be a multiple of the drive's %d bytes", f.path, bs, block)
	case bs/block > nvme.MaxBlocks:
		return fmt.Errorf("%s: -b%d: one command has at most %d blocks of %d bytes", f.path, bs, nvme.MaxBlocks, block)
	case d.MaxTransfer != 0 && bs > d.MaxTransfer:
		return fmt.Errorf("%s: -b%d: one command moves at most %d bytes", f.path, bs, d.MaxTransfer)
	}
	if c.Polled {
		if err := m.pollable(&d); err != nil {
			return fmt.Errorf("%s: -p1: %w", f.path, err)
		}
	}
	f.unit = bs / block
	if f.blocks = d.Namespace.Blocks / f.unit; f.blocks == 0 {
		return fmt.Errorf("%s: %d blocks of %d bytes, less than one read of %d", f.path, d.Namespace.Blocks, block, bs)
	}
	return nil
}

// node is the NUMA node of a device, or of the one that a file lies on.
func (m *machine) node(st *syscall.Stat_t) (int, error) {
	switch dev := st.Rdev; st.Mode & syscall.S_IFMT {
	case syscall.S_IFCHR:
		return m.sysfs.CharNode(sys.Numbers(dev))
	case syscall.S_IFBLK:
		return m.sysfs.BlockNode(sys.Numbers(dev))
	}
	return m.sysfs.BlockNode(sys.Numbers(uint64(st.Dev)))
}

func number(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// share deals the files out to threads as t/io_uring does: each file to as many threads as there are for it, each thread
// to at least one file.
func share(files []*file, threads int) [][]*file {
	out := make([][]*file, threads)
	each, rest := threads/len(files), 0
	if each == 0 {
		each = 1
	} else {
		rest = threads - each*len(files)
	}
	at := 0
	for i, f := range files {
		n := each
		if i < rest {
			n++
		}
		for k := range n {
			t := (at + k) % threads
			out[t] = append(out[t], f)
		}
		at += n
	}
	return out
}
