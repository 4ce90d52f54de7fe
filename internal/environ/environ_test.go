package environ

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/internal/sysfs"
)

// tree makes files and links (whose text begins with "-> ") below a temporary root, which plays a machine.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func facts(list []sysfs.Fact) []string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s=%s %v", f.Name, f.Text, f.Number))
	}
	return out
}

func TestMachine(t *testing.T) {
	const cpu, nodes = "sys/devices/system/cpu/", "sys/devices/system/node/"
	s := System{Root: tree(t, map[string]string{
		cpu + "online":                        "0-3\n",
		cpu + "isolated":                      "\n",
		cpu + "smt/active":                    "0\n",
		cpu + "cpu0/cpufreq/scaling_governor": "powersave\n",
		cpu + "cpu1/cpufreq/scaling_governor": "performance\n",
		cpu + "cpu2/cpufreq/scaling_governor": "powersave\n",
		cpu + "cpu0/cpufreq/scaling_driver":   "intel_pstate\n",
		cpu + "intel_pstate/no_turbo":         "1\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"proc/meminfo":           "MemTotal:       16 kB\nMemFree:        1 kB\n",
		nodes + "node0/cpulist":  "0-1\n",
		nodes + "node0/meminfo":  "Node 0 MemTotal:        8 kB\nNode 0 MemFree: 1 kB\n",
		nodes + "node10/cpulist": "2-3\n",
		nodes + "node2/cpulist":  "\n",
		nodes + "has_cpu":        "0\n",
	})}
	e := s.Gather(nil)
	want := []string{"cpus_online=0-3 false", "governor=performance,powersave false", "scaling_driver=intel_pstate false", "turbo=0 true",
		"smt=0 true", "kernel_clock=tsc false", "memory_bytes=16384 true"}
	if d := cmp.Diff(want, facts(e.Machine)); d != "" {
		t.Errorf("machine (-want +got):\n%s", d)
	}
	wantNodes := []Node{{Number: 0, CPUs: []int{0, 1}, Memory: 8192}, {Number: 2}, {Number: 10, CPUs: []int{2, 3}}}
	if d := cmp.Diff(wantNodes, e.Nodes); d != "" {
		t.Errorf("nodes (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]int{0, 10}, e.NodesOf([]int{1, 2})); d != "" {
		t.Errorf("nodes of CPUs (-want +got):\n%s", d)
	}
	empty := System{Root: t.TempDir()}.Gather([]string{"/"})
	if len(empty.Machine)+len(empty.Nodes)+len(empty.Cgroup)+len(empty.Devices)+len(empty.FileSystems) != 0 {
		t.Errorf("of nothing: %+v", empty)
	}
}

func TestTurbo(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"intel_pstate/no_turbo", "0", "1"}, {"intel_pstate/no_turbo", "1", "0"}, {"cpufreq/boost", "1", "1"},
		{"cpufreq/boost", "0", "0"}, {"other", "1", ""},
	} {
		s := System{Root: tree(t, map[string]string{cpuDir + "/" + c.file: c.text})}
		if got := s.turbo(); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.file, c.text, got, c.want)
		}
	}
}

func TestCgroup(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"none", map[string]string{"proc/self/cgroup": "0::/\n"}, nil},
		{"second version, closest of all groups", map[string]string{
			"proc/self/cgroup":               "0::/a/b\n",
			"sys/fs/cgroup/a/b/cpu.max":      "max 100000\n",
			"sys/fs/cgroup/a/b/memory.max":   "4096\n",
			"sys/fs/cgroup/a/b/cpuset.cpus":  "\n",
			"sys/fs/cgroup/a/cpu.max":        "150000 100000\n",
			"sys/fs/cgroup/a/memory.max":     "max\n",
			"sys/fs/cgroup/a/memory.high":    "8192\n",
			"sys/fs/cgroup/a/cpuset.cpus":    "0-1\n",
			"sys/fs/cgroup/a/b/io.max":       "259:0 rbps=1024 wbps=max riops=max wiops=max\n",
			"sys/fs/cgroup/unrelated/io.max": "1:1 rbps=1\n",
		}, []string{"cpu_limit=1.500000 true", "memory_limit_bytes=4096 true", "cpuset=0-1 false",
			"io_limit=259:0 rbps=1024 wbps=max riops=max wiops=max false"}},
		{"first version", map[string]string{
			"proc/self/cgroup": "9:name=systemd:/\n4:memory:/box\n1:cpu,cpuacct:/\n0::/\nbad\n",
			"sys/fs/cgroup/memory/box/memory.limit_in_bytes":  "1048576\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":      "9223372036854771712\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":      "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":     "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us":  "1\n",
			"sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
		}, []string{"memory_limit_bytes=1048576 true"}},
	} {
		if d := cmp.Diff(c.want, facts(System{Root: tree(t, c.files)}.cgroup())); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

const mountinfo = `26 1 259:1 / / rw,relatime - ext4 /dev/nvme0n1p1 rw,discard
27 26 0:24 / /tmp rw,nosuid - tmpfs tmpfs rw,size=4k
28 26 0:31 / /var/lib/x rw - overlay overlay rw,lowerdir=/l,upperdir=/u
29 26 0:40 /sub /with\040blank ro,noatime - btrfs /dev/md0 rw,space_cache
30 27 0:41 / /tmp rw - tmpfs later rw
bad line
`

func dev(major, minor uint64) uint64 { return major<<8 | minor }

// TestFiles is about files on disks, partitions, RAID, and on file systems without a disk.
func TestFiles(t *testing.T) {
	nvme := make([]byte, 4096)
	nvme[25], nvme[26], nvme[29] = 3, 1|1<<4, 1
	copy(nvme[128+4:], []byte{8, 0, 12})
	stats := map[string]node{
		"/data/f":          {real: "/data/f", dev: dev(259, 1)},
		"/tmp/f":           {real: "/tmp/f", dev: 0x29},
		"/var/lib/x/f":     {real: "/var/lib/x/f", dev: 0x1f},
		"/with blank/f":    {real: "/with blank/f", dev: 0x28},
		"/with blank/g":    {real: "/with blank/g", dev: 0x28},
		"/dev/md0":         {real: "/dev/md0", block: true, dev: dev(9, 0)},
		"/dev/nvme0n1p1":   {real: "/dev/nvme0n1p1", block: true, dev: dev(259, 1)},
		"/dev/ng0n1":       {real: "/dev/ng0n1", char: true, dev: dev(240, 0)},
		"/dev/null":        {real: "/dev/null", char: true, dev: dev(1, 3)},
		"/dev/unknown-blk": {real: "/dev/unknown-blk", block: true, dev: dev(77, 0)},
	}
	var asked []string
	s := System{
		Root: tree(t, map[string]string{
			"proc/self/mountinfo":                            mountinfo,
			"sys/dev/block/259:1":                            "-> ../../devices/nvme0/nvme0n1/nvme0n1p1",
			"sys/dev/block/9:0":                              "-> ../../devices/virtual/block/md0",
			"sys/dev/char/240:0":                             "-> ../../devices/nvme0/ng0n1",
			"sys/devices/nvme0/ng0n1/dev":                    "240:0",
			"sys/devices/nvme0/nvme0n1/nvme0n1p1/dev":        "259:1",
			"sys/devices/nvme0/nvme0n1/queue/rotational":     "0",
			"sys/devices/sda/queue/rotational":               "1",
			"sys/devices/virtual/block/md0/queue/rotational": "0",
			"sys/devices/virtual/block/md0/md/level":         "raid1",
			"sys/devices/virtual/block/md0/slaves/nvme0n1":   "-> ../../../../nvme0/nvme0n1",
			"sys/devices/virtual/block/md0/slaves/sda":       "-> ../../../../sda",
		}),
		stat: func(path string) (node, error) {
			n, ok := stats[path]
			if !ok {
				return n, os.ErrNotExist
			}
			return n, nil
		},
		identify: func(path string) ([]byte, error) {
			asked = append(asked, path)
			if path == "/dev/nvme0n1" { // as below the RAID
				return nil, errors.New("not allowed")
			}
			return nvme, nil
		},
	}
	e := s.Gather([]string{"/dev/ng0n1", "/dev/nvme0n1p1", "/data/f", "/tmp/f", "/var/lib/x/f", "/with blank/f", "/with blank/g", "/dev/null",
		"/dev/unknown-blk", "/gone"})
	rotational := func(v string) sysfs.Fact { return sysfs.Fact{Name: "rotational", Text: v, Number: true} }
	want := []Device{
		{Name: "nvme0n1", Facts: []sysfs.Fact{rotational("0"), count("lba_format", 1), count("lba_data_bytes", 4096),
			count("lba_metadata_bytes", 8), count("lba_extended", 1), count("pi_type", 1)}},
		{Name: "md0", Facts: []sysfs.Fact{{Name: "md_level", Text: "raid1"}, rotational("0")}, Slaves: []Device{
			{Name: "nvme0n1", Facts: []sysfs.Fact{rotational("0")}}, {Name: "sda", Facts: []sysfs.Fact{rotational("1")}}}},
	}
	if d := cmp.Diff(want, e.Devices); d != "" {
		t.Errorf("devices (-want +got):\n%s", d)
	}
	wantFS := []FileSystem{
		{MountPoint: "/", Type: "ext4", Source: "/dev/nvme0n1p1", Options: "rw,relatime", SuperOptions: "rw,discard", Disk: "nvme0n1", Files: 1},
		{MountPoint: "/tmp", Type: "tmpfs", Source: "later", Options: "rw", SuperOptions: "rw", Files: 1},
		{MountPoint: "/var/lib/x", Type: "overlay", Source: "overlay", Options: "rw", SuperOptions: "rw,lowerdir=/l,upperdir=/u", Files: 1},
		{MountPoint: "/with blank", Type: "btrfs", Source: "/dev/md0", Options: "ro,noatime", SuperOptions: "rw,space_cache", Disk: "md0", Files: 2},
	}
	if d := cmp.Diff(wantFS, e.FileSystems); d != "" {
		t.Errorf("file systems (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"/dev/ng0n1", "/dev/nvme0n1"}, asked); d != "" {
		t.Errorf("drives asked (-want +got):\n%s", d)
	}
}

func TestLBAFormat(t *testing.T) {
	for _, c := range []struct {
		name string
		set  map[int]byte
		want []string
	}{
		{"no namespace", nil, nil},
		{"512 bytes", map[int]byte{128 + 2: 9}, []string{"lba_format=0 true", "lba_data_bytes=512 true", "lba_metadata_bytes=0 true",
			"lba_extended=0 true", "pi_type=0 true"}},
		{"format 17 of many", map[int]byte{25: 20, 26: 1 | 1<<5, 128 + 17*4: 64, 128 + 17*4 + 2: 12}, []string{"lba_format=17 true",
			"lba_data_bytes=4096 true", "lba_metadata_bytes=64 true", "lba_extended=0 true", "pi_type=0 true"}},
	} {
		b := make([]byte, 4096)
		for i, v := range c.set {
			b[i] = v
		}
		g := gatherer{System: System{identify: func(string) ([]byte, error) { return b, nil }}}
		if d := cmp.Diff(c.want, facts(g.lbaFormat("x"))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestStatPath follows links, and asks the folder of a file that has gone.
func TestStatPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"link", "link/gone", "gone/gone"} {
		n, err := statPath(filepath.Join(dir, path))
		if err != nil || n.real != real || n.block || n.char {
			t.Errorf("%s: %+v, %v, want %s", path, n, err, real)
		}
	}
	if n, err := statPath("/dev/null"); err != nil || !n.char {
		t.Errorf("/dev/null: %+v, %v", n, err)
	}
}

func TestHere(t *testing.T) {
	e := System{}.Gather([]string{t.TempDir()})
	if len(e.FileSystems) != 1 || e.FileSystems[0].Type == "" || e.FileSystems[0].Files != 1 {
		t.Errorf("file system of a temporary folder: %+v", e.FileSystems)
	}
	if len(e.Machine) == 0 {
		t.Error("nothing is known of this machine")
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add(mountinfo)
	f.Add(`1 2 0:1 / /a\04 rw - x \134`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range parseMounts(text) {
			longest([]mount{m}, "/x")
		}
	})
}
