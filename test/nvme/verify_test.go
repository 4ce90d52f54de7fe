package nvme

import (
	"fmt"
	"testing"

	"fiord/test/nvme/plan"
)

// verifying writes and reads back with every kind of verification, then has another engine overwrite one block of each,
// which has to be found.
func (s *suite) verifying() {
	kinds := []string{"md5", "crc64", "crc32c", "crc32c-intel", "crc32", "crc16", "crc7", "xxhash", "sha1", "sha256", "sha512",
		"sha3-224", "sha3-256", "sha3-384", "sha3-512", "meta", "pattern_hdr", "pattern"}
	const blocks, bs = 16, 4096
	sections := func(args ...string) []string {
		all := []string{"--bs=4k", fmt.Sprint("--size=", blocks*bs), "--iodepth=4"}
		for i, k := range kinds {
			all = append(all, "--name="+k, "--rw=randwrite", "--verify="+k, fmt.Sprint("--offset=", i*blocks*bs))
			if k == "pattern" || k == "pattern_hdr" {
				all = append(all, "--verify_pattern=0x5a%o")
			}
			all = append(all, args...)
		}
		return all
	}
	both, reads := map[string]counts{}, map[string]counts{}
	for _, k := range kinds {
		both[k], reads[k] = counts{blocks, blocks, 0, 0}, counts{reads: blocks}
	}
	s.fiord("every kind of verification", plain4k, done(bs, both), sections()...)
	s.fiord("what is whole", plain4k, clean(kinds), sections("--verify_only")...)

	damage := []string{"--bs=4k", "--size=4k", "--zero_buffers"}
	for i := range kinds {
		damage = append(damage, fmt.Sprint("--name=damage", i), "--rw=write", fmt.Sprint("--offset=", (i*blocks+i%blocks)*bs))
	}
	s.block("damage", plain4k, "psync", fine, damage...)
	s.fiord("what is damaged", plain4k, func(t *testing.T, r plan.Result) {
		if r.Exit != len(kinds) || crashed(r) {
			t.Errorf("exit %d, want %d failed jobs\n%s", r.Exit, len(kinds), r.Stderr)
		}
		for i, k := range kinds {
			j := parse(t, r).job(t, k)
			if j.Error != eilseq {
				t.Errorf("%s: error %d, want %d", k, j.Error, eilseq)
			}
			if at := fmt.Sprintf("offset %d", (i*blocks+i%blocks)*bs); !contains(r, at) {
				t.Errorf("%s: nothing says %q", k, at)
			}
		}
	}, sections("--verify_only")...)
	s.driveCompares()
	s.ranges()
	s.fiord("nothing is compared", plain4k, fine, "--bs=4k", "--size=64k", "--name=null", "--rw=write", "--verify=null")
}

// driveCompares has one block of some overwritten, which the drive has to find.
func (s *suite) driveCompares() {
	const blocks, bad = 16, 5
	args := []string{"--bs=4k", "--iodepth=4", "--verify=pattern", "--verify_pattern=0x11%o", "--verify_mode=compare",
		fmt.Sprint("--size=", blocks*4096), "--name=x", "--rw=randwrite"}
	s.fiord("the drive compares", plain512, done(4096, map[string]counts{"x": {blocks, blocks, 0, 0}}), args...)
	s.block("damage for the drive to find", plain512, "psync", fine, "--bs=512", "--size=512", fmt.Sprint("--offset=", bad*4096+512),
		"--name=w", "--rw=write")
	s.fiord("the drive finds damage", plain512, func(t *testing.T, r plan.Result) {
		says("compare failure")(t, r)
		if at := fmt.Sprint("offset=", bad*4096); !contains(r, at) {
			t.Errorf("nothing says %q\n%s", at, r.Stderr)
		}
		if j := parse(t, r).job(t, "x"); j.Error != compareFailure || j.Read.IOs > blocks {
			t.Errorf("error %#x, want %#x; %d comparisons of %d blocks", j.Error, compareFailure, j.Read.IOs, blocks)
		}
	}, append(args, "--verify_only")...)
}

// ranges trims blocks that hold something, several in one command, and reads zeroes then.
func (s *suite) ranges() {
	const blocks, each = 64, 8
	s.fiord("trims of several ranges", plain512, func(t *testing.T, r plan.Result) {
		fine(t, r)
		rep := parse(t, r)
		for name, want := range map[string][3]direction{
			"fill": {1: {blocks, blocks * 4096}}, "trim": {2: {blocks / each, blocks * 4096}}, "gone": {0: {blocks, blocks * 4096}},
		} {
			if j := rep.job(t, name); [3]direction{j.Read, j.Write, j.Trim} != want || j.Error != 0 {
				t.Errorf("%s: %v %v %v, want %v; error %d", name, j.Read, j.Write, j.Trim, want, j.Error)
			}
		}
	}, "--bs=4k", fmt.Sprint("--size=", blocks*4096), "--iodepth=4", "--name=fill", "--rw=write", "--name=trim", "--rw=randtrim",
		fmt.Sprint("--num_range=", each), "--name=gone", "--rw=read", "--verify=pattern", "--verify_pattern=0")
}

// compareFailure is the drive's status, as the error of a job.
const compareFailure = 0x285

// eilseq is the error of a job that found damage.
const eilseq = 84

// clean wants success of jobs that only read back.
func clean(jobs []string) func(*testing.T, plan.Result) {
	return func(t *testing.T, r plan.Result) {
		fine(t, r)
		for _, name := range jobs {
			if j := parse(t, r).job(t, name); j.Read.IOs == 0 || j.Error != 0 {
				t.Errorf("%s: %d reads, error %d", name, j.Read.IOs, j.Error)
			}
		}
	}
}
