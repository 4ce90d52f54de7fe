package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// NoNode is the node of a device that is near to none.
const NoNode = -1

// ErrNoNUMA is the error of a kernel that was built without NUMA.
var ErrNoNUMA = errors.New("this kernel knows no NUMA nodes")

// AmbiguousError is a device that is built of devices of several nodes.
type AmbiguousError struct{ Nodes []int }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("it is built of devices of several NUMA nodes: %v", e.Nodes)
}

// Nodes are the NUMA nodes that are online, ascending.
func (s FS) Nodes() ([]int, error) {
	text, err := os.ReadFile(filepath.Join(s.root(), "devices", "system", "node", "online"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoNUMA
	}
	if err != nil {
		return nil, err
	}
	return ParseList(string(text))
}

// NodeCPUs are the CPUs of a node, ascending; none for one that has memory alone.
func (s FS) NodeCPUs(node int) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(s.root(), "devices", "system", "node", fmt.Sprintf("node%d", node), "cpulist"))
	if err != nil {
		return nil, fmt.Errorf("CPUs of NUMA node %d: %w", node, err)
	}
	return ParseList(string(text))
}

// mostListed bounds the numbers in a list, well above the kernel's own limits.
const mostListed = 1 << 16

// ParseList reads the kernel's form of a list of numbers, such as "0-3,8\n"; an empty one has none. The numbers are ascending.
func ParseList(text string) ([]int, error) {
	text = strings.TrimSpace(text)
	var list []int
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.ParseUint(from, 10, 31)
		hi, err2 := strconv.ParseUint(to, 10, 31)
		if err1 != nil || err2 != nil || lo > hi || hi >= mostListed || len(list) > mostListed {
			return nil, fmt.Errorf("want numbers and ranges separated by commas, got %q", text)
		}
		for n := lo; n <= hi; n++ {
			list = append(list, int(n))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// BlockNode is the NUMA node that a block device is near to: that of the hardware it is, or is a partition of, and where it
// is built of others (device mapper, RAID, several paths) the one that all of them are near to. NoNode: none.
func (s FS) BlockNode(major, minor uint32) (int, error) {
	d, err := s.Disk(major, minor)
	if err != nil {
		return NoNode, err
	}
	return s.diskNode(d, mostLevels)
}

// CharNode is the NUMA node that a character device is near to, such as that of an NVMe namespace. NoNode: none.
func (s FS) CharNode(major, minor uint32) (int, error) {
	dir, err := filepath.EvalSymlinks(filepath.Join(s.root(), "dev", "char", fmt.Sprintf("%d:%d", major, minor)))
	if errors.Is(err, fs.ErrNotExist) {
		return NoNode, nil // as those of the kernel itself, which are no hardware
	}
	if err != nil {
		return NoNode, fmt.Errorf("device %d:%d: %w", major, minor, err)
	}
	return s.dirNode(dir)
}

// mostLevels is how deep devices may be built of devices.
const mostLevels = 16

func (s FS) diskNode(d Disk, levels int) (int, error) {
	slaves, err := s.Slaves(d)
	if err != nil {
		return NoNode, err
	}
	if len(slaves) == 0 || levels == 0 {
		return s.dirNode(d.Dir)
	}
	var nodes []int
	for _, below := range slaves {
		n, err := s.diskNode(below, levels-1)
		if err != nil {
			return NoNode, fmt.Errorf("%s: %w", below.Name, err)
		}
		nodes = append(nodes, n)
	}
	return agreed(nodes)
}

// dirNode is the node that the folder of a device, or one above it, names: the hardware that the device belongs to.
func (s FS) dirNode(dir string) (int, error) {
	top, err := filepath.EvalSymlinks(filepath.Join(s.root(), "devices"))
	if err != nil {
		return NoNode, err
	}
	for ; strings.HasPrefix(dir, top+string(filepath.Separator)); dir = filepath.Dir(dir) {
		if n := readNode(dir); n != NoNode {
			return n, nil
		}
		if strings.HasPrefix(filepath.Base(dir), "nvme-subsys") {
			return s.pathsNode(dir)
		}
	}
	return NoNode, nil
}

// pathsNode is the node that all controllers of an NVMe subsystem are near to, whose namespaces belong to none of them.
func (s FS) pathsNode(dir string) (int, error) {
	links, err := filepath.Glob(filepath.Join(dir, "nvme[0-9]*"))
	if err != nil {
		return NoNode, err
	}
	var nodes []int
	for _, link := range links {
		if info, err := os.Lstat(link); err == nil && info.Mode()&os.ModeSymlink != 0 { // namespaces are folders
			real, err := filepath.EvalSymlinks(link)
			if err != nil {
				return NoNode, err
			}
			n, err := s.dirNode(real)
			if err != nil {
				return NoNode, err
			}
			nodes = append(nodes, n)
		}
	}
	return agreed(nodes)
}

// agreed is the node that all of the devices below one are near to.
func agreed(nodes []int) (int, error) {
	slices.Sort(nodes)
	switch nodes = slices.Compact(nodes); len(nodes) {
	case 0:
		return NoNode, nil
	case 1:
		return nodes[0], nil
	}
	return NoNode, &AmbiguousError{nodes}
}

// readNode is the node that a device's folder names itself.
func readNode(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "numa_node"))
	if err != nil {
		return NoNode
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 0 {
		return NoNode
	}
	return n
}
