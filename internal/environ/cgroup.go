package environ

import (
	"math"
	"path"
	"strconv"
	"strings"

	"fiord/internal/sysfs"
)

// cgroup are the limits that the control groups of this process set, the closest of all groups from its own up to the
// root. Groups whose limits this process cannot see are not known of.
func (s System) cgroup() []sysfs.Fact {
	c := limits{cpus: math.Inf(1), memory: math.MaxUint64}
	for line := range strings.Lines(s.read("/proc/self/cgroup")) {
		// 0::/path is version 2; N:controller,controller:/path version 1.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		if parts[0] == "0" {
			s.up("/sys/fs/cgroup", parts[2], c.second)
			continue
		}
		s.up("/sys/fs/cgroup/"+parts[1], parts[2], c.first)
	}
	return c.facts()
}

// up calls take with each group from the named one to the root of its tree.
func (s System) up(root, group string, take func(read func(file string) string)) {
	for dir := path.Clean(group); ; dir = path.Dir(dir) {
		take(func(file string) string { return s.read(path.Join(root, dir, file)) })
		if dir == "/" {
			return
		}
	}
}

// limits are the closest found so far.
type limits struct {
	cpus   float64 // CPUs' worth of time
	memory uint64  // bytes
	cpuset string
	io     []string
}

// second takes the limits of a group of version 2.
func (c *limits) second(read func(string) string) {
	quota, period, _ := strings.Cut(read("cpu.max"), " ")
	c.quota(quota, period)
	c.bytes(read("memory.max"))
	c.bytes(read("memory.high"))
	if c.cpuset == "" {
		c.cpuset = read("cpuset.cpus")
	}
	for line := range strings.Lines(read("io.max")) {
		c.io = append(c.io, strings.TrimSpace(line))
	}
}

// first takes those of version 1, where a group without a limit has a huge one.
func (c *limits) first(read func(string) string) {
	c.quota(read("cpu.cfs_quota_us"), read("cpu.cfs_period_us"))
	if n, err := strconv.ParseUint(read("memory.limit_in_bytes"), 10, 64); err == nil && n < 1<<60 {
		c.memory = min(c.memory, n)
	}
}

func (c *limits) quota(quota, period string) {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err == nil && err2 == nil && q > 0 && p > 0 {
		c.cpus = min(c.cpus, q/p)
	}
}

func (c *limits) bytes(text string) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		c.memory = min(c.memory, n)
	}
}

func (c *limits) facts() []sysfs.Fact {
	var out []sysfs.Fact
	if !math.IsInf(c.cpus, 1) {
		out = append(out, sysfs.Fact{Name: "cpu_limit", Text: strconv.FormatFloat(c.cpus, 'f', 6, 64), Number: true})
	}
	if c.memory != math.MaxUint64 {
		out = append(out, count("memory_limit_bytes", c.memory))
	}
	if c.cpuset != "" {
		out = append(out, sysfs.Fact{Name: "cpuset", Text: c.cpuset})
	}
	if len(c.io) > 0 {
		out = append(out, sysfs.Fact{Name: "io_limit", Text: strings.Join(c.io, "; ")})
	}
	return out
}
