package main

import "strings"

// A measure is what two programs are compared by.
type measure string

const (
	byIOPS   measure = "IOPS"
	byCPU    measure = "CPU ns per I/O"    // of the whole process
	byWall   measure = "wall ms"           // of the whole process
	byMemory measure = "peak memory MiB"   // of the whole process
	byMedian measure = "clat p50 ns"       // of all jobs, the mean of theirs
	by99     measure = "clat p99 ns"       // the same
	bySecond measure = "median IOPS of 1s" // fiord peak and t/io_uring
)

// higherIsBetter tells which way the ratio goes: it is always above 1 where fiord is the better one.
func (m measure) higherIsBetter() bool { return m == byIOPS || m == bySecond }

// A place is what a case works on.
type place string

const (
	nothing place = ""
	disk    place = "disk"  // a file in the temporary directory
	memory  place = "tmpfs" // a file in memory
	loop    place = "loop"  // a loop device over a file in memory; needs root
)

// A bench case is the same work for both programs. FILE in the options is the file or device of the place.
type benchCase struct {
	name    string
	on      place
	options string
	theirs  string    // options of fio where they are others
	by      []measure // the default is IOPS
	cores   int       // how many CPUs the programs have; default 1
	fixed   bool      // the work is fixed: no run time is added
}

const (
	batch16 = "--iodepth=32 --iodepth_batch=16 --iodepth_batch_complete_min=16"
	random  = "--rw=randread --norandommap --size=1g"
	devNull = "--rw=randwrite --norandommap --bs=512 --size=1g --filename=/dev/null --filesize=1g --iodepth=128 " +
		"--iodepth_batch=32 --iodepth_batch_complete_min=32"
	ring    = "--ioengine=io_uring --registerfiles --nonvectored=1 "
	warm    = "--invalidate=0 " // what an earlier run has read stays in the cache
	inCache = "--filename=FILE --bs=4k --size=64m --norandommap "
	direct  = "--filename=FILE --bs=4k --size=64m --direct=1 --norandommap --rw=randread "
	checked = "--ioengine=psync --filename=FILE --bs=4k --size=64m --rw=write --verify=crc32c --verify_state_save=0 "
	small   = "--ioengine=null --rw=read --bs=4k --size=4k --group_reporting"
)

// cases are in the order of the table.
var cases = []benchCase{
	{name: "null, QD 1, norandommap", options: "--ioengine=null " + random},
	{name: "null, QD 1, with map", options: "--ioengine=null --rw=randread --size=1g"},
	{name: "null, QD 32, batches of 16", options: "--ioengine=null " + random + " " + batch16},
	{name: "null, QD 1, zipf", options: "--ioengine=null " + random + " --random_distribution=zipf:1.1"},
	{name: "null, QD 1, logs on", options: "--ioengine=null " + random + " --log_avg_msec=100 --write_lat_log=FILE --write_iops_log=FILE", on: memory},
	{name: "null, 8 jobs on 2 cores", options: "--ioengine=null " + random + " --numjobs=8 --group_reporting", cores: 2},

	{name: "io_uring /dev/null, 512 B, QD 128, batches of 32", options: ring + devNull},
	{name: "io_uring /dev/null, fixedbufs", options: ring + devNull + " --fixedbufs"},
	{name: "io_uring_cmd cmd_type=null against io_uring",
		options: "--ioengine=io_uring_cmd --cmd_type=null --registerfiles " + devNull, theirs: ring + devNull},

	{name: "page cache tmpfs, psync randread", on: memory, options: inCache + "--ioengine=psync --rw=randread"},
	{name: "page cache tmpfs, psync randwrite", on: memory, options: inCache + "--ioengine=psync --rw=randwrite"},
	{name: "page cache tmpfs, io_uring QD 32 randread", on: memory, options: inCache + ring + "--rw=randread " + batch16},
	{name: "page cache tmpfs, io_uring QD 32 randread, one by one", on: memory, options: inCache + ring + "--rw=randread --iodepth=32"},
	{name: "page cache disk, psync randread", on: disk, options: inCache + warm + "--ioengine=psync --rw=randread"},
	{name: "page cache disk, io_uring QD 32 randread", on: disk, options: inCache + warm + ring + "--rw=randread " + batch16},
	{name: "page cache disk, io_uring QD 32 randread, one by one", on: disk, options: inCache + warm + ring + "--rw=randread --iodepth=32"},
	{name: "page cache disk, io_uring QD 32 randwrite", on: disk, options: inCache + warm + ring + "--rw=randwrite " + batch16},

	{name: "O_DIRECT loop, io_uring QD 1", on: loop, options: direct + ring, by: []measure{byIOPS, byCPU}, cores: 2},
	{name: "O_DIRECT loop, io_uring QD 32", on: loop, options: direct + ring + batch16, by: []measure{byIOPS, byCPU}, cores: 2},
	{name: "O_DIRECT loop, io_uring QD 32, one by one", on: loop, options: direct + ring + "--iodepth=32", by: []measure{byIOPS, byCPU}, cores: 2},

	{name: "verified writes, crc32c", on: memory, options: checked + "--do_verify=0"},
	{name: "writes and checked reads, crc32c", on: memory, options: checked + "--verify_backlog=1024"},
	{name: "write and verify pass, crc32c", on: memory, options: checked + "--loops=8", fixed: true, by: []measure{byWall}},

	{name: "rate_iops=10000", on: memory, options: inCache + "--ioengine=psync --rw=randread --rate_iops=10000", by: []measure{byCPU}},

	{name: "1 job of one I/O", options: small, fixed: true, by: []measure{byWall, byMemory}},
	{name: "16 jobs of one I/O", options: small + " --numjobs=16", fixed: true, by: []measure{byWall, byMemory}},
	{name: "256 jobs of one I/O", options: small + " --numjobs=256", fixed: true, by: []measure{byWall, byMemory}},
	{name: "1024 jobs of one I/O", options: small + " --numjobs=1024", fixed: true, by: []measure{byWall, byMemory}, cores: 2},

	{name: "perturbation: O_DIRECT disk QD 1, psync", on: disk, options: direct + "--ioengine=psync", by: []measure{byMedian, by99}, cores: 2},
	{name: "perturbation: O_DIRECT disk QD 1, io_uring", on: disk, options: direct + ring, by: []measure{byMedian, by99}, cores: 2},
	{name: "perturbation: O_DIRECT disk QD 1, psync, 8 jobs", on: disk, options: direct + "--ioengine=psync --numjobs=8", by: []measure{byMedian, by99}, cores: 2},
	{name: "perturbation: O_DIRECT disk QD 1, io_uring, 8 jobs", on: disk, options: direct + ring + "--numjobs=8", by: []measure{byMedian, by99}, cores: 2},
}

// peakCases compare fiord peak with t/io_uring; both take the same flags. Reads of tmpfs are done by threads of the kernel,
// so those of a disk say more about the programs.
var peakCases = []benchCase{
	{name: "peak, no-ops", on: memory, options: "-d128 -s32 -c32 -p0 -B0 -F1 -N1 -O0 -n1 -r4 FILE"},
	{name: "peak, page cache 4 KiB", on: memory, options: "-d128 -s32 -c32 -b4096 -p0 -B1 -F1 -O0 -n1 -r4 FILE"},
	{name: "peak, page cache 512 B", on: memory, options: "-d128 -s32 -c32 -b512 -p0 -B1 -F1 -O0 -n1 -r4 FILE"},
	{name: "peak, page cache disk 4 KiB", on: disk, options: "-d128 -s32 -c32 -b4096 -p0 -B1 -F1 -O0 -n1 -r4 FILE"},
	{name: "peak, page cache disk 512 B", on: disk, options: "-d128 -s32 -c32 -b512 -p0 -B1 -F1 -O0 -n1 -r4 FILE"},
}

// measures are what the case is compared by.
func (c *benchCase) measures() []measure {
	if len(c.by) == 0 {
		return []measure{byIOPS}
	}
	return c.by
}

// args are the options of the case for one of the programs, on file.
func (c *benchCase) args(fio bool, file string) []string {
	options := c.options
	if fio && c.theirs != "" {
		options = c.theirs
	}
	return strings.Fields(strings.ReplaceAll(options, "FILE", file))
}
