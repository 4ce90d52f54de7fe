package run

import (
	"os"
	"testing"
)

// TestEnvironment is gathered for the files of all jobs, at the end alone.
func TestEnvironment(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newRig()
	g.load(t, section("a", "ioengine=psync rw=write size=16k numjobs=2")+section("b", "ioengine=null rw=read size=16k"))
	g.cfg.Environment = true
	r, err := newRunner(g.cfg)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.run()
	if err != nil {
		t.Fatal(err)
	}
	if res.Env == nil || len(res.Env.FileSystems) != 1 || res.Env.FileSystems[0].Files != 2 {
		t.Errorf("environment %+v, want one file system with two files", res.Env)
	}
	for i := range res.Jobs {
		if x := &res.Jobs[i].Extra; len(x.CPUs) == 0 {
			t.Errorf("%s: no CPUs", res.Jobs[i].Name)
		}
	}
	if mid := r.result(false); mid.Env != nil {
		t.Error("a result of the run as it stands has an environment")
	}
	g = newRig()
	if res := g.run(t, section("a", "ioengine=null rw=read size=16k")); res.Env != nil || res.Jobs[0].Extra.CPUs != nil {
		t.Errorf("gathered without being asked for: %+v", res.Env)
	}
}

// TestCalls counts the system calls of the measured part: those of a ramp are none of it.
func TestCalls(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, ramp := range []string{"", "ramp_size=1m"} {
		j := newRig().one(t, section("a", "ioengine=libaio rw=randread size=64k bs=4k iodepth=1 number_ios=100 norandommap=1 io_size=100m "+ramp))
		x := &j.Extra
		if !x.CountsCalls || x.SubmittedIOs < 100 || x.SubmittedIOs > 101 || x.SubmitCalls < x.SubmittedIOs-1 || x.SubmitCalls > x.SubmittedIOs+1 {
			t.Errorf("%q: %d submits of %d I/Os, want one each of 100", ramp, x.SubmitCalls, x.SubmittedIOs)
		}
	}
	if j := newRig().one(t, section("a", "ioengine=null rw=read size=16k")); j.Extra.CountsCalls {
		t.Error("the null engine counts calls that it does not make")
	}
	if err := os.WriteFile("zones", make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	for engine, counts := range map[string]bool{"psync": false, "libaio": true} {
		j := newRig().one(t, section("a", "ioengine="+engine+" filename=zones rw=write bs=4k size=64k zonemode=zbd zonesize=16k"))
		if x := &j.Extra; j.Error != 0 || x.CountsCalls != counts || (x.SubmitCalls == 16) != counts {
			t.Errorf("zones by %s: error %d, calls counted: %v, %d", engine, j.Error, x.CountsCalls, x.SubmitCalls)
		}
	}
}
