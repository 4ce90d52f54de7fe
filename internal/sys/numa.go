package sys

import (
	"fmt"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MemPolicy is how memory is spread over NUMA nodes (MPOL_* of linux/mempolicy.h).
type MemPolicy uintptr

// The policies.
const (
	MemDefault    MemPolicy = 0 // as the process has it
	MemPreferred  MemPolicy = 1 // from one node while it has some
	MemBind       MemPolicy = 2 // from the nodes alone
	MemInterleave MemPolicy = 3 // from the nodes in turn
	MemLocal      MemPolicy = 4 // from the node of the CPU; since Linux 3.8
)

// maxNode is how many NUMA nodes a node mask here can name: those of the largest kernel configuration.
const maxNode = 1024

type nodeMask [maxNode / 64]uint64

// SetMemPolicy decides from which nodes the memory comes that this thread touches first, from now on. Nodes are for the
// policies that name some.
func SetMemPolicy(p MemPolicy, nodes []int) error {
	mask := new(nodeMask)
	for _, n := range nodes {
		if n < 0 || n >= maxNode {
			return fmt.Errorf("NUMA node %d: want 0 to %d", n, maxNode-1)
		}
		mask[n/64] |= 1 << (n % 64)
	}
	bits := uintptr(maxNode + 1) // the kernel takes one bit less than it is told
	if len(nodes) == 0 {
		mask, bits = nil, 0
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SET_MEMPOLICY, uintptr(p), uintptr(unsafe.Pointer(mask)), bits); e != 0 {
		return fmt.Errorf("set_mempolicy for NUMA nodes %v: %w", nodes, e)
	}
	return nil
}

// MemPolicyNow is the policy of this thread and the nodes that it names, ascending.
func MemPolicyNow() (MemPolicy, []int, error) {
	mask := new(nodeMask)
	var mode int32
	_, _, e := unix.RawSyscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&mode)), uintptr(unsafe.Pointer(mask)), maxNode, 0,
		0, 0)
	if e != 0 {
		return 0, nil, fmt.Errorf("get_mempolicy: %w", e)
	}
	var nodes []int
	for n := range maxNode {
		if mask[n/64]&(1<<(n%64)) != 0 {
			nodes = append(nodes, n)
		}
	}
	return MemPolicy(mode), nodes, nil
}

// Numbers takes the number of a device, as stat gives it, apart.
func Numbers(dev uint64) (major, minor uint32) { return unix.Major(dev), unix.Minor(dev) }

// Device is the device node at path, or the block device that its file system lies on: for a file that is not there yet, that
// of its folder. char says that it is a character device.
func Device(path string) (char bool, major, minor uint32, err error) {
	var st unix.Stat_t
	err = unix.Stat(path, &st)
	if err == unix.ENOENT { //nolint:errorlint // never wrapped
		err = unix.Stat(filepath.Dir(path), &st)
	}
	if err != nil {
		return false, 0, 0, fmt.Errorf("device of %s: %w", path, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFBLK:
		return false, unix.Major(st.Rdev), unix.Minor(st.Rdev), nil
	case unix.S_IFCHR:
		return true, unix.Major(st.Rdev), unix.Minor(st.Rdev), nil
	}
	return false, unix.Major(st.Dev), unix.Minor(st.Dev), nil
}
