package run

import (
	"fmt"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/engines/uring"
	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// passed is all of a pass that does not depend on time.
type passed struct {
	Log              []enginetest.Record
	Submits, Reaps   int
	IOs, Bytes       [job.NDirs]uint64
	Short            [job.NDirs]uint64
	Slats, Clats     [job.NDirs]uint64
	Syncs, SyncLats  uint64
	Depth            [7]uint64
	Submit, Complete [7]uint64
	Marked           [2]uint64 // submits and reaps of the report
	Errors           uint64
	Error            int
	Last             engines.Op
	Free, InFlight   int
}

// passOf runs one pass of the job on a scripted engine, by passSingle or by the loop for all jobs.
func passOf(t *testing.T, options string, s enginetest.Script, single bool) passed {
	t.Helper()
	f := enginetest.NewFake(s)
	w := hotWorker(t, "ioengine=fake size=256k "+options, f.Driver("fake", diskless))
	if w.single == nil {
		t.Fatal("not a job for passSingle")
	}
	if !single {
		w.single = nil
	}
	w.pass()
	p := passed{Log: f.Log, Submits: f.Submits, Reaps: f.Reaps, Syncs: w.st.SyncIOs, SyncLats: w.st.SyncLat.N,
		Depth: w.st.Depth, Submit: w.st.Submit, Complete: w.st.Complete, Marked: [2]uint64{w.st.Submits, w.st.Reaps},
		Errors: w.st.TotalErr, Error: w.st.Error, Last: w.loop.lastOp,
		Free: len(w.loop.free), InFlight: w.loop.inflight}
	for d := range w.st.Dirs {
		dir := &w.st.Dirs[d]
		p.IOs[d], p.Bytes[d], p.Short[d] = dir.IOs, dir.Bytes, dir.Short
		p.Slats[d], p.Clats[d] = dir.Slat.N, dir.Clat.N
	}
	return p
}

// TestSingleDoesAsTheOthers holds passSingle against the loop for all jobs, on engines that are slow, full, short and broken.
func TestSingleDoesAsTheOthers(t *testing.T) {
	fail := func(n int) map[int]syscall.Errno { return map[int]syscall.Errno{n: syscall.EIO} }
	scripts := map[string]enginetest.Script{
		"in order":        {},
		"newest first":    {Newest: true, PerReap: 2},
		"late":            {Late: map[int]int{0: 3, 5: 9, 6: 1, 20: 4}},
		"short":           {Short: map[int]int{0: 512, 7: 1024, 8: 512, 30: 2048}},
		"nothing moved":   {Short: map[int]int{9: 0}},
		"shallow":         {Depth: 3},
		"busy":            {Busy: 2},
		"fails":           {Fail: fail(11)},
		"fails at once":   {Fail: fail(0)},
		"submit fails":    {SubmitErr: syscall.ENOMEM, SubmitErrAt: 10},
		"reap fails":      {ReapErr: syscall.ENOMEM, ReapErrAt: 6},
		"loses its I/Os":  {Lose: map[int]bool{12: true}},
		"shallow & short": {Depth: 2, Short: map[int]int{3: 512}, PerReap: 1},
	}
	for name, s := range scripts {
		for _, options := range []string{
			"rw=read", "rw=randrw bs=4k-16k bsrange=4k-16k", "rw=randwrite fsync=3 refill_buffers=1", "rw=randtrim",
			"rw=randread iodepth_batch_complete_min=3 iodepth_batch_complete_max=5", "rw=read iodepth_low=2",
			"rw=randrw continue_on_error=all", "rw=write number_ios=20", "rw=randread io_size=100k nrfiles=3",
			"rw=randwrite stats=0", "rw=read disable_slat=1", "rw=read disable_clat=1 disable_lat=1", "rw=read slat_percentiles=1 lat_percentiles=1",
		} {
			for _, depth := range []int{1, 8} {
				options := fmt.Sprintf("%s iodepth=%d", options, depth)
				t.Run(name+"/"+options, func(t *testing.T) {
					want, got := passOf(t, options, s, false), passOf(t, options, s, true)
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("-all jobs +single:\n%s", d)
					}
				})
			}
		}
	}
}

// TestSingleIsForPlainJobs tells which jobs passSingle is for.
func TestSingleIsForPlainJobs(t *testing.T) {
	for _, c := range []struct {
		options string
		want    bool
	}{
		{"iodepth=8", true},
		{"iodepth=1", true},
		{"iodepth=8 write_lat_log=x", true},
		{"iodepth=8 iodepth_batch=2", false},
		{"iodepth=8 iodepth_batch_complete_min=0 iodepth_batch_complete_max=0", false},
		{"iodepth=8 rate=100m", false},
		{"iodepth=8 thinktime=1", false},
		{"iodepth=8 serialize_overlap=1 rw=randwrite", false},
		{"iodepth=8 verify=crc32c rw=write", false},
		{"ioengine=libaio iodepth=8 io_submit_mode=offload", false},
		{"iodepth=8 latency_target=1ms latency_window=1s", false},
	} {
		t.Run(c.options, func(t *testing.T) {
			t.Chdir(t.TempDir())
			f := enginetest.NewFake(enginetest.Script{})
			w := hotWorker(t, "ioengine=fake size=256k "+c.options, f.Driver("fake", diskless))
			if got := w.single != nil; got != c.want {
				t.Errorf("passSingle: %v, want %v", got, c.want)
			}
		})
	}
	w := hotWorker(t, "ioengine=null size=64k")
	if w.single != nil {
		t.Error("for an engine that does its I/O at once too")
	}
}

// TestSingleOnARing takes the short way of the engine itself.
func TestSingleOnARing(t *testing.T) {
	if err := uring.Driver().Probe(); err != nil {
		t.Skip(err)
	}
	for _, options := range []string{"", "registerfiles=1 fixedbufs=1", "nonvectored=0", "sqthread_poll=1", "fsync=4 nrfiles=4"} {
		t.Run(options, func(t *testing.T) {
			t.Chdir(t.TempDir())
			j := newRig(uring.Driver()).one(t, section("a", "ioengine=io_uring rw=randrw bs=4k size=1m iodepth=8 "+options))
			if got := countsOf(j); got.Bytes != 1<<20 || j.Dirs[0].Clat.N+j.Dirs[1].Clat.N != 256 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSingleRampsUp leaves the I/Os of the ramp out of the statistics, but for those in flight when it ends.
func TestSingleRampsUp(t *testing.T) {
	f := enginetest.NewFake(enginetest.Script{})
	j := newRig(f.Driver("fake", diskless)).one(t, fakeJob("rw=read size=1m bs=4k iodepth=4 ramp_time=20ms time_based runtime=20ms"))
	if j.Dirs[0].IOs == 0 || j.Dirs[0].IOs >= uint64(len(f.Log)) || j.Dirs[0].Clat.N > j.Dirs[0].IOs+4 {
		t.Errorf("%d I/Os and %d latencies of %d", j.Dirs[0].IOs, j.Dirs[0].Clat.N, len(f.Log))
	}
}
