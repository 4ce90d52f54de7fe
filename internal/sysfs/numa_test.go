package sysfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// machine makes a sysfs out of lines: "path = text" is a file, "path -> target" a link, "path/" a folder.
func machine(t *testing.T, lines string) FS {
	t.Helper()
	root := t.TempDir()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		path, text, isFile := strings.Cut(line, " = ")
		link, target, isLink := strings.Cut(line, " -> ")
		switch {
		case line == "":
		case isFile:
			path = filepath.Join(root, path)
			check(os.MkdirAll(filepath.Dir(path), 0o700))
			check(os.WriteFile(path, []byte(text+"\n"), 0o600))
		case isLink:
			link = filepath.Join(root, link)
			check(os.MkdirAll(filepath.Dir(link), 0o700))
			check(os.Symlink(filepath.Join(root, target), link))
		default:
			check(os.MkdirAll(filepath.Join(root, line), 0o700))
		}
	}
	return FS{root}
}

// twoNodes has an NVMe drive near to node 1 with a partition, a second one near to node 0, a disk near to none, a drive of two
// paths, and devices built of them.
const twoNodes = `
	devices/system/node/online = 0-1
	devices/system/node/node0/cpulist = 0-3,8
	devices/system/node/node1/cpulist = 4-7
	devices/pci0000:80/0000:80:01.0/numa_node = 1
	devices/pci0000:80/0000:80:01.0/nvme/nvme0/numa_node = 1
	devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1/queue/
	devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1/nvme0n1p1/
	devices/pci0000:80/0000:80:01.0/nvme/nvme0/ng0n1/
	devices/pci0000:00/0000:00:01.0/numa_node = 0
	devices/pci0000:00/0000:00:01.0/nvme/nvme1/nvme1n1/queue/
	devices/pci0000:00/0000:00:01.0/nvme/nvme1/ng1n1/
	devices/pci0000:00/0000:00:02.0/numa_node = -1
	devices/pci0000:00/0000:00:02.0/virtio1/block/vda/queue/
	devices/virtual/nvme-subsystem/nvme-subsys2/nvme2 -> devices/pci0000:80/0000:80:01.0/nvme/nvme0
	devices/virtual/nvme-subsystem/nvme-subsys2/nvme2n1/queue/
	devices/virtual/nvme-subsystem/nvme-subsys2/ng2n1/
	devices/virtual/nvme-subsystem/nvme-subsys3/nvme3 -> devices/pci0000:80/0000:80:01.0/nvme/nvme0
	devices/virtual/nvme-subsystem/nvme-subsys3/nvme4 -> devices/pci0000:00/0000:00:01.0/nvme/nvme1
	devices/virtual/nvme-subsystem/nvme-subsys3/ng3n1/
	devices/virtual/block/loop0/queue/
	devices/virtual/block/dm-0/queue/
	devices/virtual/block/dm-0/slaves/nvme0n1p1 -> devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1/nvme0n1p1
	devices/virtual/block/md0/queue/
	devices/virtual/block/md0/slaves/dm-0 -> devices/virtual/block/dm-0
	devices/virtual/block/md0/slaves/nvme1n1 -> devices/pci0000:00/0000:00:01.0/nvme/nvme1/nvme1n1
	devices/virtual/block/md1/queue/
	devices/virtual/block/md1/slaves/dm-0 -> devices/virtual/block/dm-0
	devices/virtual/block/md1/slaves/nvme0n1 -> devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1
	devices/virtual/mem/null/
	dev/block/259:0 -> devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1
	dev/block/259:1 -> devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1/nvme0n1p1
	dev/block/259:2 -> devices/pci0000:00/0000:00:01.0/nvme/nvme1/nvme1n1
	dev/block/259:3 -> devices/virtual/nvme-subsystem/nvme-subsys2/nvme2n1
	dev/block/254:0 -> devices/pci0000:00/0000:00:02.0/virtio1/block/vda
	dev/block/253:0 -> devices/virtual/block/dm-0
	dev/block/9:0 -> devices/virtual/block/md0
	dev/block/9:1 -> devices/virtual/block/md1
	dev/block/7:0 -> devices/virtual/block/loop0
	dev/char/240:0 -> devices/pci0000:80/0000:80:01.0/nvme/nvme0/ng0n1
	dev/char/240:1 -> devices/pci0000:00/0000:00:01.0/nvme/nvme1/ng1n1
	dev/char/240:2 -> devices/virtual/nvme-subsystem/nvme-subsys2/ng2n1
	dev/char/240:3 -> devices/virtual/nvme-subsystem/nvme-subsys3/ng3n1
	dev/char/1:3 -> devices/virtual/mem/null
`

func TestDeviceNodes(t *testing.T) {
	s := machine(t, twoNodes)
	for _, c := range []struct {
		name         string
		char         bool
		major, minor uint32
		node         int
		nodes        []int // of an ambiguous one
	}{
		{"nvme0n1", false, 259, 0, 1, nil},
		{"a partition", false, 259, 1, 1, nil},
		{"nvme1n1", false, 259, 2, 0, nil},
		{"a drive with two paths, block", false, 259, 3, 1, nil},
		{"a disk near to none", false, 254, 0, NoNode, nil},
		{"loop0", false, 7, 0, NoNode, nil},
		{"dm on a partition", false, 253, 0, 1, nil},
		{"md over two nodes", false, 9, 0, NoNode, []int{0, 1}},
		{"md of one node", false, 9, 1, 1, nil},
		{"ng0n1", true, 240, 0, 1, nil},
		{"ng1n1", true, 240, 1, 0, nil},
		{"a drive with two paths, char", true, 240, 2, 1, nil},
		{"paths to two nodes", true, 240, 3, NoNode, []int{0, 1}},
		{"/dev/null", true, 1, 3, NoNode, nil},
		{"not there", true, 1, 99, NoNode, nil},
	} {
		ask := s.BlockNode
		if c.char {
			ask = s.CharNode
		}
		node, err := ask(c.major, c.minor)
		var two *AmbiguousError
		if errors.As(err, &two) {
			if diff := cmp.Diff(c.nodes, two.Nodes); diff != "" {
				t.Errorf("%s: %s", c.name, diff)
			}
		} else if err != nil || node != c.node || c.nodes != nil {
			t.Errorf("%s: node %d, %v; want %d", c.name, node, err, c.node)
		}
	}
	if _, err := s.BlockNode(0, 42); !errors.Is(err, ErrNoDisk) {
		t.Errorf("a device number without a device: %v", err)
	}
}

func TestNodesAndCPUs(t *testing.T) {
	s := machine(t, twoNodes)
	nodes, err := s.Nodes()
	if diff := cmp.Diff([]int{0, 1}, nodes); diff != "" || err != nil {
		t.Error(err, diff)
	}
	cpus, err := s.NodeCPUs(0)
	if diff := cmp.Diff([]int{0, 1, 2, 3, 8}, cpus); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := s.NodeCPUs(7); err == nil {
		t.Error("a node that is not there has CPUs")
	}
	if _, err := (FS{t.TempDir()}).Nodes(); !errors.Is(err, ErrNoNUMA) {
		t.Errorf("no NUMA: %v", err)
	}
}

func FuzzParseList(f *testing.F) {
	for _, seed := range []string{"0-3,8\n", "", "7", "3-1", "0-99999999", ",", "1--2", "0x1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseList(text)
		if err != nil {
			return
		}
		for i, n := range list {
			if n < 0 || i > 0 && n <= list[i-1] {
				t.Errorf("%q: %v is not ascending", text, list)
			}
		}
	})
}
