package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MemPolicy is numa_mem_policy taken apart.
type MemPolicy struct {
	Mode  string // default, prefer, bind, interleave or local
	Nodes string // the nodes as a list, for Nodes; empty where the mode names none
}

// ParseMemPolicy reads numa_mem_policy: the mode and, behind a colon, its nodes: one for prefer, a list for bind, a list or
// nothing for interleave, which means all.
func ParseMemPolicy(text string) (MemPolicy, error) {
	mode, nodes, has := strings.Cut(text, ":")
	p := MemPolicy{Mode: mode, Nodes: nodes}
	switch mode {
	case "default", "local":
		if has {
			return p, badValue(text, "%s without nodes", mode)
		}
	case "prefer":
		if _, err := strconv.ParseUint(nodes, 10, 16); err != nil {
			return p, badValue(text, "prefer and one node, such as prefer:0")
		}
	case "bind":
		if nodes == "" {
			return p, badValue(text, "bind and its nodes, such as bind:0-1")
		}
	case "interleave":
		if !has {
			p.Nodes = "all"
		}
	default:
		return p, badValue(text, "default, prefer:N, bind:LIST, interleave[:LIST] or local")
	}
	if p.Nodes != "" {
		if _, err := ParseNodes(p.Nodes, nil); err != nil {
			return p, err
		}
	}
	return p, nil
}

// maxNode bounds node numbers, as the kernel's largest configuration does.
const maxNode = 1023

// ParseNodes reads a list of NUMA nodes as numactl has it: numbers and ranges separated by commas, or all. With ! in front
// they are all other nodes, with + they are counted among those that there are. online are those, ascending; a node that is
// not there is an error, unless online is nil, which checks the form alone.
func ParseNodes(text string, online []int) ([]int, error) {
	list := text
	list, inverted := strings.CutPrefix(list, "!")
	list, relative := strings.CutPrefix(list, "+")
	var nodes []int
	if list == "all" {
		nodes = online
	} else {
		var err error
		if nodes, err = numberList(list, maxNode, maxNode+1); err != nil {
			return nil, err
		}
	}
	if online == nil {
		return nodes, nil
	}
	if relative && list != "all" {
		for i, n := range nodes {
			if n >= len(online) {
				return nil, fmt.Errorf("NUMA nodes %q: there are %d", text, len(online))
			}
			nodes[i] = online[n]
		}
	}
	for _, n := range nodes {
		if !slices.Contains(online, n) {
			return nil, fmt.Errorf("NUMA nodes %q: node %d is not there, only %v", text, n, online)
		}
	}
	if !inverted {
		return nodes, nil
	}
	var others []int
	for _, n := range online {
		if !slices.Contains(nodes, n) {
			others = append(others, n)
		}
	}
	if len(others) == 0 {
		return nil, fmt.Errorf("NUMA nodes %q: there are no others", text)
	}
	return others, nil
}

// numa checks the options that place a job on NUMA nodes. Which nodes there are is known when it runs.
func (r *resolver) numa() {
	j := r.j
	if j.NUMACPUNodes != "" {
		if _, err := ParseNodes(j.NUMACPUNodes, nil); err != nil {
			r.errorf("numa_cpu_nodes: %v", err)
		}
	}
	if j.NUMAMemPolicy != "" {
		if _, err := ParseMemPolicy(j.NUMAMemPolicy); err != nil {
			r.errorf("numa_mem_policy: %v", err)
		}
	}
	if !j.AutoNUMA {
		return
	}
	for _, name := range []string{"cpumask", "cpus_allowed", "numa_cpu_nodes", "numa_mem_policy"} {
		if j.set[name] {
			r.errorf("auto_numa=1 and %s exclude each other: both say where the job runs", name)
		}
	}
	if !j.CreateSerialize && j.ReadIolog == "" {
		r.errorf("auto_numa=1 and create_serialize=0 exclude each other: the files must be there before the buffers")
	}
}
