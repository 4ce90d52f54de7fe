package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fiord/engines"
	"fiord/engines/uring"
	"fiord/report"
)

// reports are jobs that users of fio have reported to find bad data where nothing was damaged, or to crash, by the number of
// the report in fio's tracker. Devices are files here, and times and sizes short. What came in two runs is in two jobs.
var reports = []struct {
	number       int
	write, check string
}{
	{163, "rw=write bsrange=4k-64k verify=pattern verify_pattern=0xff%o\"hfge\"-12 verify_interval=4096 do_verify=0 time_based runtime=30ms",
		"rw=write bsrange=4k-64k verify=pattern verify_pattern=0xff%o\"hfge\"-12 verify_interval=4096 verify_only verify_state_load=1 time_based runtime=1m"},
	{217, "bsrange=4k-64k ioengine=libaio iodepth=32 verify=meta verify_pattern=0x68baebde verify_interval=4k zonemode=strided zonesize=256k zoneskip=32k " +
		"nrfiles=4 openfiles=2 do_verify=0 rw=randwrite", "bsrange=4k-64k ioengine=libaio iodepth=32 verify=meta verify_pattern=0x68baebde " +
		"verify_interval=4k zonemode=strided zonesize=256k zoneskip=32k nrfiles=4 openfiles=2 verify_only rw=randwrite"},
	{299, "rw=randwrite bsrange=4k-64k bs_unaligned verify=md5 iodepth=16", ""},
	{334, "rw=randwrite norandommap randrepeat=0 ioengine=libaio iodepth=8 bs=32k overwrite=1 verify=crc32c-intel verify_backlog=64 loops=2", ""},
	{335, "rw=randwrite ioengine=libaio iodepth=32 bsrange=512-64k verify=pattern verify_backlog=1 verify_pattern=\"EBSCRC\"0x01%o\"volume\"", ""},
	{344, "rw=randwrite bs=4k percentage_random=1 verify=crc32c-intel", ""},
	{366, "rw=randwrite ioengine=io_uring iodepth=64 bsrange=4k-16k norandommap verify=crc32c overwrite=1 io_size=4m", ""},
	{468, "rw=randwrite ioengine=libaio iodepth=16 bs=4k verify=crc32c do_verify=0 time_based runtime=30ms",
		"rw=randwrite ioengine=libaio iodepth=16 bs=4k verify=crc32c verify_only verify_state_load=1"},
	{509, "rw=write bs_unaligned bsrange=1k-8k verify=md5", ""},
	{522, "rw=write bs=8k verify=md5 verify_interval=512", "rw=read bs=512 verify=md5 verify_interval=512 verify_header_seed=0"},
	{740, "rw=randrw bs=4k ioengine=libaio iodepth=32 randrepeat=0 loops=3 verify=crc32c", ""},
	{746, "rw=randrw bs=4k ioengine=libaio iodepth=32 randrepeat=0 loops=2 verify=crc32c-intel thread", ""},
	{792, "rw=randrw bs=16k ioengine=libaio iodepth=16 time_based runtime=50ms verify_backlog=10 verify=crc32c", ""},
	{801, "rw=write bs=4k verify=crc32c", "rw=write bs=4k verify=crc32c verify_only"},
	{930, "rw=randrw bs=16k ioengine=io_uring iodepth=128 time_based runtime=50ms verify=md5", ""},
	{1049, "rw=randrw bsrange=4k-64k ioengine=libaio iodepth=64 time_based runtime=50ms verify_interval=4096 verify=crc32c serialize_overlap=1 " +
		"random_distribution=zoned:10/20:10/20:10/20:70/40", ""},
	{1092, "rw=randrw ioengine=libaio iodepth=2 bs_unaligned bsrange=512-1k time_based runtime=50ms verify_backlog=10 verify=crc32c serialize_overlap=1", ""},
	{1447, "rw=randwrite ioengine=libaio iodepth=2 bs=4k rate_process=poisson norandommap verify=crc32c runtime=50ms verify_backlog=8 time_based",
		"rw=randwrite ioengine=libaio iodepth=2 bs=4k norandommap verify=crc32c verify_only verify_state_load=1"},
	{1503, "rw=randwrite:4 bs=4k verify=xxhash", ""},
	{1517, "rw=randwrite bs=4k time_based runtime=30ms randrepeat=0 verify=md5 ioengine=io_uring iodepth=4", ""},
	{1518, "rw=randwrite:8 rw_sequencer=sequential bs=512 ioengine=libaio iodepth=128 verify=crc64", ""},
	{1522, "rw=randwrite bs=4k loops=3 randrepeat=0 verify=md5", ""},
	{1548, "rw=randrw rwmixread=50 bssplit=512/10:1536/10:2560/10:3584/10:7k/10:15k/50 ioengine=libaio iodepth=256 verify=md5", ""},
	{1784, "rw=randrw bssplit=4k/30:16K/30:64K/40 ioengine=libaio iodepth=64 loops=3 verify=crc32c-intel verify_interval=4096 " +
		"random_generator=tausworthe64 buffer_compress_chunk=4k buffer_compress_percentage=60", ""},
	{1840, "rw=trim bs=64k verify=md5 iodepth=128 ioengine=mixup verify_backlog=1 experimental_verify=1", ""},
	{1898, "rw=randrw bs=3k size=4k randseed=100 zero_buffers verify=md5 ioengine=libaio time_based runtime=30ms", ""},
	{2013, "rw=randwrite bs=4k runtime=30ms time_based verify=crc32c do_verify=0", "rw=randwrite bs=4k verify=crc32c verify_state_load=1 verify_only"},
	{2026, "rw=write bs=64k iodepth=64 ioengine=io_uring verify=crc32 time_based runtime=50ms", "rw=write bs=64k iodepth=64 " +
		"ioengine=io_uring verify=crc32 verify_only verify_state_load=1"},
	{2074, "rw=rw bs=128k size=1m io_size=4m ioengine=io_uring iodepth=8 verify=crc32c", ""},
	{2074, "rw=randrw bs=4k size=1m io_size=4m norandommap ioengine=io_uring iodepth=8 verify=crc32c do_verify=0",
		"rw=randrw bs=4k size=1m io_size=4m norandommap ioengine=io_uring iodepth=8 verify=crc32c verify_only verify_state_load=1"},
	{2091, "rw=randwrite bs=4k verify=crc32c verify_policy=fsynced fsync=16", ""},
	{2110, "rw=randwrite ioengine=libaio iodepth=64 serialize_overlap=1 bs=16k verify=xxhash do_verify=0 norandommap",
		"rw=randwrite ioengine=libaio iodepth=64 serialize_overlap=1 bs=16k verify=xxhash experimental_verify=1 verify_write_sequence=0 norandommap verify_only"},
	{2119, "rw=randwrite bs=16k trim_percentage=2 trim_backlog=1000000 ioengine=mixup iodepth=4 verify=crc32c verify_backlog=2000000", ""},
	// Without a number: what others have run into in the same corners.
	{0, "rw=randwrite bs=4k trim_percentage=30 trim_backlog=8 trim_backlog_batch=3 trim_verify_zero=1 verify=crc32c ioengine=mixup", ""},
	{0, "rw=randwrite bs=4k trim_percentage=30 trim_backlog=8 verify_backlog=12 ioengine=mixup iodepth=16 verify=md5 norandommap", ""},
	{0, "rw=randwrite bs=4k size=256k io_size=300k trim_percentage=100 trim_backlog=1 norandommap ioengine=mixup iodepth=2 verify=crc64", ""},
	{0, "rw=randwrite bs=4k size=256k io_size=300k trim_percentage=100 trim_backlog=3 norandommap ioengine=mixup iodepth=16 verify=crc64 do_verify=0", "rw=randwrite bs=4k size=4k verify=crc64"},
	{0, "rw=trimwrite bs=4k verify=crc32c ioengine=mixup", ""},
	{0, "rw=randtrimwrite bs=4k verify=crc32c ioengine=mixup iodepth=16", ""},
	{0, "rw=randwrite bs=4k numjobs=3 verify=crc32c do_verify=0 runtime=30ms time_based", "rw=randwrite bs=4k numjobs=3 verify=crc32c " +
		"verify_only verify_state_load=1"},
	{0, "rw=randwrite bs=4k numjobs=2 offset_increment=1m verify=crc32c loops=2 ioengine=libaio iodepth=8", ""},
	{0, "rw=randwrite bs=4k verify=crc32c verify_async=2 verify_backlog=4 norandommap ioengine=io_uring iodepth=32 io_size=4m", ""},
	{0, "rw=randrw bs=4k verify=sha256 verify_backlog=64 time_based runtime=50ms randseed=7 ioengine=io_uring iodepth=32", ""},
}

// TestReports runs what users reported: nothing is bad, and something was looked at.
func TestReports(t *testing.T) {
	for i, c := range reports {
		t.Run(fmt.Sprintf("%d no %d", i, c.number), func(t *testing.T) {
			needUring(t, c.write)
			dir := t.TempDir()
			reads := reportedJob(t, dir, c.write)
			if c.check != "" {
				reads = reportedJob(t, dir, c.check)
			}
			if reads == 0 && (c.check != "" || !strings.Contains(c.write, "rw=trim ") && !strings.Contains(c.write, "time_based")) {
				t.Error("nothing was read back")
			}
		})
	}
}

// mixup is an asynchronous engine that does its I/Os in random order, trims of files included.
func mixup(t *testing.T) *engines.Driver {
	return &engines.Driver{Name: "mixup", Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
		return &cutEngine{t: t, rnd: rand.New(rand.NewPCG(1, 2)), depth: w.Depth, left: math.MaxInt}, nil
	}}
}

// reportedJob runs one job and reports how many reads it did.
func reportedJob(t *testing.T, dir, options string) (reads uint64) {
	t.Helper()
	if !strings.Contains(options, " size=") {
		options = "size=1m " + options
	}
	g := newRig(uring.Driver(), mixup(t))
	g.cfg.AuxPath = dir
	g.load(t, "[v]\ndirectory="+dir+"\n"+strings.ReplaceAll(options, " ", "\n")+"\n")
	res, err := Run(g.cfg)
	if err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	for _, j := range res.Jobs {
		reads += clean(t, options, &j, g)
	}
	return reads
}

func clean(t *testing.T, options string, j *report.Job, g *rig) uint64 {
	t.Helper()
	if j.Error != 0 || j.TotalErr != 0 {
		t.Errorf("%s: error %d, %d errors, said %s", options, j.Error, j.TotalErr, g.said())
	}
	return j.Dirs[0].IOs
}
