package run

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/job"
)

// outcome is how a job with errors ended.
type outcome struct {
	Error, First int
	Total        uint64
	Writes       uint64 // issued
	Bytes        uint64 // moved
	Failed       int
}

// TestErrors lets single I/Os fail, on both kinds of engine, at depth 1.
func TestErrors(t *testing.T) {
	const eio, enospc = int(syscall.EIO), int(syscall.ENOSPC)
	for _, c := range []struct {
		name, options string
		fail          map[int]syscall.Errno
		want          outcome
	}{
		{"none", "", nil, outcome{Writes: 8, Bytes: 32768}},
		{"fatal", "", map[int]syscall.Errno{2: syscall.EIO}, outcome{Error: eio, Writes: 3, Bytes: 8192, Failed: 1}},
		{"passed over", "continue_on_error=io", map[int]syscall.Errno{2: syscall.EIO, 4: syscall.EIO},
			outcome{First: eio, Total: 2, Writes: 8, Bytes: 24576}},
		{"all of the kind", "continue_on_error=write", map[int]syscall.Errno{0: syscall.EIO},
			outcome{First: eio, Total: 1, Writes: 8, Bytes: 28672}},
		{"another kind", "continue_on_error=read", map[int]syscall.Errno{2: syscall.EIO},
			outcome{Error: eio, Writes: 3, Bytes: 8192, Failed: 1}},
		{"ignored by name", "ignore_error=,ENOSPC", map[int]syscall.Errno{3: syscall.ENOSPC},
			outcome{First: enospc, Total: 1, Writes: 8, Bytes: 28672}},
		{"ignored, but of reads", "ignore_error=ENOSPC", map[int]syscall.Errno{3: syscall.ENOSPC},
			outcome{Error: enospc, Writes: 4, Bytes: 12288, Failed: 1}},
		{"space is used up", "fill_device=1", map[int]syscall.Errno{5: syscall.ENOSPC}, outcome{Writes: 6, Bytes: 20480}},
		{"quota is used up", "fill_device=1", map[int]syscall.Errno{5: syscall.EDQUOT}, outcome{Writes: 6, Bytes: 20480}},
		{"other errors are errors", "fill_device=1", map[int]syscall.Errno{5: syscall.EIO},
			outcome{Error: eio, Writes: 6, Bytes: 20480, Failed: 1}},
		{"number_ios counts what was done", "continue_on_error=all number_ios=6", map[int]syscall.Errno{2: syscall.EIO},
			outcome{First: eio, Total: 1, Writes: 7, Bytes: 24576}},
	} {
		run := func(t *testing.T, d *engines.Driver) *rig {
			t.Helper()
			g := newRig(d)
			res := g.run(t, fakeJob("rw=write size=32k bs=4k "+c.options))
			j := &res.Jobs[0].Job
			st := &g.r.workers[0].st
			got := outcome{Error: st.Error, First: j.FirstError, Total: j.TotalErr, Writes: j.Dirs[1].IOs, Bytes: j.Dirs[1].Bytes,
				Failed: res.Failed}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s\n%s", d, g.said())
			}
			return g
		}
		t.Run(c.name+" later", func(t *testing.T) {
			f := enginetest.NewFake(enginetest.Script{Fail: c.fail})
			g := run(t, f.Driver("fake", diskless))
			if f.ClosedInFlight != 0 {
				t.Errorf("engine closed with %d I/Os in flight", f.ClosedInFlight)
			}
			if want := c.want.Error != 0; strings.Contains(g.said(), "io_u error on file") != want {
				t.Errorf("said %q", g.said())
			}
		})
		if c.options == "continue_on_error=read" {
			c.want.Total, c.want.First = 0, 0
		}
		t.Run(c.name+" at once", func(t *testing.T) {
			run(t, syncDriver("fake", func(_ *engines.Worker, n int, u *engines.IO) {
				if u.Errno = c.fail[n]; u.Errno != 0 {
					u.Done = 0
				}
			}))
		})
	}
}

// TestFailedSync ends the job when a sync fails, whether in the middle or at the end.
func TestFailedSync(t *testing.T) {
	for options, nth := range map[string]int{"fsync=2": 2, "end_fsync=1": 8} {
		f := enginetest.NewFake(enginetest.Script{Fail: map[int]syscall.Errno{nth: syscall.EIO}})
		j := newRig(f.Driver("fake", diskless)).one(t, fakeJob("rw=write size=32k bs=4k "+options))
		if j.Error != int(syscall.EIO) || f.ClosedInFlight != 0 {
			t.Errorf("%s: error %d %q, %d in flight at the end", options, j.Error, j.ErrorText, f.ClosedInFlight)
		}
	}
}

// TestEngineErrors breaks the engine itself: the job ends with the error, whatever is in flight.
func TestEngineErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		script enginetest.Script
		want   int
	}{
		{"submit", enginetest.Script{SubmitErr: syscall.ENODEV}, int(syscall.ENODEV)},
		{"submit in the middle", enginetest.Script{SubmitErr: syscall.ENODEV, SubmitErrAt: 5}, int(syscall.ENODEV)},
		{"submit without errno", enginetest.Script{SubmitErr: broken, SubmitErrAt: 5}, int(syscall.EINVAL)},
		{"submit of a part", enginetest.Script{SubmitErr: syscall.ENODEV, SubmitErrAt: 5, PerSubmit: 2}, int(syscall.ENODEV)},
		{"reap", enginetest.Script{ReapErr: syscall.ENXIO}, int(syscall.ENXIO)},
		{"reap in the middle", enginetest.Script{ReapErr: syscall.ENXIO, ReapErrAt: 3}, int(syscall.ENXIO)},
		{"reap with a full engine", enginetest.Script{ReapErr: syscall.ENXIO, ReapErrAt: 2, Depth: 2}, int(syscall.ENXIO)},
		{"takes nothing", enginetest.Script{Busy: 1 << 30}, int(syscall.EAGAIN)},
		{"loses one", enginetest.Script{Lose: map[int]bool{6: true}}, int(syscall.EINVAL)},
		{"loses all", enginetest.Script{Lose: map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true}},
			int(syscall.EINVAL)},
	} {
		for _, more := range []string{"", " iodepth_batch=4", " thinktime=1"} {
			t.Run(c.name+more, func(t *testing.T) {
				f := enginetest.NewFake(c.script)
				g := newRig(f.Driver("fake", diskless))
				res := g.run(t, fakeJob("rw=randread size=64k bs=4k iodepth=4"+more))
				if j := &res.Jobs[0]; j.Error != c.want || res.Failed != 1 {
					t.Errorf("error %d %q, want %d\n%s", j.Error, j.ErrorText, c.want, g.said())
				}
				if !f.Closed {
					t.Error("the engine was not closed")
				}
			})
		}
	}
}

// TestEndSyncErrors breaks the engine at the sync after the last write.
func TestEndSyncErrors(t *testing.T) {
	for _, s := range []enginetest.Script{
		{SubmitErr: syscall.ENODEV, SubmitErrAt: 2}, {ReapErr: syscall.ENODEV, ReapErrAt: 2}, {Lose: map[int]bool{2: true}},
	} {
		f := enginetest.NewFake(s)
		if j := newRig(f.Driver("fake", diskless)).one(t, fakeJob("rw=write size=8k bs=4k end_fsync=1")); j.Error == 0 {
			t.Errorf("no error with %+v", s)
		}
	}
}

// TestSetupErrors are jobs that cannot start. Others run all the same.
func TestSetupErrors(t *testing.T) {
	cannot := &engines.Driver{Name: "cannot", Doc: "Never opens.", Traits: diskless,
		Open: func(*engines.Worker, any) (engines.Engine, error) { return nil, syscall.ENOMEM }}
	for _, c := range []struct {
		options string
		want    syscall.Errno
	}{
		{"ioengine=cannot size=4k", syscall.ENOMEM},
		{"ioengine=psync size=4k filename=plain/f", syscall.ENOTDIR},
		{"ioengine=psync size=4k filename=plain/f create_serialize=0", syscall.ENOTDIR},
		{"ioengine=psync size=4k filename=missing allow_file_create=0", 0}, // failed, but with fio's number
		{"ioengine=null size=4k exec_prerun=false", syscall.EINVAL},
		{"ioengine=null size=4k cpus_allowed=0 nice=0 write_iolog=plain/log", syscall.ENOTDIR},
	} {
		t.Run(c.options, func(t *testing.T) {
			plainFile(t)
			before := openFds(t)
			g := newRig(cannot)
			res := g.run(t, section("a", "rw=read bs=4k "+c.options)+section("b", "ioengine=null rw=read size=8k bs=4k"))
			if got := syscall.Errno(res.Jobs[0].Error); got != c.want || res.Failed != 1 {
				t.Errorf("error %v, want %v; %d failed\n%s", got, c.want, res.Failed, g.said())
			}
			if got := res.Jobs[1].Dirs[0].IOs; got != 2 {
				t.Errorf("the other job did %d reads, want 2", got)
			}
			if after := openFds(t); after > before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}

// plainFile changes to a directory that holds a file named plain, which is no directory.
func plainFile(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("plain", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOpenFails lets a file vanish while the job runs.
func TestOpenFails(t *testing.T) {
	t.Chdir(t.TempDir())
	gone := false
	d := syncDriver("vanish", func(w *engines.Worker, _ int, _ *engines.IO) {
		if !gone {
			gone = true
			if err := os.Remove(w.Files[1].Name); err != nil {
				t.Error(err)
			}
		}
	})
	d.Traits.Diskless = false
	j := newRig(d).one(t, section("a", "ioengine=vanish rw=read size=32k bs=4k nrfiles=2 openfiles=1 file_service_type=sequential"))
	if j.Error != int(syscall.ENOENT) || j.Dirs[0].IOs != 4 {
		t.Errorf("error %d %q after %d reads, want ENOENT after 4", j.Error, j.ErrorText, j.Dirs[0].IOs)
	}
}

// TestDirectHint explains a first direct I/O that fails.
func TestDirectHint(t *testing.T) {
	f := enginetest.NewFake(enginetest.Script{Fail: map[int]syscall.Errno{0: syscall.EINVAL}})
	g := newRig(f.Driver("fake", diskless))
	g.run(t, fakeJob("rw=read size=8k bs=4k direct=1 continue_on_error=all"))
	if !strings.Contains(g.said(), "fio: first direct IO errored") {
		t.Errorf("said %q", g.said())
	}
}

// TestErrorShown shows no more than the first few errors, and the engine's own words for them.
func TestErrorShown(t *testing.T) {
	fail := map[int]syscall.Errno{}
	for i := range 64 {
		fail[i] = syscall.EIO
	}
	f := &decoding{Fake: enginetest.NewFake(enginetest.Script{Fail: fail})}
	d := f.Driver("fake", diskless)
	d.Open = func(*engines.Worker, any) (engines.Engine, error) { return f, nil }
	g := newRig(d)
	j := g.one(t, fakeJob("rw=read size=256k bs=4k continue_on_error=all error_dump=1"))
	if j.TotalErr != 64 || len(g.warned) != 20 || !strings.Contains(g.warned[0], "medium error") {
		t.Errorf("%d errors, %d shown: %q", j.TotalErr, len(g.warned), g.warned[0])
	}
}

// decoding is an engine with words of its own for errors.
type decoding struct{ *enginetest.Fake }

func (decoding) DecodeError(*engines.IO) error { return errors.New("medium error") }

// TestMaxLatency ends a job whose I/O takes too long, by the engine's doing: it holds the I/O until a microsecond is over.
func TestMaxLatency(t *testing.T) {
	d := syncDriver("slow", func(_ *engines.Worker, _ int, u *engines.IO) { spinFor(5000) })
	g := newRig(d)
	j := g.one(t, section("a", "ioengine=slow rw=read size=64k bs=4k max_latency=1us"))
	if j.Error != int(syscall.ETIMEDOUT) || j.Dirs[0].IOs != 1 || !strings.Contains(g.said(), "is above the limit") {
		t.Errorf("error %d after %d reads: %q", j.Error, j.Dirs[0].IOs, g.said())
	}
}

// TestRefused are configurations that no run can start from.
func TestRefused(t *testing.T) {
	absent := &engines.Driver{Name: "absent", Doc: "Lacks its kernel feature.", Traits: diskless,
		Probe: func() error { return engines.ErrUnsupported }}
	for text, want := range map[string]string{
		section("a", "ioengine=absent rw=read size=4k"): "not supported here",
		section("a", "ioengine=null size=4k clocksource=cpu") + section("b", "ioengine=null size=4k clocksource=clock_gettime"): "one clock",
	} {
		g := newRig(absent)
		g.load(t, text)
		if _, err := Run(g.cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", text, err, want)
		}
	}
	g := newRig()
	g.load(t, section("a", "ioengine=null size=4k"))
	g.cfg.Drivers = nil
	if _, err := Run(g.cfg); err == nil || !strings.Contains(err.Error(), "no such engine") {
		t.Errorf("error %v", err)
	}
	plainFile(t)
	g = newRig()
	g.load(t, section("a", "ioengine=null size=4k"))
	g.cfg.BandwidthLog = "plain/x"
	if _, err := Run(g.cfg); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("error %v", err)
	}
}

// failing is a Fake whose second call of one kind takes or hands back one I/O and then fails.
type failing struct {
	*enginetest.Fake
	submit, reap bool
	calls        int
}

func (e *failing) fails(is bool) bool {
	if is {
		e.calls++
	}
	return is && e.calls == 2
}

func (e *failing) Submit(ios []*engines.IO) (int, error) {
	if e.fails(e.submit) {
		n, _ := e.Fake.Submit(ios[:1])
		return n, syscall.EBADF
	}
	return e.Fake.Submit(ios)
}

func (e *failing) Reap(done []*engines.IO, least int, wait time.Duration) (int, error) {
	if e.fails(e.reap) {
		n, _ := e.Fake.Reap(done[:1], 1, wait)
		return n, syscall.EBADF
	}
	return e.Fake.Reap(done, least, wait)
}

// TestEngineFailsHalfWay: what an engine took or handed back together with an error is waited for and accounted.
func TestEngineFailsHalfWay(t *testing.T) {
	for _, e := range []*failing{{submit: true}, {reap: true}} {
		e.Fake = enginetest.NewFake(enginetest.Script{})
		d := e.Driver("fake", diskless)
		d.Open = func(*engines.Worker, any) (engines.Engine, error) { return e, nil }
		j := newRig(d).one(t, fakeJob("rw=read size=64k iodepth=8 iodepth_batch=4"))
		if j.Error != int(syscall.EBADF) {
			t.Errorf("error %d, want EBADF", j.Error)
		}
		if e.ClosedInFlight != 0 || j.Dirs[job.Read].Bytes != uint64(4096*len(e.Log)) {
			t.Errorf("%d in flight at the end, %d bytes of %d I/Os", e.ClosedInFlight, j.Dirs[job.Read].Bytes, len(e.Log))
		}
	}
}
