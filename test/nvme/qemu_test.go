package nvme

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiord/test/nvme/plan"
)

// drive is an emulated drive with one namespace.
type drive struct {
	size   int64  // MiB
	props  string // of the namespace
	faults string // a configuration of qemu's blkdebug
	back   string // more properties of its backing, such as a rate
	node   int    // NUMA node that it is near to; 0: none
}

const lba4k = "logical_block_size=4096,physical_block_size=4096"

// pci is the address of drive i.
func pci(i int) string { return fmt.Sprintf("0000:00:%02x.0", 0x10+i) }

// address is that of drive i, which is pci(i) unless it is near to a node. Only one drive can be.
func (d *drive) address(i int) string {
	if d.node == 0 {
		return pci(i)
	}
	return "0000:81:00.0"
}

// nodes are qemu's arguments for two NUMA nodes of one CPU each, and a bus at the second.
var nodes = []string{"-m", "1536", "-smp", "2", "-object", "memory-backend-ram,id=m0,size=768M", "-object", "memory-backend-ram,id=m1,size=768M",
	"-numa", "node,nodeid=0,cpus=0,memdev=m0", "-numa", "node,nodeid=1,cpus=1,memdev=m1",
	"-device", "pxb-pcie,id=far,bus_nr=128,bus=pcie.0,numa_node=1", "-device", "pcie-root-port,id=farport,bus=far,chassis=1,slot=1"}

// arguments are qemu's for drive i, whose backing is made in dir.
func (d *drive) arguments(t *testing.T, dir string, i int) []string {
	t.Helper()
	image := filepath.Join(dir, fmt.Sprintf("drive%d", i))
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, d.size<<20); err != nil {
		t.Fatal(err)
	}
	file := image
	if d.faults != "" {
		rules := filepath.Join(dir, fmt.Sprintf("faults%d", i))
		if err := os.WriteFile(rules, []byte(d.faults), 0o600); err != nil {
			t.Fatal(err)
		}
		file = "blkdebug:" + rules + ":" + image
	}
	bus := fmt.Sprintf("pcie.0,addr=%#x", 0x10+i)
	if d.node != 0 {
		bus = "farport"
	}
	return []string{"-drive", fmt.Sprintf("if=none,id=d%d,format=raw,cache=unsafe,discard=unmap,file=%s%s", i, file, d.back),
		"-device", fmt.Sprintf("nvme,id=nvme%d,serial=fiord-%d,bus=%s", i, i, bus),
		"-device", fmt.Sprintf("nvme-ns,drive=d%d,bus=nvme%d,nsid=1,%s", i, i, d.props)}
}

// boots is how often a machine is started until it gets to its first step, and bootLimit how long that may take: an
// emulated kernel sometimes trips over its own code patching, or comes to a stop.
const (
	boots     = 3
	bootLimit = 6 * time.Minute
)

// boot runs the machine and returns the results of its steps by name, those that were done if it ends early.
func (m *machine) boot(t *testing.T, limit time.Duration) map[string]plan.Result {
	t.Helper()
	dir := t.TempDir()
	initrd := filepath.Join(dir, "initrd")
	k := findKernel(t)
	m.guestFiles(t, k, initrd)
	// Without edd=off the kernel has the BIOS read from the drives, which now and then sends the processor astray.
	args := []string{"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "q35", "-cpu", "max",
		"-accel", "kvm", "-accel", "tcg", "-kernel", k.image, "-initrd", initrd, "-append",
		"console=ttyS0 loglevel=4 panic=-1 edd=off mitigations=off nokaslr random.trust_cpu=on rdinit=/init"}
	args = append(args, nodes...)
	console, results := filepath.Join(dir, "console"), filepath.Join(dir, "results")
	args = append(args, "-serial", "file:"+console, "-serial", "file:"+results)
	for i := range m.drives {
		args = append(args, m.drives[i].arguments(t, dir, i)...)
	}
	for try := 1; ; try++ {
		t.Logf("booting Linux %s with %d drives for %d steps", k.release, len(m.drives), len(m.steps))
		got, ready := m.start(t, args, results, limit)
		if len(got) == len(m.steps) {
			return got
		}
		text, _ := os.ReadFile(console)
		if try < boots && !ready && t.Context().Err() == nil {
			t.Logf("the guest did not get to its first step; once more. Its console ends with\n%s", tail(text))
			continue
		}
		t.Errorf("%d of %d steps were done, the next was %q; the console ends with\n%s", len(got), len(m.steps),
			m.steps[len(got)].Name, tail(text))
		return got
	}
}

func tail(text []byte) string { return string(text[max(0, len(text)-3000):]) }

// start runs qemu until the guest has ended, and tells what the guest does meanwhile.
func (m *machine) start(t *testing.T, args []string, results string, limit time.Duration) (got map[string]plan.Result, ready bool) {
	t.Helper()
	if err := os.WriteFile(results, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(results)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ended := make(chan error, 1)
	var out []byte
	go func() {
		runtime.LockOSThread() // whose end would be that of qemu, as that of the tests is
		defer runtime.UnlockOSThread()
		c := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		var err error
		out, err = c.CombinedOutput()
		ended <- err
	}()
	late := time.AfterFunc(bootLimit, cancel)
	defer late.Stop()
	got = map[string]plan.Result{}
	lines := &follower{r: bufio.NewReader(f)}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case err := <-ended:
			over = true
			if err != nil {
				t.Logf("qemu: %v\n%s", err, out)
			}
		case <-tick.C:
		}
		for line, ok := lines.next(); ok; line, ok = lines.next() {
			if line == plan.Ready {
				ready = true
				late.Stop()
				continue
			}
			var r plan.Result
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Logf("not a result: %v: %.200s", err, line)
				continue
			}
			got[r.Name] = r
			t.Logf("%3d/%d %5d ms, exit %2d: %s", len(got), len(m.steps), r.Millis, r.Exit, r.Name)
		}
	}
	return got, ready
}

// follower reads whole lines of a file that grows.
type follower struct {
	r    *bufio.Reader
	part strings.Builder
}

func (f *follower) next() (string, bool) {
	text, err := f.r.ReadString('\n')
	f.part.WriteString(text)
	if err == io.EOF {
		return "", false
	}
	line := strings.TrimSpace(f.part.String())
	f.part.Reset()
	return line, err == nil
}
