package nvme

import (
	"os"
	"testing"
	"time"

	"fiord/test/nvme/plan"
)

// The drives of the first machine, by their number.
const (
	plain512 = iota // blocks of 512 bytes
	separate        // protection information in separate metadata
	zoned
	plain4k  // blocks of 4 KiB
	extended // protection information in extended blocks
	guard64  // separate metadata with a 64-bit guard
	far      // near to the second NUMA node
	extended64
	separate64 // as separate and extended, with 64 bytes of metadata
)

var drives = []drive{
	plain512: {size: 1024, props: "logical_block_size=512,physical_block_size=512"},
	separate: {size: 512, props: lba4k + ",ms=8,pi=1"},
	zoned: {size: 512, props: lba4k +
		",zoned=true,zoned.zone_size=16M,zoned.zone_capacity=12M,zoned.max_open=8,zoned.max_active=12"},
	plain4k:  {size: 512, props: lba4k},
	extended: {size: 256, props: lba4k + ",ms=8,pi=1,mset=1"},
	guard64:  {size: 256, props: lba4k + ",ms=16,pi=1,pif=2"},
	far:      {size: 64, props: lba4k, node: 1},

	extended64: {size: 64, props: lba4k + ",ms=64,pi=1,mset=1"},
	separate64: {size: 64, props: lba4k + ",ms=64,pi=1"},
}

// refusals are jobs that must not start.
func (s *suite) refusals() {
	read := []string{"--name=r", "--rw=read", "--size=2m"}
	s.fiord("direct", plain512, says("direct=1"), append(read, "--direct=1")...)
	s.fiord("less than a block", plain4k, says("multiple of the drive's 4096 bytes"), append(read, "--bs=512")...)
	s.fiord("too long", plain4k, says("(MDTS)"), append(read, "--bs=1m")...)
	s.fiord("inside a block", plain4k, says("offset 512"), append(read, "--bs=4k", "--offset=512")...)
	s.fiord("no verify command", plain512, says("no verify command"), "--name=w", "--rw=write", "--size=2m", "--write_mode=verify")
	s.fiord("no data placement", plain512, says("no flexible data placement"), "--name=w", "--rw=write", "--bs=4k", "--size=2m", "--dataplacement=fdp")
	s.fiord("no streams", plain512, says("no streams"), "--name=w", "--rw=write", "--bs=4k", "--size=2m", "--dataplacement=streams", "--plids=1")
	s.on("block device", "io_uring_cmd", "/dev/nvme0n1", says("/dev/ng0n1"), read...)
	s.on("no drive", "io_uring_cmd", "/dev/null", says("not an NVMe namespace"), read...)
}

// near places jobs on the NUMA node of their drive.
func (s *suite) near() {
	args := []string{"--own-keys", "--bs=4k", "--size=1m", "--iodepth=8", "--auto_numa=1", "--name=r", "--rw=randread"}
	on := func(text string) func(*testing.T, plan.Result) {
		return func(t *testing.T, r plan.Result) {
			fine(t, r)
			if !contains(r, text) {
				t.Errorf("nothing says %q\n%s%s", text, tail([]byte(r.Stdout)), r.Stderr)
			}
		}
	}
	s.fiord("on the drive's node", far, on("numa_node_1"), args...)
	s.block("on the drive's node, block layer", far, "io_uring", on("numa_node_1"), args...)
	s.fiord("a drive without a node", plain512, on("near to no NUMA node"), args...)
}

// beside are devices without NVMe, and the tests of the ring.
func (s *suite) beside(t *testing.T) {
	abi, err := os.ReadFile("../../engines/uring/ring/testdata/abi.golden")
	if err != nil {
		t.Fatal(err)
	}
	s.file("/ring/testdata/abi.golden", string(abi))
	s.programs["ring.test"] = build(t, "./engines/uring/ring", true)
	s.add("ring", 120, fine, "/bin/ring.test", "-test.short").Dir = "/ring"
	s.add("null_blk, polled", 60, fine, "/bin/fiord", "--name=n", "--filename=/dev/nullb0", "--ioengine=io_uring", "--direct=1", "--hipri",
		"--fixedbufs", "--registerfiles", "--rw=randrw", "--bs=4k", "--size=4m", "--iodepth=16", "--iodepth_batch=8",
		"--iodepth_batch_complete_min=8")
	s.add("null_blk, stored", 60, fine, "/bin/fiord", "--name=n", "--filename=/dev/nullb1", "--ioengine=io_uring", "--direct=1",
		"--rw=randwrite", "--bs=4k", "--size=4m", "--iodepth=16", "--verify=crc32c")
}

// TestDrives has drives that work.
func TestDrives(t *testing.T) {
	need(t)
	s := newSuite(t, drives)
	s.matrix()
	s.ring()
	s.across(t, theFio(t))
	s.protection()
	s.verifying()
	s.refusals()
	s.waits()
	s.near()
	s.peak()
	s.jobFiles(t)
	s.manual(t)
	s.beside(t)
	s.run(t, 25*time.Minute)
}

// TestZones has drives with zones.
func TestZones(t *testing.T) {
	need(t)
	s := newSuite(t, drives)
	s.zones(t, theFio(t))
	s.run(t, 15*time.Minute)
}
