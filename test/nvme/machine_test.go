package nvme

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fiord/test/nvme/plan"
)

// needTools makes what would be skipped a failure, for machines that are to have all.
const needTools = "FIORD_NEED_TOOLS"

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// need skips where something is missing that cannot be installed here.
func need(t *testing.T) {
	t.Helper()
	if os.Getenv("FIORD_NVME") != "1" {
		t.Skip("boots a virtual machine: make test-nvme, or FIORD_NVME=1")
	}
	var missing []string
	for tool, pkg := range map[string]string{"qemu-system-x86_64": "qemu-system-x86", "xz": "xz-utils", "dpkg-deb": "dpkg", "fio": "fio"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, pkg)
		}
	}
	if len(missing) == 0 {
		return
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		say := t.Skipf
		if os.Getenv(needTools) == "1" {
			say = t.Fatalf
		}
		say("missing %v, and only root on Debian can install them", missing)
	}
	t.Logf("installing %v", missing)
	run(t, "", "apt-get", "-q", "update")
	run(t, "", "apt-get", append([]string{"install", "-q", "-y", "--no-install-recommends"}, missing...)...)
}

// theFio is the fio that reads what fiord wrote and the other way round: that of the variable FIO, or of the PATH.
func theFio(t *testing.T) string {
	t.Helper()
	name := os.Getenv("FIO")
	if name == "" {
		name = "fio"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build builds a program or, with test set, the tests of a package, static.
func build(t *testing.T, pkg string, test bool) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", out, pkg}
	if test {
		args = []string{"test", "-c", "-trimpath", "-o", out, pkg}
	}
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Dir = "../.."
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return out
}

// machine is what goes into the guest.
type machine struct {
	drives   []drive
	programs map[string]string // in /bin, by name
	files    map[string]string // contents, by path
	params   map[string]string // of modules
	steps    []plan.Step
}

func (m *machine) step(name string, limitS int, args ...string) *plan.Step {
	m.steps = append(m.steps, plan.Step{Name: name, Args: args, LimitS: limitS})
	return &m.steps[len(m.steps)-1]
}

// file adds a file to the guest.
func (m *machine) file(path, content string) {
	if m.files == nil {
		m.files = map[string]string{}
	}
	m.files[path] = content
}

// nullBlk are the devices that have no NVMe: one that keeps nothing and can be polled, one that keeps its data, and one
// that does and has zones, the first two of them conventional.
var nullBlk = []plan.NullBlk{
	{Name: "nullb0", Settings: map[string]string{"size": "4096", "blocksize": "512", "queue_mode": "2", "submit_queues": "2",
		"poll_queues": "2"}},
	{Name: "nullb1", Settings: map[string]string{"size": "128", "blocksize": "4096", "queue_mode": "2", "memory_backed": "1"}},
	{Name: "nullb2", Settings: map[string]string{"size": "256", "blocksize": "4096", "queue_mode": "2", "submit_queues": "2",
		"memory_backed": "1", "zoned": "1", "zone_size": "16", "zone_nr_conv": "2", "zone_max_open": "6", "zone_max_active": "8"}},
}

// guestFiles writes the guest's file system.
func (m *machine) guestFiles(t *testing.T, k *kernel, to string) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	a := newArchive(w)
	a.dir("dev")
	a.entry("dev/console", 0o20600, 5<<8|1, nil)
	a.copy("init", build(t, "./test/nvme/guest", false))
	for name, from := range m.programs {
		a.copy("bin/"+name, from)
		for _, lib := range libraries(from) {
			if !a.dirs["file "+lib] {
				a.dirs["file "+lib] = true
				a.copy(lib, lib)
			}
		}
	}
	for name, content := range m.files {
		a.file(name, []byte(content))
	}
	text, err := json.Marshal(m.plan(t, k, a))
	if err != nil {
		t.Fatal(err)
	}
	a.file(plan.Path, text)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// plan is what the guest is told; the kernel modules that it names go into the archive.
func (m *machine) plan(t *testing.T, k *kernel, a *archive) plan.Plan {
	t.Helper()
	p := plan.Plan{Steps: m.steps, NullBlk: nullBlk}
	var modules []string
	contents := map[string][]byte{}
	for _, name := range []string{"nvme", "configfs", "null_blk"} {
		if err := k.load(name, &modules, contents); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range modules {
		file := "/modules/" + name + ".ko"
		a.file(file, contents[name])
		p.Modules = append(p.Modules, plan.Module{File: file, Params: m.params[name]})
	}
	for i := range m.drives {
		p.Drives = append(p.Drives, plan.Drive{PCI: m.drives[i].address(i), Generic: fmt.Sprintf("ng%dn1", i)})
	}
	return p
}

// libraries are what the loader needs for a dynamic program.
func libraries(program string) []string {
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		return nil // static
	}
	var libs []string
	for line := range strings.Lines(string(out)) {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "/") {
				libs = append(libs, word)
				break
			}
		}
	}
	return libs
}
