package nvme

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// across has one program read what the other wrote.
func (s *suite) across(t *testing.T, fio string) {
	version, err := exec.Command(fio, "--version").Output()
	if err != nil {
		t.Fatalf("%s --version: %v", fio, err)
	}
	s.programs["fio"] = fio
	kinds := [][]string{{"--verify=pattern", "--verify_pattern=0xdeadbeef"}}
	wrong := []string{"--verify=pattern", "--verify_pattern=0xdeadbeee"}
	if current(string(version)) { // older headers are others
		for _, kind := range []string{"crc32c", "md5", "xxhash", "sha3-512", "crc64"} {
			kinds = append(kinds, []string{"--verify=" + kind})
		}
	}
	ours := []string{"--bs=16k", "--size=2m", "--iodepth=8", "--name=x"}
	theirs := []string{"/bin/fio", "--name=x", "--ioengine=io_uring_cmd", "--bs=16k", "--size=2m", "--iodepth=8"}
	const blocks = 2 << 20 / (16 << 10)
	wrote, read := done(16384, map[string]counts{"x": {writes: blocks}}), done(16384, map[string]counts{"x": {reads: blocks}})
	for _, drive := range []int{plain512, plain4k} {
		file := fmt.Sprintf("--filename=/dev/ng%dn1", drive)
		for _, k := range kinds {
			at := fmt.Sprintf(" %s, drive %d", strings.TrimPrefix(k[0], "--verify="), drive)
			s.fiord("fiord writes"+at, drive, wrote, slices.Concat(ours, k, []string{"--rw=randwrite", "--do_verify=0"})...)
			s.add("fio reads fiord's"+at, 60, fine, slices.Concat(theirs, k, []string{file, "--rw=randwrite", "--verify_only"})...)
			s.fiord("another pattern than"+at, drive, says("verify"), slices.Concat(ours, wrong, []string{"--rw=read"})...)
			s.add("fio writes"+at, 60, fine, slices.Concat(theirs, k, []string{file, "--rw=randwrite", "--do_verify=0", "--randseed=7"})...)
			s.fiord("fiord reads fio's"+at, drive, read, slices.Concat(ours, k, []string{"--rw=read", "--verify_header_seed=0"})...)
		}
	}
}

// current reports whether a fio that calls itself so has the verification headers of 3.42.
func current(version string) bool {
	var major, minor int
	_, err := fmt.Sscanf(version, "fio-%d.%d", &major, &minor)
	return err == nil && (major > 3 || major == 3 && minor >= 42)
}
