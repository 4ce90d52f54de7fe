package nvme

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fiord/test/nvme/plan"
)

// guardError is the drive's answer to a guard that does not fit, as the error number of the job.
const guardError = 0x282

// protection runs with protection information of all formats there are, with every combination of the ways to send
// commands: made and checked by the host, made by the drive, and with a guard that was not made.
func (s *suite) protection() {
	const size, blocks = 256 << 10, 32
	for _, f := range []struct {
		name      string
		drive     int
		bs        uint64
		data      uint64 // of a block size where the drive makes the information
		host      []string
		wantBytes int
	}{
		{"separate", separate, 8192, 8192, []string{"--md_per_io_size=16"}, 16},
		{"extended", extended, 8208, 8192, nil, 0},
		{"64-bit guard", guard64, 8192, 8192, []string{"--md_per_io_size=32"}, 32},
	} {
		host := slices.Concat(f.host, []string{fmt.Sprint("--bs=", f.bs), fmt.Sprint("--size=", blocks*f.bs), "--pi_act=0"})
		all := "--pi_chk=GUARD,APPTAG,REFTAG"
		jobs := slices.Concat(
			[]string{"--name=drive's", fmt.Sprint("--bs=", f.data), fmt.Sprint("--size=", size), "--pi_act=1", "--md_per_io_size=32",
				"--rw=randwrite", "--verify=crc32c"},
			[]string{"--name=write", all, "--rw=randwrite"}, host,
			[]string{"--name=read", all, "--rw=randread"}, host,
			[]string{"--name=unguarded", "--pi_chk=APPTAG,REFTAG", "--rw=write"}, host,
			[]string{"--name=caught", all, "--rw=read"}, host,
		)
		for _, way := range ways() {
			s.fiord(strings.TrimSpace("protected, "+f.name+" "+strings.Join(way, " ")), f.drive, func(t *testing.T, r plan.Result) {
				says("end-to-end guard check error (sct=0x02; sc=0x82)")(t, r)
				if r.Exit != 1 {
					t.Errorf("exit %d, want 1 failed job", r.Exit)
				}
				rep := parse(t, r)
				for name, want := range map[string]counts{"drive's": {blocks, blocks, 0, 0}, "write": {writes: blocks},
					"read": {reads: blocks}, "unguarded": {writes: blocks}} {
					j := rep.job(t, name)
					if got := (counts{j.Read.IOs, j.Write.IOs, j.Trim.IOs, j.Sync.IOs}); got != want || j.Error != 0 {
						t.Errorf("%s: %+v, want %+v; error %#x", name, got, want, j.Error)
					}
					bs := f.bs
					if name == "drive's" {
						bs = f.data
					}
					checkBytes(t, j, bs)
				}
				if j := rep.job(t, "caught"); j.Error != guardError || j.Read.Bytes != 0 || j.Read.IOs > 8 {
					t.Errorf("error %#x, want %#x; %d reads and %d bytes, want none that succeeded", j.Error, guardError, j.Read.IOs, j.Read.Bytes)
				}
			}, append([]string{"--iodepth=8"}, append(way, jobs...)...)...)
		}
		args := append([]string{all, "--iodepth=8"}, host...)
		s.fiord("wrong tag, "+f.name, f.drive, says("end-to-end application tag check error (sct=0x02; sc=0x83"),
			append(args, "--name=w", "--rw=write", "--name=r", "--rw=read", "--apptag=0x99")...)
		s.fiord("any tag, "+f.name, f.drive, fine, append(args, "--pi_chk=GUARD,REFTAG", "--apptag=0x99", "--name=w", "--rw=write",
			"--name=r", "--rw=read", "--apptag=0x77")...)
	}
	s.fiord("room for metadata", separate, says("32 bytes are needed"), "--pi_act=0", "--md_per_io_size=16", "--bs=16k", "--size=1m",
		"--name=r", "--rw=read")
	s.fiord("data sizes of extended blocks", extended, says("did you mean bs=8208?"), "--pi_act=0", "--bs=8k", "--size=1m",
		"--name=r", "--rw=read")
}
