package job

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// summary is one line a job: what grouping, cloning and inheritance came to.
func summary(jobs []*Job) string {
	var b strings.Builder
	for _, j := range jobs {
		fmt.Fprintf(&b, "%d %s/%s.%d g%d w%d bs=%d %s\n", j.Number, j.Section, j.Name, j.SubJob, j.Group, j.Stonewall, j.MinBS[Write],
			strings.Join(j.Filenames, ","))
	}
	return b.String()
}

func TestLoadFiles(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"global anywhere", "[global]\nbs=8k\n[a]\n[global]\nsize=1m\n[b]\nbs=1k\n[globalized]\nbs=2k\n[c]\n",
			"1 a/a.0 g0 w0 bs=8192 \n2 b/b.0 g0 w0 bs=1024 \n3 c/c.0 g0 w0 bs=2048 \n"},
		{"clones", "[a]\nnumjobs=3\nname=x\nstonewall\nnew_group\n[b]\n",
			"1 a/x.0 g0 w0 bs=4096 \n2 a/a.2 g0 w0 bs=4096 \n3 a/a.1 g0 w0 bs=4096 \n4 b/b.0 g0 w0 bs=4096 \n"},
		{"groups", "[a]\n[b]\nstonewall\n[c]\nnew_group\n[d]\nwait_for_previous\nnew_group\n[e]\nstonewall=0\n",
			"1 a/a.0 g0 w0 bs=4096 \n2 b/b.0 g1 w1 bs=4096 \n3 c/c.0 g2 w1 bs=4096 \n4 d/d.0 g3 w2 bs=4096 \n5 e/e.0 g3 w2 bs=4096 \n"},
		{"same name", "[a]\n[a]\nbs=1k\n", "1 a/a.0 g0 w0 bs=4096 \n2 a/a.0 g0 w0 bs=1024 \n"},
		{"file names add up", "[global]\nfilename=x\n[a]\nfilename=y:z\\:1\n[b]\n",
			"1 a/a.0 g0 w0 bs=4096 x,y,z:1\n2 b/b.0 g0 w0 bs=4096 x\n"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			jobs, _, err := loadText(t, &Loader{}, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, summary(jobs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadSeveralFiles(t *testing.T) {
	fsys := files{"one": "[global]\nbs=8k\n[a]\n", "two": "[b]\n[c]\n"}
	l := &Loader{Engines: fakeEngines(t), Open: fsys.open, Stdin: strings.NewReader("[d]\nbs=1k\n")}
	if err := l.SetOption("size", "1m", true); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"one", "two", "-"} {
		l.AddFile(f)
	}
	jobs, global, _, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := "1 a/a.0 g0 w0 bs=8192 \n2 b/b.0 g1 w1 bs=4096 \n3 c/c.0 g1 w1 bs=4096 \n4 d/d.0 g2 w2 bs=1024 \n"
	if diff := cmp.Diff(want, summary(jobs)); diff != "" {
		t.Error(diff)
	}
	if jobs[0].Size.Value != 1<<20 || jobs[1].Size.Value != 0 {
		t.Error("options before the first name belong to the first file only")
	}
	if len(global) != 0 {
		t.Errorf("global settings of the last file: %v", global)
	}
	if diff := cmp.Diff([]Setting{{Name: "size", Value: "1m"}, {Name: "bs", Value: "8k"}}, jobs[0].Global); diff != "" {
		t.Error(diff)
	}
	if jobs[0].Source != "one" || jobs[0].Line != 3 {
		t.Errorf("source of a: %s:%d", jobs[0].Source, jobs[0].Line)
	}
}

func TestCommandLine(t *testing.T) {
	l := &Loader{Engines: fakeEngines(t), Sections: []string{"a", "c", "d"}}
	for _, o := range []string{"bs=8k", "ioengine=libaio", "nowait=1", "name=a", "rw=write", "group_reporting", "name=b", "bs=nonsense",
		"name=global", "size=2m", "name=c", "ioengine=io_uring", "hipri", "name=d", "userspace_reap"} {
		name, value, given := strings.Cut(o, "=")
		if err := l.SetOption(name, value, given); err != nil {
			t.Fatalf("%s: %v", o, err)
		}
	}
	jobs, global, _, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := "1 a/a.0 g0 w0 bs=8192 \n2 c/c.0 g0 w0 bs=8192 \n3 d/d.0 g0 w0 bs=8192 \n"
	if diff := cmp.Diff(want, summary(jobs)); diff != "" {
		t.Error(diff)
	}
	wantGlobal := []Setting{{Name: "bs", Value: "8k"}, {Name: "ioengine", Value: "libaio"}, {Name: "nowait", Value: "1"}, {Name: "size", Value: "2m"}}
	if diff := cmp.Diff(wantGlobal, global); diff != "" {
		t.Error(diff)
	}
	wantGiven := []Setting{{Name: "name", Value: "a"}, {Name: "rw", Value: "write"}, {Name: "group_reporting", Flag: true}}
	if diff := cmp.Diff(wantGiven, jobs[0].Given); diff != "" {
		t.Error(diff)
	}
	if jobs[0].Size.Value != 0 || jobs[1].Size.Value != 2<<20 {
		t.Error("name=global sets defaults for the jobs behind it")
	}
	if jobs[0].Engine == jobs[2].Engine {
		t.Error("jobs share one options struct")
	}
}

func TestCommandLineErrors(t *testing.T) {
	tests := []struct{ options, want string }{
		{"bss=4k", `command line: bss: unknown option "bss": did you mean "bs"?`},
		{"name=a hipri", `command line: section [a]: hipri: unknown option "hipri": it belongs to ioengine io_uring, io_uring_cmd, pvsync2, sg, this job uses psync`},
		{"name=a ioengine=libaioo", `command line: section [a]: ioengine: engine not loadable: libaioo: did you mean "libaio"?`},
		{"ioengine=rbd", `command line: ioengine: engine not loadable: rbd: not part of a default build`},
		{"ioengine=external:x.so", `command line: ioengine: engine not loadable: external engine "x.so": shared objects cannot be loaded into a static binary`},
		{"name=a bs", `command line: section [a]: bs: option requires a value: a number not below 1`},
		{"name=", `command line: name: want a value, got ""`},
		{"name=a size=1k name=b", `command line: section [a]: size 1024 is smaller than the smallest block size 4096`},
	}
	for _, tt := range tests {
		l := &Loader{Engines: fakeEngines(t)}
		var err error
		for _, o := range strings.Fields(tt.options) {
			name, value, given := strings.Cut(o, "=")
			if err = l.SetOption(name, value, given); err != nil {
				break
			}
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.options, err, tt.want)
		}
	}
}

func TestLookupOption(t *testing.T) {
	l := &Loader{Engines: fakeEngines(t)}
	if l.LookupOption("userspace_reap") != nil {
		t.Error("an engine option is known before its engine")
	}
	if d := l.LookupOption("blocksize"); d == nil || d.Name != "bs" {
		t.Errorf("blocksize: %v", d)
	}
	if err := l.SetOption("ioengine", "libaio", true); err != nil {
		t.Fatal(err)
	}
	if l.LookupOption("userspace_reap") == nil {
		t.Error("userspace_reap is unknown with libaio")
	}
}

func TestEngineOptions(t *testing.T) {
	text := `[global]
ioengine=io_uring
sqthread_poll_cpu=3
[a]
hipri
[b]
ioengine=io_uring_cmd
[c]
fixedbufs=1
[d]
ioengine=psync
`
	jobs, _, err := loadText(t, &Loader{}, text)
	if err != nil {
		t.Fatal(err)
	}
	value := func(j *Job, name string) string {
		table, err := Declare(j.Engine)
		if err != nil {
			t.Fatal(err)
		}
		d := table.Lookup(name)
		return fmt.Sprint(d.field(valueOf(j.Engine)))
	}
	for i, want := range []string{"3", "", "3"} {
		if want != "" && value(jobs[i], "sqthread_poll_cpu") != want {
			t.Errorf("job %s: sqthread_poll_cpu %s", jobs[i].Name, value(jobs[i], "sqthread_poll_cpu"))
		}
	}
	if value(jobs[0], "hipri") != "true" || value(jobs[2], "hipri") != "false" {
		t.Error("hipri leaks from one job to another")
	}
	if jobs[3].Engine != nil {
		t.Error("psync has options")
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown option", "[a]\nbss=4k\n", `test.fio:2: section [a]: bss: unknown option "bss": did you mean "bs"?`},
		{"nothing alike", "[a]\nno_such_option=1\n", `test.fio:2: section [a]: no_such_option: unknown option "no_such_option"`},
		{"option of another engine", "[a]\nioengine=libaio\nnrfiles=2\ndonorname=x\n",
			`test.fio:4: section [a]: donorname: unknown option "donorname": it belongs to ioengine e4defrag, this job uses libaio`},
		{"two mistakes", "[a]\nbs=4q\nrw=up\n", "test.fio:2: section [a]: bs: want " + wantBytes + ", got \"4q\"\n" +
			"test.fio:3: section [a]: rw: want one of read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite, got \"up\""},
		{"no value", "[a]\nbs\n", "test.fio:2: section [a]: bs: option requires a value: a number not below 1"},
		{"variable that is not set", "[a]\nrw=${RW_OF_NO_ONE}\n", "test.fio:2: section [a]: rw: want one of read, write, trim, " +
			"randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite, got \"\": the variable RW_OF_NO_ONE is not set"},
		{"hard deprecated", "[a]\nrwmixcycle=5\n", "test.fio:2: section [a]: rwmixcycle: option is deprecated and no longer supported"},
		{"engine", "[a]\nioengine=psnc\nbs=1k\n", `test.fio:1: section [a]: ioengine: engine not loadable: psnc: did you mean "psync"?`},
		{"missing option", "[a]\nblock_error_percentiles=1\n", "test.fio:1: section [a]: job a: block_error_percentiles=1: not implemented: block error percentiles are not built yet"},
		{"numjobs", "[a]\nnumjobs=0\n", `test.fio:2: section [a]: numjobs: want a number from 1 to 4096, got "0"`},
		{"too many jobs", "[a]\nnumjobs=4096\n[b]\n", "test.fio:3: section [b]: more than 4096 jobs"},
		{"waits for itself", "[a]\nwait_for=a\n", "test.fio:1: section [a]: wait_for=a: a job cannot wait for itself"},
		{"waits for nobody", "[a]\nwait_for=b\n", "test.fio:1: section [a]: wait_for=b: no job of that name stands before this one"},
		{"waits for two", "[a]\n[a]\n[b]\nwait_for=a\n", "test.fio:3: section [b]: wait_for=a: 2 jobs have that name"},
		{"percentiles in a group", "[global]\ngroup_reporting\n[a]\n[b]\nlat_percentiles=1\n",
			"test.fio:4: section [b]: lat_percentiles differs from other jobs of the group"},
		{"ramp_size in a group", "[a]\nramp_size=1k\n[b]\nramp_size=2k\n", "test.fio:3: section [b]: ramp_size differs from other jobs of the group"},
		{"intervals", "[a]\n[b]\nss_interval=2\n", "test.fio:2: section [b]: steadystate_check_interval differs from other jobs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := loadText(t, &Loader{}, tt.text)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestErrorKinds(t *testing.T) {
	_, _, err := loadText(t, &Loader{}, "[a]\nbss=1\n")
	var place *ParseError
	if !errors.Is(err, ErrUnknownOption) || !errors.As(err, &place) || place.Line != 2 {
		t.Errorf("unknown option: %#v", err)
	}
	_, _, err = loadText(t, &Loader{}, "[a]\ntime_based\nruntime=1\nramp_time=1\nramp_size=1k\n")
	if !errors.Is(err, ErrConflict) {
		t.Errorf("conflict: %v", err)
	}
	l := &Loader{Engines: []EngineDecl{{Name: "psync", Missing: "it is not built"}}}
	_, _, err = loadText(t, l, "[a]\n")
	var missing *NotImplementedError
	if !errors.As(err, &missing) || missing.Option != "ioengine" {
		t.Errorf("missing engine: %v", err)
	}
	broken := &Loader{Engines: fakeEngines(t), Stdin: io.LimitReader(nil, 0)}
	broken.AddFile("/nonexistent/job.fio")
	if _, _, _, err := broken.Load(); err == nil || !strings.HasPrefix(err.Error(), "/nonexistent/job.fio: open") {
		t.Errorf("missing file: %v", err)
	}
}

// TestMissingOptions says which settings of options that are not implemented do no harm.
func TestMissingOptions(t *testing.T) {
	harmless := []string{"lockfile=none", "verify_offset=64", "cgroup_weight=500", "steadystate=iops:5%", "flow_id=3", "latency_window=5ms",
		"zonecapacity=1m", "plids=1", "merge_blktrace_iters=2", "log_compression_cpus=0", "verify_async_cpus=0", "flow_watermark=1"}
	for _, o := range harmless {
		if _, _, err := loadText(t, &Loader{}, "[a]\n"+o+"\n"); err != nil {
			t.Errorf("%s: %v", o, err)
		}
	}
	jobs, warnings, err := loadText(t, &Loader{ParseOnly: true}, "[a]\nblock_error_percentiles=1\nsize=1k\nverifysort=1\n")
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	want := []string{"option verifysort is deprecated and has no effect",
		"a: job a: block_error_percentiles=1: not implemented: block error percentiles are not built yet",
		"a: size 1024 is smaller than the smallest block size 4096"}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
}

func TestReadOnly(t *testing.T) {
	for _, parseOnly := range []bool{false, true} {
		_, _, err := loadText(t, &Loader{ReadOnly: true, ParseOnly: parseOnly}, "[a]\nrw=trimwrite\n")
		want := "test.fio:2: section [a]: rw: trimwrite writes or trims, which --readonly forbids"
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		if _, _, err := loadText(t, &Loader{ReadOnly: true}, "[a]\nrw=randread\n"); err != nil {
			t.Error(err)
		}
	}
}

// TestParseOnlyEngine: without options of its own, fio looks at no engine when it only parses.
func TestParseOnlyEngine(t *testing.T) {
	_, warnings, err := loadText(t, &Loader{ParseOnly: true}, "[a]\nioengine=./plugin\n")
	if err != nil || len(warnings) != 1 {
		t.Errorf("%v, %v", warnings, err)
	}
	if _, _, err := loadText(t, &Loader{ParseOnly: true}, "[a]\nioengine=rbd\npool=x\n"); !errors.Is(err, ErrUnknownEngine) {
		t.Errorf("got %v", err)
	}
}

// TestLoadIsLinear loads as many sections as there may be; quadratic work would show as a test that takes minutes.
func TestLoadIsLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString("[global]\nioengine=io_uring\nhipri\nbs=4k\n")
	for i := range MaxJobs {
		fmt.Fprintf(&b, "[j%d]\nstonewall\nfilename=f%d\nsize=1m\n", i, i)
	}
	jobs, _, err := loadText(t, &Loader{}, b.String())
	if err != nil || len(jobs) != MaxJobs || jobs[MaxJobs-1].Stonewall != MaxJobs-1 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

func BenchmarkLoad(b *testing.B) {
	engines := fakeEngines(b)
	text := "[global]\nioengine=io_uring\nbs=4k\n" + strings.Repeat("[j]\nsize=1m\niodepth=8\n", 1024)
	for b.Loop() {
		l := &Loader{Engines: engines}
		l.AddText("bench", text)
		if _, _, _, err := l.Load(); err != nil {
			b.Fatal(err)
		}
	}
}
