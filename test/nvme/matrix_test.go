package nvme

import (
	"fmt"
	"strings"
	"testing"

	"fiord/test/nvme/plan"
)

// ways are all combinations of the ways to send commands.
func ways() [][]string {
	var all [][]string
	for i := range 16 {
		var args []string
		for bit, name := range []string{"fixedbufs", "registerfiles", "hipri", "sqthread_poll"} {
			if i>>bit&1 == 1 {
				args = append(args, "--"+name)
			}
		}
		all = append(all, args)
	}
	return all
}

// counts are I/Os that a job has to report; those of mixed jobs are reads and writes together.
type counts struct{ reads, writes, trims, syncs uint64 }

// done wants success, and of each job the counts, and the bytes that belong to them at a block size of bs.
func done(bs uint64, want map[string]counts) func(*testing.T, plan.Result) {
	return func(t *testing.T, r plan.Result) {
		t.Helper()
		fine(t, r)
		rep := parse(t, r)
		if len(rep.Jobs) != len(want) {
			t.Errorf("%d jobs in the report, want %d", len(rep.Jobs), len(want))
		}
		for name, w := range want {
			j := rep.job(t, name)
			got := counts{j.Read.IOs, j.Write.IOs, j.Trim.IOs, j.Sync.IOs}
			if strings.HasPrefix(name, "mixed") {
				got = counts{reads: got.reads + got.writes}
			}
			if got != w || j.Error != 0 {
				t.Errorf("%s: %+v, want %+v; error %d", name, got, w, j.Error)
			}
			checkBytes(t, j, bs)
		}
	}
}

// checkBytes wants as many bytes as belong to the I/Os.
func checkBytes(t *testing.T, j jobReport, bs uint64) {
	t.Helper()
	for _, d := range []direction{j.Read, j.Write, j.Trim} {
		if d.Bytes != d.IOs*bs {
			t.Errorf("%s: %d I/Os of %d bytes and %d bytes in all", j.Name, d.IOs, bs, d.Bytes)
		}
	}
}

// matrix runs all kinds of work with every combination of the ways to send commands.
func (s *suite) matrix() {
	const blocks = 64
	jobs := []string{
		"--name=write", "--rw=randwrite", "--verify=crc32c",
		"--name=read", "--rw=randread",
		"--name=mixed", "--rw=randrw",
		"--name=mixed-verify", "--rw=randrw", "--verify=crc32c",
		"--name=pattern", "--rw=write", "--verify=pattern", "--verify_pattern=0xfeedface",
		"--name=compare", "--rw=randwrite", "--verify=pattern", "--verify_pattern=0x5a%o", "--verify_mode=compare",
		"--name=trim", "--rw=randtrim",
		"--name=flush", "--rw=randwrite", "--fsync=4",
		"--name=zeroes", "--rw=write", "--write_mode=zeroes",
		"--name=zeroes-read", "--rw=read", "--verify=pattern", "--verify_pattern=0",
	}
	want := map[string]counts{"write": {blocks, blocks, 0, 0}, "read": {reads: blocks}, "mixed": {reads: blocks},
		"pattern": {blocks, blocks, 0, 0}, "compare": {blocks, blocks, 0, 0}, "trim": {trims: blocks}, "flush": {writes: blocks, syncs: blocks/4 - 1},
		"zeroes": {writes: blocks}, "zeroes-read": {reads: blocks}}
	for i, way := range ways() {
		drive := []int{plain512, plain4k}[i%2]
		args := append([]string{"--bs=4k", fmt.Sprint("--size=", blocks*4096), "--iodepth=16"}, way...)
		s.fiord("matrix "+strings.Join(way, " "), drive, func(t *testing.T, r plan.Result) {
			rep := parse(t, r)
			w := map[string]counts{}
			for name, c := range want {
				w[name] = c
			}
			// What was written is read back, so that all of it depends on how many of the blocks were written.
			mixed := rep.job(t, "mixed-verify")
			w["mixed-verify"] = counts{reads: blocks + mixed.Write.IOs}
			done(4096, w)(t, r)
			if n := mixed.Write.IOs; n == 0 || n >= blocks {
				t.Errorf("%d of %d blocks were written", n, blocks)
			}
		}, append(args, jobs...)...)
	}
}

// ring are jobs that depend on the ring rather than on what they send.
func (s *suite) ring() {
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
	s.fiord("features", plain512, features("iopoll", "fixed_buffers", "registered_files", "registered_ring", "defer_taskrun", "no_sqarray"),
		"--own-keys", "--bs=4k", "--size=512k", "--iodepth=8", "--hipri", "--fixedbufs", "--registerfiles", "--name=r", "--rw=randread")
	s.fiord("late layout", plain512, fine, "--bs=4k", "--size=512k", "--iodepth=8", "--create_serialize=0", "--registerfiles",
		"--name=r", "--rw=randrw")
	s.on("several drives and jobs", "io_uring_cmd", "/dev/ng0n1:/dev/ng3n1", fine, "--bs=4k", "--size=1m", "--iodepth=8",
		"--numjobs=3", "--thread", "--loops=2", "--end_fsync=1", "--name=r", "--rw=randrw")
	s.fiord("vectored", plain512, done(4096, map[string]counts{"w": {128, 128, 0, 0}, "r": {reads: 128}, "t": {trims: 128}}), "--bs=4k",
		"--size=512k", "--iodepth=8", "--nonvectored=0", "--name=w", "--rw=randwrite", "--verify=crc32c", "--name=r", "--rw=randread",
		"--name=t", "--rw=trim")
	s.fiord("batches, polled", plain512, done(4096, map[string]counts{"mixed": {reads: 256}}), "--bs=4k", "--size=1m", "--iodepth=16",
		"--iodepth_batch=8", "--iodepth_batch_complete_min=8", "--hipri", "--name=mixed", "--rw=randrw")
}

// waits are the ways to wait that Linux 6.12 has.
func (s *suite) waits() {
	args := []string{"--bs=4k", "--size=1m", "--iodepth=16", "--iodepth_batch_complete_min=8"}
	for _, set := range []string{"defer_taskrun=1", "defer_taskrun=0", "single_issuer=0", "coop_taskrun=1", "no_sqarray=1", "no_sqarray=0",
		"register_ring=0", "min_wait=200", "wait_timeout=500", "force_async=3"} {
		s.fiord(set, plain512, done(4096, map[string]counts{"mixed": {reads: 256}}), append(args[:len(args):len(args)], "--"+set,
			"--name=mixed", "--rw=randrw")...)
	}
	s.fiord("registered_wait=1", plain512, func(t *testing.T, r plan.Result) {
		if r.Exit != 0 {
			says("6.13")(t, r) // or the kernel has it
		}
	}, append(args[:len(args):len(args)], "--registered_wait=1", "--name=r", "--rw=randread")...)
}
