package nvme

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fiord/test/nvme/plan"
)

// zones runs jobs with zonemode=zbd on the zoned drive, as commands and through the block layer, and on a zoned null_blk.
// fio is another program to read what fiord has written, and the other way round.
func (s *suite) zones(t *testing.T, fio string) {
	t.Helper()
	s.programs["zones"] = build(t, "./test/nvme/zones", false)
	s.programs["fio"] = fio
	devices := []struct {
		name, engine, file, block string
		capacity                  int // MiB of a zone of 16 MiB
		more                      []string
	}{
		{"commands", "io_uring_cmd", fmt.Sprintf("/dev/ng%dn1", zoned), fmt.Sprintf("/dev/nvme%dn1", zoned), 12, nil},
		{"block layer", "io_uring", fmt.Sprintf("/dev/nvme%dn1", zoned), fmt.Sprintf("/dev/nvme%dn1", zoned), 12, []string{"--direct=1"}},
		{"null_blk", "libaio", "/dev/nullb2", "/dev/nullb2", 16, []string{"--direct=1"}},
	}
	for _, d := range devices {
		zone := d.capacity << 20
		on := func(name string, test func(*testing.T, plan.Result), args ...string) {
			all := append(slices.Clone(d.more), "--zonemode=zbd", "--offset=2z", "--bs=128k", "--iodepth=4")
			s.on(d.name+": "+name, d.engine, d.file, test, append(all, args...)...)
		}
		empty := func(when string) { s.add(d.name+": empty "+when, 30, fine, "/bin/zones", "-reset", d.block) }
		state := func(when string, want ...string) {
			s.add(d.name+": zones after "+when, 30, areZones(want), "/bin/zones", d.block)
		}
		empty("first")
		on("write", fine, "--size=6z", "--io_size=30m", "--iodepth=1", "--name=w", "--rw=write")
		state("write", full(2, zone), fmt.Sprintf("3 %d", min(zone, 30<<20-zone)), fmt.Sprintf("4 %d", max(0, 30<<20-2*zone)))
		on("read back", reads("r", uint64(30<<20)), "--size=6z", "--name=r", "--rw=read")
		on("trim", fine, "--size=6z", "--bs=16m", "--name=t", "--rw=trim", "--iodepth=1")
		state("trim")
		on("odd blocks", fine, "--size=2z", "--bs=60k", "--io_size=14m", "--iodepth=1", "--name=o", "--rw=write")
		empty("second")
		on("verified", fine, "--size=2z", "--verify=crc32c", "--name=seq", "--rw=write", "--name=rand", "--rw=randwrite")
		on("few open zones", fine, "--size=8z", "--io_size=24m", "--max_open_zones=3", "--job_max_open_zones=2", "--numjobs=2",
			"--name=w", "--rw=randwrite")
		on("resets", resets, "--size=2z", "--io_size=40m", "--zone_reset_threshold=.5", "--zone_reset_frequency=.1", "--name=z", "--rw=randwrite")
		on("too many open zones", says("max_open_zones=99"), "--size=2z", "--max_open_zones=99", "--name=w", "--rw=write")
		on("trim of less than a zone", says("that of a zone"), "--size=2z", "--name=t", "--rw=trim")
		empty("third")
		pattern := []string{"--verify=pattern", "--verify_pattern=0x5eed", "--size=2z", "--do_verify=0"}
		theirs := append([]string{"/bin/fio", "--name=x", "--ioengine=" + d.engine, "--filename=" + d.file, "--zonemode=zbd",
			"--offset=32m", "--bs=128k", "--iodepth=1"}, d.more...)
		theirs = append(theirs, "--verify=pattern", "--verify_pattern=0x5eed", "--size=32m")
		on("write for fio", fine, append(pattern, "--name=w", "--rw=randwrite")...)
		s.add(d.name+": fio reads ours", 60, fine, append(slices.Clone(theirs), "--rw=read")...)
		empty("fourth")
		s.add(d.name+": fio writes", 60, fine, append(slices.Clone(theirs), "--rw=write", "--do_verify=0")...)
		on("read fio's", reads("r", 32<<20), append(pattern[:3:3], "--name=r", "--rw=read")...)
	}
	s.on("buffered writes to zones", "psync", "/dev/nullb2", says("direct=1"), "--zonemode=zbd", "--bs=128k", "--size=4z", "--name=w", "--rw=write")
	s.appends()
}

// appends writes in order and by zone append, in each way to send commands, and verifies both.
func (s *suite) appends() {
	for _, way := range ways() {
		args := append([]string{"--zonemode=zbd", "--bs=64k", "--iodepth=8", "--size=1z", "--io_size=2m", "--verify=crc32c"}, way...)
		args = append(args, "--name=write", "--rw=write", "--offset=2z", "--name=append", "--rw=write", "--offset=4z", "--write_mode=zone_append")
		s.fiord("zones "+strings.Join(way, ""), zoned, func(t *testing.T, r plan.Result) {
			fine(t, r)
			for _, name := range []string{"write", "append"} {
				if j := parse(t, r).job(t, name); j.Error != 0 || j.Write.Bytes != 2<<20 || j.Read.Bytes != 2<<20 {
					t.Errorf("%s: error %d, %d bytes written, %d read back", name, j.Error, j.Write.Bytes, j.Read.Bytes)
				}
			}
		}, args...)
	}
	s.fiord("append without zones", plain4k, says("has no zones"), "--zonemode=zbd", "--zonesize=16m", "--bs=64k", "--size=32m",
		"--write_mode=zone_append", "--name=w", "--rw=write")
	s.fiord("append without zonemode", zoned, says("zonemode=zbd"), "--bs=64k", "--size=32m", "--write_mode=zone_append", "--name=w", "--rw=write")
}

// full is what the zones program says of a full zone.
func full(zone, bytes int) string { return fmt.Sprintf("%d fu %d", zone, bytes) }

// areZones wants these zones to hold something and no others; a state may be left out.
func areZones(want []string) func(*testing.T, plan.Result) {
	return func(t *testing.T, r plan.Result) {
		t.Helper()
		fine(t, r)
		var got []string
		for line := range strings.Lines(r.Stdout) {
			if !strings.Contains(line, " em ") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		var wanted []string
		for _, w := range want {
			if !strings.HasSuffix(w, " 0") {
				wanted = append(wanted, w)
			}
		}
		same := len(got) == len(wanted)
		for i := 0; same && i < len(got); i++ {
			f := strings.Fields(got[i])
			same = got[i] == wanted[i] || len(f) == 3 && f[0]+" "+f[2] == wanted[i]
		}
		if !same {
			t.Errorf("zones are %q, want %q", got, wanted)
		}
	}
}

// reads wants so many bytes to be read by a job.
func reads(name string, bytes uint64) func(*testing.T, plan.Result) {
	return func(t *testing.T, r plan.Result) {
		t.Helper()
		fine(t, r)
		if j := parse(t, r).job(t, name); j.Read.Bytes != bytes {
			t.Errorf("%d bytes read, want %d", j.Read.Bytes, bytes)
		}
	}
}

// resets wants zones to have been reset while they were written.
func resets(t *testing.T, r plan.Result) {
	t.Helper()
	fine(t, r)
	if !strings.Contains(r.Stdout, `"zone_resets" : `) || strings.Contains(r.Stdout, `"zone_resets" : 0`) {
		t.Errorf("no zone was reset\n%s", tail([]byte(r.Stdout)))
	}
}
