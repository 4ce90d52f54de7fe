package environ

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fiord/internal/sysfs"
)

const cpuDir = "/sys/devices/system/cpu"

// read is the text of a file without the blanks around it; empty where there is none.
func (s System) read(path string) string {
	text, err := os.ReadFile(filepath.Join(s.Root, path))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// machine is what the kernel tells of the machine as a whole. Kernel and CPU model stand in the report by themselves.
func (s System) machine() []sysfs.Fact {
	var out []sysfs.Fact
	text := func(name, v string) {
		if v != "" {
			out = append(out, sysfs.Fact{Name: name, Text: v})
		}
	}
	number := func(name, v string) {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			out = append(out, sysfs.Fact{Name: name, Text: strconv.FormatInt(n, 10), Number: true})
		}
	}
	text("cpus_online", s.read(cpuDir+"/online"))
	text("cpus_isolated", s.read(cpuDir+"/isolated"))
	text("governor", s.governor())
	text("scaling_driver", s.read(cpuDir+"/cpu0/cpufreq/scaling_driver"))
	number("turbo", s.turbo())
	number("smt", s.read(cpuDir+"/smt/active"))
	text("idle_driver", s.read(cpuDir+"/cpuidle/current_driver"))
	text("kernel_clock", s.read("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
	text("hypervisor", s.read("/sys/hypervisor/type"))
	if kib, ok := field(s.read("/proc/meminfo"), "MemTotal:"); ok {
		number("memory_bytes", bytesOf(kib))
	}
	return out
}

// governor is that of all CPUs; where they differ, all that there are.
func (s System) governor() string {
	files, _ := filepath.Glob(filepath.Join(s.Root, cpuDir, "cpu[0-9]*", "cpufreq", "scaling_governor"))
	var found []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if name := strings.TrimSpace(string(text)); err == nil && name != "" && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return strings.Join(found, ",")
}

// turbo is 1 where the processor may go beyond its nominal speed, 0 where it may not.
func (s System) turbo() string {
	switch s.read(cpuDir + "/intel_pstate/no_turbo") {
	case "0":
		return "1"
	case "1":
		return "0"
	}
	return s.read(cpuDir + "/cpufreq/boost")
}

// field is the first word behind a key at the beginning of a line.
func field(text, key string) (string, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				return words[0], true
			}
		}
	}
	return "", false
}

// bytesOf is a text of KiB in bytes; empty for what is no number.
func bytesOf(kib string) string {
	n, err := strconv.ParseUint(kib, 10, 53)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n<<10, 10)
}

// nodes are the NUMA nodes.
func (s System) nodes() []Node {
	dirs, _ := filepath.Glob(filepath.Join(s.Root, "/sys/devices/system/node/node[0-9]*"))
	var out []Node
	for _, dir := range dirs {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "node"))
		if err != nil {
			continue
		}
		node := Node{Number: n}
		within := "/sys/devices/system/node/" + filepath.Base(dir)
		if list := s.read(within + "/cpulist"); list != "" {
			if node.CPUs, err = sysfs.ParseList(list); err != nil {
				continue
			}
		}
		if kib, ok := field(s.read(within+"/meminfo"), "Node "+strconv.Itoa(n)+" MemTotal:"); ok {
			node.Memory, _ = strconv.ParseUint(bytesOf(kib), 10, 64)
		}
		out = append(out, node)
	}
	slices.SortFunc(out, func(a, b Node) int { return a.Number - b.Number })
	return out
}
