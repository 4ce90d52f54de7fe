package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fiord/engines"
	"fiord/engines/uring"
	"fiord/job"
	"fiord/report"
)

// verifyJob runs one job in dir and returns its result and what it said on standard error. stop may end it early.
func verifyJob(t *testing.T, dir, text string, change func(c *Config)) (*report.Result, []string) {
	t.Helper()
	g := newRig(uring.Driver())
	g.cfg.AuxPath = dir
	g.load(t, "[v]\nfilename="+filepath.Join(dir, "data")+"\n"+strings.ReplaceAll(text, " ", "\n")+"\n")
	if change != nil {
		change(&g.cfg)
	}
	res, err := Run(g.cfg)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res, g.warned
}

func needUring(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(text, "io_uring") {
		return
	}
	if err := uring.Driver().Probe(); err != nil {
		t.Skip(err)
	}
}

// TestCleanIsNeverBad runs jobs that fio finds false failures in, or comes close to: nothing is damaged, so nothing may be
// found. The reads that the job must do at least show that it looked.
func TestCleanIsNeverBad(t *testing.T) {
	const base = "size=512k verify=crc32c "
	for _, shape := range []string{
		"rw=write bs=4k", "rw=randwrite bs=4k", "rw=randwrite bs=4k norandommap=1 io_size=2m",
		"rw=randwrite bssplit=1k/20:4k/50:8k/30", "rw=randwrite bssplit=1k/20:4k/50:8k/30 norandommap=1 io_size=2m",
		"rw=randrw bs=4k verify_backlog=16", "rw=randrw bsrange=1k-8k norandommap=1 verify_backlog=16 io_size=2m",
		"rw=randwrite bs=4k loops=3", "rw=randwrite bs=4k random_distribution=zipf:1.2 io_size=2m",
		"rw=randwrite bs=4k number_ios=77", "rw=write:8k bs=4k number_ios=50", "rw=randwrite:4 bs=4k",
		"rw=randwrite bs=4k percentage_random=50", "rw=randwrite bs=4k randseed=99 loops=2", "rw=randwrite bs=4k randrepeat=0 loops=2",
		"rw=randwrite bs=4k experimental_verify=1 loops=2", "rw=randrw bs=4k experimental_verify=1",
		"rw=write bs=4k zonemode=strided zonesize=64k zonerange=64k zoneskip=64k",
		"rw=randwrite bsrange=4k-8k bs_unaligned=1", "rw=randwrite bs=4k iodepth_batch=8 iodepth_batch_complete_min=4 iodepth_low=8",
		"rw=randwrite bs=4k fsync=7 verify_policy=fsynced end_fsync=1", "rw=rw bs=4k,8k verify_interval=1k",
		"rw=randwrite bs=4k serialize_overlap=1 norandommap=1", "rw=randwrite bs=4k verify_backlog=7 verify_backlog_batch=3",
	} {
		for _, engine := range []string{"ioengine=psync ", "ioengine=libaio iodepth=16 ", "ioengine=io_uring iodepth=32 ",
			"ioengine=io_uring iodepth=32 verify_async=2 "} {
			t.Run(engine+shape, func(t *testing.T) {
				needUring(t, engine)
				res, said := verifyJob(t, t.TempDir(), base+engine+shape, nil)
				j := res.Jobs[0]
				if j.Error != 0 || j.TotalErr != 0 || len(said) > 0 {
					t.Errorf("error %d, %d errors, said %q", j.Error, j.TotalErr, said)
				}
				if j.Dirs[0].IOs == 0 && !strings.Contains(shape, "fsynced") {
					t.Error("nothing was read back")
				}
			})
		}
	}
}

// shortTime ends a writer; what reads back has all the time it needs.
const shortTime = "runtime=20ms"

// TestStopped ends jobs in the middle, in several ways, and wants the state that they save to verify what they wrote: no
// false failure, and a block that is then damaged is found.
func TestStopped(t *testing.T) {
	stops := map[string]func(c *Config, dir string){
		"stop": func(c *Config, _ string) {
			stop := make(chan struct{}, 1)
			c.Stop = stop
			onceItWrites(c, func() { stop <- struct{}{} })
		},
		"trigger": func(c *Config, dir string) {
			c.Trigger.File = filepath.Join(dir, "now")
			onceItWrites(c, func() { _ = os.WriteFile(c.Trigger.File, nil, 0o600) })
		},
	}
	for name, stop := range stops {
		for _, engine := range []string{"ioengine=psync", "ioengine=io_uring iodepth=32"} {
			for _, shape := range []string{"rw=write bs=4k io_size=1t", "rw=randwrite bs=4k norandommap=1 io_size=1t",
				"rw=randwrite bssplit=4k/50:8k/50 norandommap=1 io_size=1t", "rw=write bs=4k time_based=1 " + shortTime} {
				t.Run(name+" "+engine+" "+shape, func(t *testing.T) {
					needUring(t, engine)
					dir := t.TempDir()
					text := "size=4m verify=crc32c verify_fatal=1 " + engine + " " + shape
					for written := uint64(0); written == 0; { // a busy machine may let all of its run time pass first
						res, said := verifyJob(t, dir, text+" do_verify=0", func(c *Config) { stop(c, dir) })
						if res.Jobs[0].Error != 0 {
							t.Fatalf("the writer: error %d: %q", res.Jobs[0].Error, said)
						}
						written = res.Jobs[0].Dirs[job.Write].Bytes
					}
					checkSaved(t, dir, text)
				})
			}
		}
	}
}

// onceItWrites calls f when the job is seen to have written something.
func onceItWrites(c *Config, f func()) {
	done := false
	c.LiveEvery = 5 * time.Millisecond
	c.Live = func(s report.Status) {
		if s.IOPS[1] > 0 && !done {
			done = true
			f()
		}
	}
}

// checkSaved verifies what is in dir by the saved state, then damages it and wants that found.
func checkSaved(t *testing.T, dir, text string) {
	t.Helper()
	text = strings.ReplaceAll(text, shortTime, "runtime=1h") + " verify_only=1 verify_state_load=1 verify_state_save=0"
	res, said := verifyJob(t, dir, text, nil)
	if e := res.Jobs[0].Error; e != 0 {
		t.Fatalf("the reader: error %d: %q", e, said)
	}
	if res.Jobs[0].Dirs[0].IOs == 0 {
		t.Fatal("nothing was read back")
	}
	path := filepath.Join(dir, "data")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] ^= 1
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if res, _ := verifyJob(t, dir, text, nil); res.Jobs[0].Error != int(errBad) {
		t.Errorf("damaged data: error %d", res.Jobs[0].Error)
	}
}

// TestVerifyErrors checks what a bad block means for its job: the end, or one error more.
func TestVerifyErrors(t *testing.T) {
	dir := t.TempDir()
	const base = "size=64k bs=4k verify=md5 "
	for _, c := range []struct {
		options      string
		err, errs    int
		reads        uint64
		lines, dumps int
	}{
		{"rw=read", 84, 0, 3, 3, 0},
		{"rw=read verify_dump=1", 84, 0, 3, 5, 2},
		{"rw=read continue_on_error=verify", 0, 2, 16, 6, 0},
		{"rw=read continue_on_error=verify verify_fatal=1", 0, 1, 3, 3, 0},
		{"rw=read continue_on_error=io", 84, 0, 3, 3, 0},
		{"rw=read ignore_error=,,EILSEQ", 0, 2, 16, 6, 0},
		{"rw=write verify_only=1", 84, 0, 3, 3, 0},
		{"rw=read verify=null", 0, 0, 16, 0, 0},
		{"rw=read verify_async=1", 84, 0, 0, 3, 0},
	} {
		t.Run(c.options, func(t *testing.T) {
			if res, said := verifyJob(t, dir, base+"rw=write do_verify=0", nil); res.Jobs[0].Error != 0 {
				t.Fatal(said)
			}
			f, err := os.OpenFile(filepath.Join(dir, "data"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []int64{2*4096 + 100, 5*4096 + 4000} {
				if _, err := f.WriteAt([]byte{1, 2, 3}, at); err != nil {
					t.Fatal(err)
				}
			}
			f.Close()
			res, said := verifyJob(t, dir, base+c.options, nil)
			j := res.Jobs[0]
			if j.Error != c.err && (c.errs == 0 || j.Error != 84) || int(j.TotalErr) != c.errs {
				t.Errorf("error %d and %d errors, want %d and %d", j.Error, j.TotalErr, c.err, c.errs)
			}
			if c.reads > 0 && j.Dirs[0].IOs != c.reads {
				t.Errorf("%d reads, want %d", j.Dirs[0].IOs, c.reads)
			}
			if c.lines != len(said) && !strings.Contains(c.options, "async") {
				t.Errorf("said %q, want %d lines", said, c.lines)
			}
			dumps, _ := filepath.Glob(filepath.Join(dir, "data.8192.*"))
			if len(dumps) != c.dumps {
				t.Errorf("dumps: %q, want %d", dumps, c.dumps)
			}
			for _, d := range dumps {
				os.Remove(d)
			}
		})
	}
}

// TestTriggerFile checks that the file is noticed and removed, and the command run.
func TestTriggerFile(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "now"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	verifyJob(t, dir, "size=64k bs=4k rw=write verify=crc32c time_based=1 runtime=1h", func(c *Config) {
		c.Trigger = Trigger{File: file, Command: fmt.Sprintf("ls %s/*.state >%s", dir, out)}
	})
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
	if text, err := os.ReadFile(out); err != nil || !strings.Contains(string(text), "local-v-0-verify.state") {
		t.Errorf("the command found %q, %v", text, err)
	}
}

// refusing is an engine whose write of one offset fails.
type refusing struct {
	engines.SyncEngine
	at int64
}

func (f *refusing) Do(u *engines.IO) {
	if u.Op == engines.Write && u.Offset == f.at {
		u.Errno = 5
		return
	}
	f.SyncEngine.Do(u)
}

// TestFailedWrite wants a write that failed to be left out when the job reads back, and in its saved state.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data")
	d := *psyncDriver()
	open := d.Open
	d.Open = func(w *engines.Worker, o any) (engines.Engine, error) {
		e, err := open(w, o)
		if err != nil {
			return nil, err
		}
		return engines.Adapt(&refusing{engines.Inner(e), 8192}, w.Depth), nil
	}
	run := func(d *engines.Driver, options string) (int, uint64, uint64) {
		g := &rig{drivers: []*engines.Driver{d}}
		g.cfg.AuxPath = dir
		g.load(t, "[v]\nioengine=psync\nfilename="+path+"\nsize=64k\nbs=4k\nrw=write\nverify=md5\n"+options)
		res, err := Run(g.cfg)
		if err != nil {
			t.Fatal(err)
		}
		j := res.Jobs[0]
		return j.Error, j.Dirs[0].IOs, j.TotalErr
	}
	if _, reads, errs := run(&d, "continue_on_error=write"); reads != 15 || errs != 1 {
		t.Errorf("%d reads and %d errors, want 15 and 1", reads, errs)
	}
	if e, reads, _ := run(psyncDriver(), "verify_only=1\nverify_state_load=1\n"); reads != 15 || e != 0 {
		t.Errorf("by the saved state: %d reads and error %d, want 15 and none", reads, e)
	}
}
