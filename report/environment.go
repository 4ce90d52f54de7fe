package report

import (
	"strconv"
	"strings"

	"fiord/internal/environ"
	"fiord/internal/sysfs"
	"fiord/stats"
)

// calls writes the system calls of a job whose engine counts them.
func (d *document) calls(x *stats.Extra) {
	d.count("submit_calls", x.SubmitCalls)
	d.count("submit_ios", x.SubmittedIOs)
	d.float("ios_per_submit", ratio(float64(x.SubmittedIOs), float64(x.SubmitCalls)))
	d.count("reap_calls", x.ReapCalls)
	d.count("reap_ios", x.ReapedIOs)
	d.float("ios_per_reap", ratio(float64(x.ReapedIOs), float64(x.ReapCalls)))
}

// placement writes where a job could run.
func (d *document) placement(cpus []int) {
	if len(cpus) == 0 {
		return
	}
	d.text("cpus", cpuList(cpus))
	if d.r.Env == nil {
		return
	}
	if nodes := d.r.Env.NodesOf(cpus); len(nodes) > 0 {
		d.list("numa_nodes", func() {
			for _, n := range nodes {
				d.integer("", int64(n))
			}
		})
	}
}

// cpuList writes CPU numbers, ascending, in the kernel's form, such as 0-3,8.
func cpuList(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		end := i
		for end+1 < len(cpus) && cpus[end+1] == cpus[end]+1 {
			end++
		}
		part := strconv.Itoa(cpus[i])
		if end > i {
			part += "-" + strconv.Itoa(cpus[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, ",")
}

// environment writes where the run ran. What is not known has no key.
func (d *document) environment(e *environ.Environment) {
	d.object("environment", func() {
		d.facts(e.Machine)
		if len(e.Nodes) > 0 {
			d.list("numa_nodes", func() {
				for i := range e.Nodes {
					d.object("", func() { d.node(&e.Nodes[i]) })
				}
			})
		}
		if len(e.Cgroup) > 0 {
			d.object("cgroup", func() { d.facts(e.Cgroup) })
		}
		d.devices("devices", e.Devices)
		if len(e.FileSystems) > 0 {
			d.list("filesystems", func() {
				for i := range e.FileSystems {
					d.object("", func() { d.fileSystem(&e.FileSystems[i]) })
				}
			})
		}
	})
}

func (d *document) facts(list []sysfs.Fact) {
	for _, f := range list {
		if f.Number {
			d.key(f.Name)
			d.buf.WriteString(f.Text)
			continue
		}
		d.text(f.Name, f.Text)
	}
}

func (d *document) node(n *environ.Node) {
	d.integer("node", int64(n.Number))
	d.text("cpus", cpuList(n.CPUs))
	if n.Memory > 0 {
		d.count("memory_bytes", n.Memory)
	}
}

func (d *document) devices(key string, list []environ.Device) {
	if len(list) == 0 {
		return
	}
	d.list(key, func() {
		for i := range list {
			d.object("", func() {
				d.text("name", list[i].Name)
				d.facts(list[i].Facts)
				d.devices("slaves", list[i].Slaves)
			})
		}
	})
}

func (d *document) fileSystem(f *environ.FileSystem) {
	d.text("mount_point", f.MountPoint)
	d.text("type", f.Type)
	d.text("source", f.Source)
	d.text("options", f.Options)
	if f.SuperOptions != "" {
		d.text("super_options", f.SuperOptions)
	}
	if f.Disk != "" {
		d.text("device", f.Disk)
	}
	d.integer("files", int64(f.Files))
}
