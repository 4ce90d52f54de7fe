package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/internal/sysfs"
	"fiord/job"
)

// needNUMA skips where this machine's kernel has no NUMA nodes.
func needNUMA(t *testing.T) {
	t.Helper()
	if _, err := (sysfs.FS{}).Nodes(); errors.Is(err, sysfs.ErrNoNUMA) {
		t.Skip(err)
	}
}

// placement is what an engine finds of the thread that opens it.
type placement struct {
	policy sys.MemPolicy
	nodes  []int
	cpus   []int
}

// asker is an engine that notes how its thread is placed.
func asker(p *placement) *engines.Driver {
	return &engines.Driver{Name: "asker", Traits: job.Traits{Diskless: true, Sync: true},
		Open: func(*engines.Worker, any) (engines.Engine, error) {
			p.policy, p.nodes, _ = sys.MemPolicyNow()
			p.cpus, _ = sys.Affinity()
			return nil, errors.New("seen enough")
		}}
}

func TestNUMAPlacement(t *testing.T) {
	needNUMA(t)
	cpus, err := sysfs.FS{}.NodeCPUs(0)
	if err != nil {
		t.Skip("no node 0:", err)
	}
	for _, c := range []struct {
		options string
		policy  sys.MemPolicy
		nodes   []int
	}{
		{"", sys.MemDefault, nil},
		{"numa_mem_policy=bind:0", sys.MemBind, []int{0}},
		{"numa_mem_policy=prefer:0", sys.MemPreferred, []int{0}},
		{"numa_mem_policy=interleave:0", sys.MemInterleave, []int{0}},
		{"numa_mem_policy=local", sys.MemLocal, nil},
		{"numa_mem_policy=default", sys.MemDefault, nil},
	} {
		for _, mode := range []string{"inline", "offload"} { // in the latter the threads that do the I/O open the engine
			var got placement
			newRig(asker(&got)).run(t, "[a]\nioengine=asker\nsize=4k\nnuma_cpu_nodes=0\nio_submit_mode="+mode+"\n"+c.options+"\n")
			if got.policy != c.policy || !slices.Equal(got.nodes, c.nodes) {
				t.Errorf("%s %q: policy %d, nodes %v", mode, c.options, got.policy, got.nodes)
			}
			for _, cpu := range got.cpus {
				if !slices.Contains(cpus, cpu) {
					t.Errorf("%s %q: CPU %d is not of node 0", mode, c.options, cpu)
				}
			}
		}
	}
	for _, options := range []string{"numa_cpu_nodes=1000", "numa_mem_policy=bind:1000", "numa_mem_policy=prefer:1000"} {
		g := newRig()
		if j := g.one(t, "[a]\nioengine=null\nsize=4k\n"+options+"\n"); j.Error == 0 || !strings.Contains(g.said(), "node 1000 is not there") {
			t.Errorf("%s: error %d: %s", options, j.Error, g.said())
		}
	}
}

// TestAutoNUMAWithoutANode runs jobs whose device is near to no node: that is said, and they run.
func TestAutoNUMAWithoutANode(t *testing.T) {
	for text, want := range map[string]string{
		"ioengine=null\nsize=4k":                "auto_numa=1: the job has no device",
		"filename=/dev/null\nsize=4k\nrw=write": "/dev/null is near to no NUMA node",
	} {
		res := newRig().run(t, "[a]\nauto_numa=1\n"+text+"\n")
		if said := strings.Join(res.Warnings, "\n"); res.Jobs[0].Error != 0 || !strings.Contains(said, want) {
			t.Errorf("%q: error %d: %s", text, res.Jobs[0].Error, said)
		}
	}
}

// TestNodeOfAFile asks for files of a machine that has none of the devices.
func TestNodeOfAFile(t *testing.T) {
	fake := sysfs.FS{Root: t.TempDir()}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".none", "/dev/null"} {
		if n, err := nodeOf(fake, name); n != sysfs.NoNode || err != nil {
			t.Errorf("%s: node %d, %v", name, n, err)
		}
	}
	if _, err := nodeOf(fake, filepath.Join(path, "below", "a", "file")); err == nil {
		t.Error("a path through a file has a node")
	}
}
