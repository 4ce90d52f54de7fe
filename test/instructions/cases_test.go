package instructions

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A count case is a job of a fixed number of I/Os, of which nothing depends on time. FILE in its options is a file that is not
// there yet, IOS the number.
type countCase struct {
	name      string
	options   string
	few, many int  // IOS
	mayRefuse bool // the kernel or valgrind may not let it run
}

// How many I/Os the jobs do. Runs differ by some 200000 instructions, most of them of the Go runtime looking for work; so many
// I/Os make that less than a hundredth of a cheap one. A checked write and its read cost as much as twenty of those.
const (
	few, many             = 1 << 10, 201 << 10
	fewBlocks, manyBlocks = 1 << 9, 17 << 9
)

// Options that cases share. They are those of the same cases in test/bench, but for what ends the job.
const (
	null    = "--ioengine=null --rw=randread --size=1g --number_ios=IOS"
	batch16 = " --iodepth=32 --iodepth_batch=16 --iodepth_batch_complete_min=16"
	devNull = " --filename=/dev/null --rw=randwrite --norandommap --bs=512 --size=1g --filesize=1g --number_ios=IOS" +
		" --iodepth=128 --iodepth_batch=32 --iodepth_batch_complete_min=32"
)

var cases = []countCase{
	{name: "null, QD 1, norandommap", options: null + " --norandommap", few: few, many: many},
	{name: "null, QD 1, with map", options: null, few: few, many: many},
	{name: "null, QD 32, batches of 16", options: null + " --norandommap" + batch16, few: few, many: many},
	{name: "null, QD 1, zipf", options: null + " --norandommap --random_distribution=zipf:1.1", few: few, many: many},
	{name: "psync randread", few: few, many: many,
		options: "--ioengine=psync --filename=FILE --rw=randread --norandommap --bs=4k --size=1m --io_size=1g --number_ios=IOS"},
	{name: "io_uring /dev/null, 512 B, QD 128, batches of 32", few: few, many: many, mayRefuse: true,
		options: "--ioengine=io_uring --registerfiles --nonvectored=1" + devNull},
	{name: "io_uring /dev/null, 512 B, QD 32, one by one", few: few, many: many, mayRefuse: true,
		options: "--ioengine=io_uring --registerfiles --nonvectored=1" + devNull + " --iodepth=32 --iodepth_batch=1" +
			" --iodepth_batch_complete_min=1"},
	{name: "writes and checked reads, crc32c", few: fewBlocks, many: manyBlocks,
		options: "--ioengine=psync --filename=FILE --rw=write --bs=4k --filesize=64m --number_ios=IOS" +
			" --verify=crc32c --verify_state_save=0"},
}

// perIO is the number of instructions that an I/O takes.
func (c *countCase) perIO(t *testing.T, program string) float64 {
	t.Helper()
	a, b := c.count(t, program, c.few), c.count(t, program, c.many)
	if *profiles != "" {
		if err := b.keep(*profiles, c.name); err != nil {
			t.Error(err)
		}
	}
	if b.ios-a.ios < uint64(c.many-c.few) {
		t.Fatalf("%d and %d I/Os, want %d more", a.ios, b.ios, c.many-c.few)
	}
	return float64(b.instructions-a.instructions) / float64(b.ios-a.ios)
}

// count runs the job with that many I/Os.
func (c *countCase) count(t *testing.T, program string, ios int) counted {
	t.Helper()
	dir := t.TempDir()
	options := strings.NewReplacer("FILE", filepath.Join(dir, "f"), "IOS", strconv.Itoa(ios)).Replace(c.options)
	got, err := count(t, dir, program, strings.Fields(options)...)
	switch {
	case err != nil && c.mayRefuse:
		cannot(t, "%v", err)
	case err != nil:
		t.Fatal(err)
	}
	return got
}
