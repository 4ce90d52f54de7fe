package nvme

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"fiord/test/nvme/plan"
)

// check is what a step's result has to be.
type check struct {
	step string
	test func(*testing.T, plan.Result)
}

// suite is a machine and what is expected of its steps.
type suite struct {
	machine
	checks []check
}

func (s *suite) add(name string, limitS int, test func(*testing.T, plan.Result), args ...string) *plan.Step {
	s.checks = append(s.checks, check{name, test})
	return s.step(name, limitS, args...)
}

// fiord adds a run of fiord on a drive.
func (s *suite) fiord(name string, drive int, test func(*testing.T, plan.Result), args ...string) *plan.Step {
	all := append([]string{"/bin/fiord", "--output-format=json", "--name=global", "--ioengine=io_uring_cmd",
		fmt.Sprintf("--filename=/dev/ng%dn1", drive), "--stonewall"}, args...)
	return s.add(name, 30, test, all...)
}

// report is what the tests look at in fiord's JSON.
type report struct {
	Jobs []struct {
		Name              string `json:"jobname"`
		Error             int    `json:"error"`
		Read, Write, Trim struct {
			IOs   uint64 `json:"total_ios"`
			Bytes uint64 `json:"io_bytes"`
		}
		Sync struct {
			IOs uint64 `json:"total_ios"`
		}
	}
}

func parse(t *testing.T, r plan.Result) report {
	t.Helper()
	var rep report
	at := strings.IndexByte(r.Stdout, '{')
	if at < 0 {
		t.Fatalf("no JSON: exit %d, %v\n%s%s", r.Exit, r.Errors, r.Stdout, r.Stderr)
	}
	if err := json.NewDecoder(strings.NewReader(r.Stdout[at:])).Decode(&rep); err != nil {
		t.Fatalf("%v\n%s", err, r.Stdout)
	}
	return rep
}

// fine wants success.
func fine(t *testing.T, r plan.Result) {
	t.Helper()
	if r.Exit != 0 || len(r.Errors) > 0 || strings.Contains(r.Stderr, "panic") {
		t.Errorf("exit %d, %v\n%s%s", r.Exit, r.Errors, tail([]byte(r.Stdout)), r.Stderr)
	}
}

// says wants failure, with a text in what was printed.
func says(text string) func(*testing.T, plan.Result) {
	return func(t *testing.T, r plan.Result) {
		t.Helper()
		if r.Exit == 0 || r.Exit == -1 || !strings.Contains(r.Stdout+r.Stderr, text) {
			t.Errorf("exit %d, want a failure that says %q\n%s%s", r.Exit, text, tail([]byte(r.Stdout)), r.Stderr)
		}
	}
}

// ends wants an end, good or bad, without a panic.
func ends(t *testing.T, r plan.Result) {
	t.Helper()
	if r.Exit == -1 || len(r.Errors) > 0 || strings.Contains(r.Stderr, "panic:") || strings.Contains(r.Stderr, "SIGSEGV") {
		t.Errorf("exit %d after %d ms, %v\n%s", r.Exit, r.Millis, r.Errors, r.Stderr)
	}
	parse(t, r)
}

// matrix runs all kinds of work with every combination of the ways to send commands.
func (s *suite) matrix() {
	jobs := []string{
		"--name=write", "--rw=randwrite", "--verify=crc32c",
		"--name=read", "--rw=randread",
		"--name=mixed", "--rw=randrw",
		"--name=pattern", "--rw=write", "--verify=pattern", "--verify_pattern=0xfeedface",
		"--name=trim", "--rw=randtrim",
		"--name=flush", "--rw=randwrite", "--fsync=4",
		"--name=zeroes", "--rw=write", "--write_mode=zeroes",
	}
	const blocks = 128
	for i := range 16 {
		var args []string
		for bit, name := range []string{"fixedbufs", "registerfiles", "hipri", "sqthread_poll"} {
			if i>>bit&1 == 1 {
				args = append(args, "--"+name)
			}
		}
		name := "matrix" + strings.Join(args, "")
		drive := []int{0, 3}[i%2]
		args = append([]string{"--bs=4k", fmt.Sprint("--size=", blocks*4096), "--iodepth=16"}, args...)
		s.fiord(name, drive, func(t *testing.T, r plan.Result) {
			fine(t, r)
			for _, j := range parse(t, r).Jobs {
				want := map[string][4]uint64{"write": {blocks, blocks, 0, 0}, "read": {blocks, 0, 0, 0}, "pattern": {blocks, blocks, 0, 0},
					"trim": {0, 0, blocks, 0}, "flush": {0, blocks, 0, blocks/4 - 1}, "zeroes": {0, blocks, 0, 0}}[j.Name]
				got := [4]uint64{j.Read.IOs, j.Write.IOs, j.Trim.IOs, j.Sync.IOs}
				if j.Name == "mixed" {
					want, got = [4]uint64{blocks}, [4]uint64{got[0] + got[1]}
				}
				if got != want || j.Error != 0 {
					t.Errorf("%s: reads, writes, trims, syncs are %v, want %v; error %d", j.Name, got, want, j.Error)
				}
			}
		}, append(args, jobs...)...)
	}
	features := func(names ...string) func(*testing.T, plan.Result) {
		return func(t *testing.T, r plan.Result) {
			fine(t, r)
			for _, n := range names {
				if !strings.Contains(r.Stdout, `"`+n+`"`) {
					t.Errorf("the report does not say that %s was on", n)
				}
			}
		}
	}
	s.fiord("features", 0, features("iopoll", "fixed_buffers", "registered_files", "registered_ring", "defer_taskrun", "no_sqarray"),
		"--own-keys", "--bs=4k", "--size=512k", "--iodepth=8", "--hipri", "--fixedbufs", "--registerfiles", "--name=r", "--rw=randread")
	s.fiord("late layout", 0, fine, "--bs=4k", "--size=512k", "--iodepth=8", "--create_serialize=0", "--registerfiles", "--name=r", "--rw=randrw")
	s.fiord("several drives and jobs", 0, fine, "--filename=/dev/ng0n1:/dev/ng3n1", "--bs=4k", "--size=1m", "--iodepth=8", "--numjobs=3",
		"--thread", "--loops=2", "--end_fsync=1", "--name=r", "--rw=randrw")
	s.fiord("vectored", 0, fine, append([]string{"--bs=4k", "--size=512k", "--iodepth=8", "--nonvectored=0"}, jobs...)...)
	s.fiord("batches, polled", 0, fine, "--bs=4k", "--size=1m", "--iodepth=16", "--iodepth_batch=8",
		"--iodepth_batch_complete_min=8", "--hipri", "--name=a", "--rw=randrw")
}

// across has one program read what the other wrote.
func (s *suite) across() {
	fio := []string{"/bin/fio", "--name=x", "--ioengine=io_uring_cmd", "--bs=16k", "--size=2m", "--iodepth=8"}
	ours := []string{"--bs=16k", "--size=2m", "--iodepth=8", "--name=x"}
	pattern := []string{"--verify=pattern", "--verify_pattern=0xdeadbeef"}
	for _, drive := range []int{0, 3} {
		file := fmt.Sprintf("--filename=/dev/ng%dn1", drive)
		s.fiord(fmt.Sprint("write for fio ", drive), drive, fine, append(ours, "--rw=randwrite", "--do_verify=0", pattern[0], pattern[1])...)
		s.add(fmt.Sprint("fio reads ours ", drive), 30, fine, append(slices.Clone(fio), file, "--rw=read", pattern[0], pattern[1])...)
		s.fiord(fmt.Sprint("wrong pattern ", drive), drive, says("verify"), append(ours, "--rw=read", pattern[0], "--verify_pattern=0xdeadbeee")...)
		s.add(fmt.Sprint("fio writes ", drive), 30, fine, append(slices.Clone(fio), file, "--rw=randwrite", "--do_verify=0", pattern[0], "--verify_pattern=0x1234")...)
		s.fiord(fmt.Sprint("read fio's ", drive), drive, fine, append(ours, "--rw=randread", pattern[0], "--verify_pattern=0x1234")...)
	}
}

// protection runs with protection information of all formats there are.
func (s *suite) protection() {
	check := []string{"--pi_act=0", "--pi_chk=GUARD,APPTAG,REFTAG", "--size=1m", "--iodepth=8"}
	for _, c := range []struct {
		name  string
		drive int
		args  []string
	}{
		{"separate", 1, []string{"--bs=16k", "--md_per_io_size=32"}},
		{"separate, registered and polled", 1, []string{"--bs=4k", "--md_per_io_size=8", "--fixedbufs", "--registerfiles", "--hipri"}},
		{"extended", 4, []string{"--bs=8208"}},
		{"64-bit guard", 5, []string{"--bs=16k", "--md_per_io_size=64"}},
	} {
		args := append(slices.Clone(check), c.args...)
		s.fiord("protected, "+c.name, c.drive, fine, append(args, "--name=w", "--rw=randwrite", "--name=r", "--rw=randread")...)
		s.fiord("wrong tag, "+c.name, c.drive, says("end-to-end application tag check error (sct=0x02; sc=0x83"),
			append(args, "--apptag=0x99", "--name=r", "--rw=read")...)
		s.fiord("no guard, "+c.name, c.drive, fine, append(args, "--pi_chk=APPTAG,REFTAG", "--name=w", "--rw=write")...)
		s.fiord("broken guard, "+c.name, c.drive, says("guard"), append(args, "--name=r", "--rw=read")...)
	}
	for _, drive := range []int{1, 4, 5} {
		s.fiord(fmt.Sprint("drive's own protection ", drive), drive, fine, "--bs=8k", "--size=1m", "--iodepth=8", "--verify=crc32c",
			"--name=w", "--rw=randwrite")
	}
	s.fiord("room for metadata", 1, says("32 bytes are needed"), "--pi_act=0", "--md_per_io_size=16", "--bs=16k", "--size=1m", "--name=r", "--rw=read")
	s.fiord("data sizes of extended blocks", 4, says("did you mean bs=8208?"), "--pi_act=0", "--bs=8k", "--size=1m", "--name=r", "--rw=read")
}

// refusals are jobs that must not start.
func (s *suite) refusals() {
	read := []string{"--name=r", "--rw=read", "--size=2m"}
	s.fiord("direct", 0, says("direct=1"), append(read, "--direct=1")...)
	s.fiord("less than a block", 3, says("multiple of the drive's 4096 bytes"), append(read, "--bs=512")...)
	s.fiord("too long", 3, says("(MDTS)"), append(read, "--bs=1m")...)
	s.fiord("inside a block", 3, says("offset 512"), append(read, "--bs=4k", "--offset=512")...)
	s.fiord("no verify command", 0, says("no verify command"), "--name=w", "--rw=write", "--size=2m", "--write_mode=verify")
	s.fiord("block device", 0, says("/dev/ng0n1"), append(read, "--filename=/dev/nvme0n1")...)
	s.fiord("no drive", 0, says("not an NVMe namespace"), append(read, "--filename=/dev/null")...)
}

// hostile are drives and rings that fail in the middle.
func (s *suite) hostile() {
	failing := func(text string, op string) func(*testing.T, plan.Result) {
		return func(t *testing.T, r plan.Result) {
			says(text)(t, r)
			j := parse(t, r).Jobs[0]
			if j.Error == 0 || r.Exit == 0 {
				t.Errorf("error %d, exit %d of a failed %s", j.Error, r.Exit, op)
			}
		}
	}
	s.fiord("read fault", faulty, failing("unrecovered read error", "read"), "--name=r", "--rw=read", "--bs=4k", "--size=4m", "--iodepth=4")
	s.fiord("write fault", faulty, failing("write fault", "write"), "--name=w", "--rw=write", "--bs=4k", "--size=4m", "--iodepth=4")
	s.fiord("tiny completion queue", 0, fine, "--sq_entries=4", "--cq_entries=4", "--iodepth=64", "--bs=512", "--size=1m", "--name=r", "--rw=randread")
	s.fiord("tiny completion queue, polled", 0, fine, "--sq_entries=4", "--cq_entries=4", "--iodepth=64", "--bs=512", "--size=1m", "--hipri", "--name=r", "--rw=randread")
	long := []string{"--name=r", "--rw=randread", "--bs=4k", "--size=32m", "--iodepth=16", "--time_based", "--runtime=4"}
	st := s.fiord("controller reset", 3, ends, long...)
	st.Writes = []plan.Write{{AfterMs: 1500, Path: "/sys/class/nvme/nvme3/reset_controller", Text: "1"}}
	st = s.fiord("drive removed", removed, ends, long...)
	st.Writes = []plan.Write{{AfterMs: 1500, Path: "/sys/bus/pci/devices/" + pci(removed) + "/remove", Text: "1"}}
	st = s.fiord("controller reset under a submission thread", 3, ends, append(slices.Clone(long), "--sqthread_poll")...)
	st.Writes = []plan.Write{{AfterMs: 1500, Path: "/sys/class/nvme/nvme3/reset_controller", Text: "1"}}
	st = s.fiord("polled drive removed", removedPolled, ends, append(slices.Clone(long), "--hipri", "--fixedbufs")...)
	st.Writes = []plan.Write{{AfterMs: 1500, Path: "/sys/bus/pci/devices/" + pci(removedPolled) + "/remove", Text: "1"}}

	none := s.step("no more poll queues", 10)
	none.Writes = []plan.Write{
		{Path: "/sys/module/nvme/parameters/poll_queues", Text: "0"},
		{AfterMs: 300, Path: "/sys/bus/pci/drivers/nvme/unbind", Text: pci(3)},
		{AfterMs: 900, Path: "/sys/bus/pci/drivers/nvme/bind", Text: pci(3)},
		{AfterMs: 4000, Path: "/dev/null", Text: "time for the drive to appear"},
	}
	s.fiord("polling without poll queues", 3, says("no poll queues"), "--name=r", "--rw=randread", "--bs=4k", "--size=1m", "--hipri")
	s.fiord("interrupts without poll queues", 3, fine, "--name=r", "--rw=randread", "--bs=4k", "--size=1m")
}

// waits are the ways to wait that Linux 6.12 has.
func (s *suite) waits() {
	args := []string{"--bs=4k", "--size=1m", "--iodepth=16", "--iodepth_batch_complete_min=8"}
	for _, set := range []string{"defer_taskrun=1", "defer_taskrun=0", "single_issuer=0", "coop_taskrun=1", "no_sqarray=1", "no_sqarray=0",
		"register_ring=0", "min_wait=200", "wait_timeout=500", "force_async=3"} {
		s.fiord(set, 0, fine, append(slices.Clone(args), "--"+set, "--name=r", "--rw=randrw")...)
	}
	s.fiord("registered_wait=1", 0, func(t *testing.T, r plan.Result) {
		if r.Exit != 0 {
			says("6.13")(t, r) // or the kernel has it
		}
	}, append(slices.Clone(args), "--registered_wait=1", "--name=r", "--rw=randread")...)
}

func TestDrives(t *testing.T) {
	need(t)
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{machine: machine{
		programs: map[string]string{"fiord": build(t, ".", false), "fio": fio, "ring.test": build(t, "./engines/uring/ring", true)},
		params:   map[string]string{"nvme": "poll_queues=2", "null_blk": "nr_devices=0"},
	}}
	s.matrix()
	s.across()
	s.protection()
	s.refusals()
	s.waits()
	abi, err := os.ReadFile("../../engines/uring/ring/testdata/abi.golden")
	if err != nil {
		t.Fatal(err)
	}
	s.files = map[string]string{"/ring/testdata/abi.golden": string(abi)}
	s.add("ring", 120, fine, "/bin/ring.test", "-test.short").Dir = "/ring"
	s.add("null_blk, polled", 30, fine, "/bin/fiord", "--name=n", "--filename=/dev/nullb0", "--ioengine=io_uring", "--direct=1", "--hipri",
		"--fixedbufs", "--registerfiles", "--rw=randrw", "--bs=4k", "--size=4m", "--iodepth=16", "--iodepth_batch=8",
		"--iodepth_batch_complete_min=8")
	s.add("null_blk, stored", 30, fine, "/bin/fiord", "--name=n", "--filename=/dev/nullb1", "--ioengine=io_uring", "--direct=1",
		"--rw=randwrite", "--bs=4k", "--size=4m", "--iodepth=16", "--verify=crc32c")
	s.hostile()
	results := s.boot(t, 10*time.Minute)
	for _, c := range s.checks {
		t.Run(strings.ReplaceAll(c.step, "/", " "), func(t *testing.T) {
			r := results[c.step]
			c.test(t, r)
			if testing.Verbose() {
				t.Logf("%d ms", r.Millis)
			}
		})
	}
}
