package job

import (
	"strings"
	"testing"
)

// TestDeviceOptions checks what goes with trims of several ranges, data placement and NUMA nodes, and which options are said
// to do nothing.
func TestDeviceOptions(t *testing.T) {
	engines := []EngineDecl{{Name: "psync", Traits: Traits{Sync: true}}, {Name: "cmd", Traits: Traits{MultiRange: true, Placement: true}}}
	for _, c := range []struct{ text, want, warning string }{
		{"ioengine=cmd\nrw=randtrim\nnum_range=8", "", ""},
		{"ioengine=psync\nrw=randtrim\nnum_range=8", "trims of ioengine psync have one range", ""},
		{"ioengine=cmd\nrw=randtrimwrite\nnum_range=2", "has one range a trim", ""},
		{"ioengine=cmd\nrw=trim\nnum_range=0", "want 1 to 256", ""},
		{"ioengine=cmd\nrw=trim\nnum_range=257", "257", ""},
		{"ioengine=cmd\nrw=trim\nnum_range=2\niodepth=2\nserialize_overlap=1", "serialize_overlap", ""},
		{"ioengine=psync\nrw=read\nnum_range=2", "", "num_range=2 has no effect"},
		{"ioengine=cmd\nrw=write\ndataplacement=streams\nplids=1-3", "", ""},
		{"ioengine=cmd\nrw=write\ndataplacement=streams", "needs plids", ""},
		{"ioengine=psync\nrw=write\nfdp=1", "carry no placement identifier", ""},
		{"ioengine=cmd\nrw=write\nfdp=1\nfdp_pli=3,1\nfdp_pli_select=random", "", ""},
		{"ioengine=cmd\nrw=write\nfdp=1\ndata_placement=none", "exclude each other", ""},
		{"ioengine=cmd\nrw=write\nfdp=1\nplid_select=scheme", "needs dp_scheme", ""},
		{"ioengine=cmd\nrw=write\nfdp=1\ndp_scheme=x", "", "dp_scheme has no effect"},
		{"ioengine=cmd\nrw=read\nfdp=1", "", "the job does not write"},
		{"rw=write\nplids=1", "", "plids has no effect"},
		{"rw=randwrite\nspr_op=0.2", "", "spr_op has no effect without sprandom=1"},
		{"rw=write\nlog_compression_cpus=0", "", "log_compression_cpus has no effect without log_compression"},
		{"rw=write\nlog_compression=64k\nlog_compression_cpus=0", "", ""},
		{"rw=write\nioengine=cmd\niodepth=4\niodepth_low=2\nio_submit_mode=offload", "", "iodepth_low has no effect with io_submit_mode=offload"},
		{"rw=write\nioengine=cmd\niodepth=4\nio_submit_mode=offload", "", ""},
		{"numa_cpu_nodes=0-1\nnuma_mem_policy=prefer:0", "", ""},
		{"numa_cpu_nodes=x", "numa_cpu_nodes", ""},
		{"numa_mem_policy=bind", "numa_mem_policy", ""},
		{"auto_numa=1\nnuma_cpu_nodes=0", "exclude each other", ""},
		{"auto_numa=1\ncreate_serialize=0", "exclude each other", ""},
		{"auto_numa=1", "", ""},
	} {
		jobs, warned, err := loadText(t, &Loader{Engines: engines}, "[a]\nsize=1m\n"+c.text+"\n")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
		if got := strings.Join(warned, "\n"); c.warning == "" && got != "" || !strings.Contains(got, c.warning) {
			t.Errorf("%q: warned %q, want %q", c.text, got, c.warning)
		}
		if err == nil && strings.Contains(c.text, "fdp=1") && jobs[0].Dataplacement != "fdp" {
			t.Errorf("%q: dataplacement is %s", c.text, jobs[0].Dataplacement)
		}
	}
}
