package environ

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"fiord/internal/sys"
	"fiord/internal/sysfs"
)

// Environment is where a run ran.
type Environment struct {
	Machine     []sysfs.Fact
	Nodes       []Node // NUMA nodes; none where the kernel does not tell
	Cgroup      []sysfs.Fact
	Devices     []Device
	FileSystems []FileSystem
}

// Node is a NUMA node.
type Node struct {
	Number int
	CPUs   []int
	Memory uint64 // bytes; 0: not known
}

// Device is a whole disk, with those that it is built of.
type Device struct {
	Name   string
	Facts  []sysfs.Fact
	Slaves []Device
}

// FileSystem is one mounted file system that files of the run lie on.
type FileSystem struct {
	MountPoint   string
	Type         string
	Source       string // as mounted, such as /dev/sda1
	Options      string // of the mount
	SuperOptions string // of the file system
	Disk         string // name in Devices; empty: on none that the kernel tells
	Files        int    // files of the run on it
}

// System is the machine. The zero System is this one; tests set Root to a folder that plays it.
type System struct {
	Root string // the folder that /proc and /sys are in

	stat     func(path string) (node, error) // of a path of the run; nil: the real one
	identify func(path string) ([]byte, error)
}

// node is what kind of file a path is, and its device number.
type node struct {
	block, char bool
	dev         uint64 // of the device itself, or of what the file lies on
	real        string // path without symbolic links
}

// Gather gathers everything about the machine and about the files, which need not exist any more: their folders tell.
func (s System) Gather(paths []string) *Environment {
	if s.stat == nil {
		s.stat = statPath
	}
	if s.identify == nil {
		s.identify = identify
	}
	e := &Environment{Machine: s.machine(), Nodes: s.nodes(), Cgroup: s.cgroup()}
	g := gatherer{System: s, sysfs: sysfs.FS{Root: filepath.Join(s.Root, "/sys")}, mounts: s.mounts(), env: e}
	for _, path := range paths {
		g.add(path)
	}
	return e
}

// NodesOf are the numbers of the NUMA nodes that the CPUs are of, ascending.
func (e *Environment) NodesOf(cpus []int) []int {
	var out []int
	for _, n := range e.Nodes {
		if slices.ContainsFunc(cpus, func(c int) bool { return slices.Contains(n.CPUs, c) }) {
			out = append(out, n.Number)
		}
	}
	return out
}

type gatherer struct {
	System
	sysfs  sysfs.FS
	mounts []mount
	env    *Environment
}

// add adds what is below one path.
func (g *gatherer) add(path string) {
	n, err := g.stat(path)
	switch {
	case err != nil:
		return
	case n.block:
		g.disk(g.sysfs.Disk, n.dev, path)
	case n.char:
		g.disk(g.sysfs.Char, n.dev, path)
	default:
		g.file(n)
	}
}

// disk adds the device with the number and returns its name, empty for none. Path is one to ask the drive through.
func (g *gatherer) disk(find func(major, minor uint32) (sysfs.Disk, error), dev uint64, path string) string {
	d, err := find(sys.Numbers(dev))
	if err != nil {
		return ""
	}
	if !slices.ContainsFunc(g.env.Devices, func(have Device) bool { return have.Name == d.Name }) {
		g.env.Devices = append(g.env.Devices, g.describe(d, path))
	}
	return d.Name
}

func (g *gatherer) describe(d sysfs.Disk, path string) Device {
	out := Device{Name: d.Name, Facts: g.sysfs.Describe(d)}
	if strings.HasPrefix(d.Name, "nvme") {
		if path == "" {
			path = filepath.Join("/dev", d.Name)
		}
		out.Facts = append(out.Facts, g.lbaFormat(path)...)
	}
	slaves, _ := g.sysfs.Slaves(d) // without them there is still the disk
	for _, s := range slaves {
		out.Slaves = append(out.Slaves, g.describe(s, ""))
	}
	return out
}

// file counts the file on its file system.
func (g *gatherer) file(n node) {
	m, ok := longest(g.mounts, n.real)
	if !ok {
		return
	}
	for i := range g.env.FileSystems {
		if g.env.FileSystems[i].MountPoint == m.point {
			g.env.FileSystems[i].Files++
			return
		}
	}
	f := FileSystem{MountPoint: m.point, Type: m.kind, Source: m.source, Options: m.options, SuperOptions: m.super, Files: 1}
	f.Disk = g.disk(g.sysfs.Disk, n.dev, "")
	if f.Disk == "" && strings.HasPrefix(m.source, "/dev/") { // btrfs and its like number their files by no device
		if source, err := g.stat(m.source); err == nil && source.block {
			f.Disk = g.disk(g.sysfs.Disk, source.dev, m.source)
		}
	}
	g.env.FileSystems = append(g.env.FileSystems, f)
}

// statPath looks at a path, or at the nearest folder above that is there.
func statPath(path string) (node, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return node{}, err
	}
	real, err := filepath.EvalSymlinks(path)
	for err != nil && path != "/" {
		path = filepath.Dir(path)
		real, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return node{}, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return node{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return node{}, os.ErrInvalid
	}
	n := node{real: real, dev: st.Dev}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFBLK:
		n.block, n.dev = true, st.Rdev
	case syscall.S_IFCHR:
		n.char, n.dev = true, st.Rdev
	}
	return n, nil
}

func identify(path string) ([]byte, error) { return sys.NVMeNamespace(path) }
