package run

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"fiord/internal/sys"
	"fiord/internal/sysfs"
	"fiord/job"
)

// memPolicies are the modes of numa_mem_policy. With default the process keeps what it has.
var memPolicies = map[string]sys.MemPolicy{"prefer": sys.MemPreferred, "bind": sys.MemBind, "interleave": sys.MemInterleave,
	"local": sys.MemLocal}

// numa binds the thread and the memory that it will touch to the NUMA nodes that the job names.
func (w *worker) numa() error {
	if w.job.NUMACPUNodes == "" && w.job.NUMAMemPolicy == "" {
		return nil
	}
	machine := sysfs.FS{}
	online, err := machine.Nodes()
	if err != nil {
		return fmt.Errorf("numa_cpu_nodes, numa_mem_policy: %w", err)
	}
	if w.job.NUMACPUNodes != "" {
		nodes, err := job.ParseNodes(w.job.NUMACPUNodes, online)
		if err == nil {
			err = runOn(machine, nodes)
		}
		if err != nil {
			return fmt.Errorf("numa_cpu_nodes: %w", err)
		}
	}
	if w.job.NUMAMemPolicy != "" {
		if err := setPolicy(w.job.NUMAMemPolicy, online); err != nil {
			return fmt.Errorf("numa_mem_policy: %w", err)
		}
	}
	return nil
}

func setPolicy(text string, online []int) error {
	p, err := job.ParseMemPolicy(text)
	if err != nil || p.Mode == "default" {
		return err
	}
	var nodes []int
	if p.Nodes != "" {
		if nodes, err = job.ParseNodes(p.Nodes, online); err != nil {
			return err
		}
	}
	return sys.SetMemPolicy(memPolicies[p.Mode], nodes)
}

// runOn binds the thread to the CPUs of the nodes.
func runOn(machine sysfs.FS, nodes []int) error {
	var cpus []int
	for _, n := range nodes {
		list, err := machine.NodeCPUs(n)
		if err != nil {
			return err
		}
		cpus = append(cpus, list...)
	}
	if len(cpus) == 0 {
		return fmt.Errorf("nodes %v have no CPUs", nodes)
	}
	return sys.SetAffinity(cpus)
}

// autoNUMA binds the thread and the memory that it will touch to the node that its device is near to. Where there is none it
// says so, and the job runs as without.
func (w *worker) autoNUMA() error {
	if !w.job.AutoNUMA {
		return nil
	}
	machine := sysfs.FS{}
	node, why, err := w.ownNode(machine)
	switch {
	case err != nil:
		return fmt.Errorf("auto_numa=1: %w", err)
	case node == sysfs.NoNode:
		w.r.note("%s: auto_numa=1: %s: the job runs where the system puts it", w.job.Name, why)
		return nil
	}
	w.node = "numa_node_" + strconv.Itoa(node)
	w.near = func() error {
		if err := errors.Join(runOn(machine, []int{node}), sys.SetMemPolicy(sys.MemPreferred, []int{node})); err != nil {
			return fmt.Errorf("auto_numa=1: %w", err)
		}
		return nil
	}
	return w.near()
}

// followNUMA puts a further thread of the job where numa and autoNUMA have put the first.
func (w *worker) followNUMA() error {
	if err := w.numa(); err != nil || w.near == nil {
		return err
	}
	return w.near()
}

// ownNode is the node that all of the job's files are near to, or why there is none.
func (w *worker) ownNode(machine sysfs.FS) (node int, why string, err error) {
	if w.set == nil || len(w.set.Files) == 0 || w.drv.Traits.Diskless {
		return sysfs.NoNode, "the job has no device", nil
	}
	var nodes []int
	for _, f := range w.set.Files {
		n, err := nodeOf(machine, f.Name)
		if err != nil {
			return sysfs.NoNode, "", fmt.Errorf("%s: %w", f.Name, err)
		}
		if n == sysfs.NoNode {
			return n, f.Name + " is near to no NUMA node", nil
		}
		nodes = append(nodes, n)
	}
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); len(nodes) > 1 {
		return sysfs.NoNode, "", fmt.Errorf("the job's files are near to several NUMA nodes, %v: give those of each node a job of their own", nodes)
	}
	return nodes[0], "", nil
}

// nodeOf is the node that the device at path, or below it, is near to.
func nodeOf(machine sysfs.FS, path string) (int, error) {
	char, major, minor, err := sys.Device(path)
	if err != nil {
		return sysfs.NoNode, err
	}
	if char {
		return machine.CharNode(major, minor)
	}
	n, err := machine.BlockNode(major, minor)
	if errors.Is(err, sysfs.ErrNoDisk) {
		return sysfs.NoNode, nil // a file system without a device
	}
	return n, err
}
