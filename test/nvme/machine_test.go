package nvme

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fiord/test/nvme/plan"
)

// drives are the emulated drives: size in MiB and properties of the namespace. Their order makes their numbers.
var drives = []struct {
	size  int64
	props string
}{
	{1024, "logical_block_size=512,physical_block_size=512"},
	{512, lba4k + ",ms=8,pi=1"}, // separate metadata
	{512, lba4k + ",zoned=true,zoned.zone_size=16M,zoned.zone_capacity=12M,zoned.max_open=8,zoned.max_active=12"},
	{512, lba4k},
	{256, lba4k + ",ms=8,pi=1,mset=1"}, // extended blocks
	{256, lba4k + ",ms=16,pi=1,pif=2"}, // 64-bit guard
	{256, lba4k},                       // faulty
	{64, lba4k},                        // to be removed
	{64, lba4k},                        // to be removed while it is polled
}

const lba4k = "logical_block_size=4096,physical_block_size=4096"

// The faulty drive fails reads of this byte offset, and writes of the other.
const (
	badRead, badWrite = 1 << 20, 2 << 20
	faulty            = 6
	removed           = 7
	removedPolled     = 8
)

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
		t.Skipf("missing %v, and only root on Debian can install them", missing)
	}
	run(t, "", "apt-get", "-q", "update")
	run(t, "", "apt-get", append([]string{"install", "-q", "-y", "--no-install-recommends"}, missing...)...)
}

// build builds a program or, with test set, the tests of a package, static.
func build(t *testing.T, pkg string, test bool) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	args := []string{"build", "-trimpath", "-o", out, pkg}
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
	programs map[string]string // in /bin, by name
	files    map[string]string // contents, by path
	params   map[string]string // of modules
	steps    []plan.Step
}

func (m *machine) step(name string, limitS int, args ...string) *plan.Step {
	m.steps = append(m.steps, plan.Step{Name: name, Args: args, LimitS: limitS})
	return &m.steps[len(m.steps)-1]
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
	p := plan.Plan{Steps: m.steps}
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
	for i := range drives {
		p.Drives = append(p.Drives, plan.Drive{PCI: pci(i), Generic: fmt.Sprintf("ng%dn1", i)})
	}
	p.NullBlk = []plan.NullBlk{
		{Name: "nullb0", Settings: map[string]string{"size": "4096", "blocksize": "512", "queue_mode": "2", "submit_queues": "2", "poll_queues": "2"}},
		{Name: "nullb1", Settings: map[string]string{"size": "128", "blocksize": "4096", "queue_mode": "2", "memory_backed": "1"}},
	}
	text, err := json.Marshal(p)
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

// pci is the address of drive i.
func pci(i int) string { return fmt.Sprintf("0000:00:%02x.0", 0x10+i) }

// boot runs the machine and returns the results of its steps by name. A boot that does not get to the first step is
// tried once more: an emulated kernel sometimes trips over its own code patching.
func (m *machine) boot(t *testing.T, limit time.Duration) map[string]plan.Result {
	t.Helper()
	k := findKernel(t)
	dir := t.TempDir()
	initrd := filepath.Join(dir, "initrd")
	m.guestFiles(t, k, initrd)
	args := []string{"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "q35", "-cpu", "max",
		"-accel", "kvm", "-accel", "tcg", "-m", "1536", "-smp", "2", "-kernel", k.image, "-initrd", initrd, "-append",
		"console=ttyS0 loglevel=4 panic=-1 mitigations=off nokaslr random.trust_cpu=on rdinit=/init"}
	console, results := filepath.Join(dir, "console"), filepath.Join(dir, "results")
	args = append(args, "-serial", "file:"+console, "-serial", "file:"+results)
	for i, d := range drives {
		image := filepath.Join(dir, fmt.Sprintf("drive%d", i))
		if err := os.WriteFile(image, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(image, d.size<<20); err != nil {
			t.Fatal(err)
		}
		file := image
		if i == faulty {
			rules := filepath.Join(dir, "faults")
			text := fmt.Sprintf("[inject-error]\nevent = \"read_aio\"\nerrno = \"5\"\nsector = \"%d\"\n\n"+
				"[inject-error]\nevent = \"write_aio\"\nerrno = \"5\"\nsector = \"%d\"\n", badRead/512, badWrite/512)
			if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			file = "blkdebug:" + rules + ":" + image
		}
		args = append(args, "-drive", fmt.Sprintf("if=none,id=d%d,format=raw,cache=unsafe,discard=unmap,file=%s", i, file),
			"-device", fmt.Sprintf("nvme,id=nvme%d,serial=fiord-%d,addr=%#x", i, i, 0x10+i),
			"-device", fmt.Sprintf("nvme-ns,drive=d%d,bus=nvme%d,nsid=1,%s", i, i, d.props))
	}
	for try := 0; ; try++ {
		got, ready := start(t, args, results, limit)
		if len(got) == len(m.steps) {
			return got
		}
		text, _ := os.ReadFile(console)
		if try == 0 && !ready {
			t.Logf("the guest did not get to its first step; once more. Its console ends with\n%s", tail(text))
			continue
		}
		t.Fatalf("%d of %d steps were done; the console ends with\n%s", len(got), len(m.steps), tail(text))
	}
}

func tail(text []byte) string { return string(text[max(0, len(text)-3000):]) }

func start(t *testing.T, args []string, results string, limit time.Duration) (got map[string]plan.Result, ready bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "qemu-system-x86_64", args...).CombinedOutput()
	if err != nil {
		t.Logf("qemu: %v\n%s", err, out)
	}
	f, err := os.Open(results)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got = map[string]plan.Result{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == plan.Ready {
			ready = true
			continue
		}
		var r plan.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			continue // the machine ended in the middle of it
		}
		got[r.Name] = r
	}
	return got, ready
}
