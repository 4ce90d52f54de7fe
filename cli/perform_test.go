package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/report"
	"fiord/run"
)

// nopCloser is a file that a test keeps.
type nopCloser struct {
	*bytes.Buffer
	closed bool
	fail   error
}

func (n *nopCloser) Close() error { n.closed = true; return n.fail }

// withRun runs a command whose jobs fake runs.
func withRun(env *Env, fake func(run.Config) (*report.Result, error)) int {
	c, err := newCommand(env, testDrivers())
	if err != nil {
		panic(err)
	}
	c.runJobs = fake
	status, err := c.run()
	if err != nil {
		complain(env.Stderr, err)
	}
	return status
}

// result is an empty report.
func result() *report.Result {
	return &report.Result{Version: Version, Time: time.Unix(0, 0), Final: true}
}

var oneJob = []string{"--name=x", "--ioengine=null", "--size=4k"}

func TestExitStatus(t *testing.T) {
	tests := []struct {
		failed      int
		interrupted bool
		want        int
	}{
		{0, false, 0}, {1, false, 1}, {7, false, 7}, {256, false, 255}, {0, true, 128}, {2, true, 130}, {300, true, 255},
	}
	for _, tt := range tests {
		if got := exitStatus(&report.Result{Failed: tt.failed, Interrupted: tt.interrupted}); got != tt.want {
			t.Errorf("%+v: status %d", tt, got)
		}
	}
}

func TestConfigOfRun(t *testing.T) {
	args := append([]string{"--readonly", "--bandwidth-log", "--status-interval=2", "--eta=always", "--eta-interval=500ms"}, oneJob...)
	env, _, stderr := testEnv(nil, args...)
	var got run.Config
	status := withRun(env, func(cfg run.Config) (*report.Result, error) { got = cfg; return result(), nil })
	if status != 0 || stderr.Len() > 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if len(got.Jobs) != 1 || got.Jobs[0].Name != "x" {
		t.Errorf("jobs %v", got.Jobs)
	}
	if !got.ReadOnly || got.BandwidthLog != "agg" || got.Interval != 2*time.Second || got.LiveEvery != 500*time.Millisecond {
		t.Errorf("readonly %v, bandwidth log %q, interval %v, live every %v", got.ReadOnly, got.BandwidthLog, got.Interval, got.LiveEvery)
	}
	if got.Live == nil || got.Dump == nil || got.Print == nil || got.Warn == nil || got.Stop == nil || got.Report == nil {
		t.Error("a callback or channel is missing")
	}
	if got.Version != Version || len(got.Drivers) == 0 {
		t.Errorf("version %q, %d drivers", got.Version, len(got.Drivers))
	}
}

func TestLinesOfRun(t *testing.T) {
	says := func(failed int) func(run.Config) (*report.Result, error) {
		return func(cfg run.Config) (*report.Result, error) {
			cfg.Print("x: Laying out IO file")
			cfg.Warn("x: it broke")
			if failed > 0 {
				cfg.Failed("fio: pid=1, err=5/why")
			}
			r := result()
			r.Failed = failed
			return r, nil
		}
	}
	tests := []struct {
		name           string
		format         string
		failed         int
		stdout, absent []string // what standard output holds and does not
		stderr         string
	}{
		{"normal", "normal", 0, []string{"x: (g=0)", "Starting 1 process", "Laying out"}, []string{"broke", "note"}, "fiord: note: --alloc-size=9 has no effect: fiord has no memory pool of a fixed size\nfiord: x: it broke\n"},
		{"json", "json", 0, []string{`"fio version" : "` + Version, "x: it broke", "--alloc-size=9"}, []string{"Laying out", "Starting"}, ""},
		{"json of a failed job", "json", 1, []string{`"fio version"`}, []string{"Laying out", "fiord\"", "broke"},
			"fiord: note: --alloc-size=9 has no effect: fiord has no memory pool of a fixed size\nfiord: x: it broke\nfiord: pid=1, err=5/why\n"},
		{"terse of a failed job", "terse", 1, []string{"fio: pid=1, err=5/why\n"}, []string{"Laying out"},
			"fiord: note: --alloc-size=9 has no effect: fiord has no memory pool of a fixed size\nfiord: x: it broke\n"},
		{"terse", "terse", 0, nil, []string{"Laying", "Starting", "note"}, "fiord: note: --alloc-size=9 has no effect: fiord has no memory pool of a fixed size\nfiord: x: it broke\n"},
		{"all", "json,normal", 0, []string{"Laying out", "Starting", "x: it broke"}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, stdout, stderr := testEnv(nil, append([]string{"--alloc-size=9", "--output-format=" + tt.format}, oneJob...)...)
			if status := withRun(env, says(tt.failed)); status != tt.failed {
				t.Errorf("status %d", status)
			}
			for _, want := range tt.stdout {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("no %q in %s", want, stdout)
				}
			}
			for _, not := range tt.absent {
				if strings.Contains(stdout.String(), not) {
					t.Errorf("%q in %s", not, stdout)
				}
			}
			if diff := cmp.Diff(tt.stderr, stderr.String()); diff != "" {
				t.Errorf("standard error: %s", diff)
			}
		})
	}
}

func TestOutputFile(t *testing.T) {
	args := append([]string{"--output=report", "--output-format=json"}, oneJob...)
	good := func(run.Config) (*report.Result, error) { return result(), nil }

	t.Run("written", func(t *testing.T) {
		env, stdout, stderr := testEnv(nil, args...)
		file := &nopCloser{Buffer: new(bytes.Buffer)}
		env.Create = func(path string) (io.WriteCloser, error) {
			if path != "report" {
				t.Errorf("made %q", path)
			}
			return file, nil
		}
		if status := withRun(env, good); status != 0 || stdout.Len() > 0 || stderr.Len() > 0 {
			t.Errorf("status %d, standard output %q, standard error %q", status, stdout, stderr)
		}
		if !file.closed || !strings.HasPrefix(file.String(), "{\n") || !strings.HasSuffix(file.String(), "}\n") {
			t.Errorf("closed %v, report %q", file.closed, file)
		}
	})
	t.Run("cannot be made", func(t *testing.T) {
		env, _, stderr := testEnv(nil, args...)
		if status := withRun(env, good); status != 1 || !strings.HasPrefix(stderr.String(), "fiord: --output: open report:") {
			t.Errorf("status %d: %s", status, stderr)
		}
	})
	t.Run("cannot be closed", func(t *testing.T) {
		env, _, stderr := testEnv(nil, args...)
		env.Create = func(string) (io.WriteCloser, error) {
			return &nopCloser{Buffer: new(bytes.Buffer), fail: errors.New("quota exceeded")}, nil
		}
		if status := withRun(env, good); status != 1 || stderr.String() != "fiord: write report: quota exceeded\n" {
			t.Errorf("status %d: %s", status, stderr)
		}
	})
	t.Run("not made for a bad job", func(t *testing.T) {
		env, _, _ := testEnv(nil, append(args, "--rw=sideways")...)
		env.Create = func(string) (io.WriteCloser, error) { t.Error("made"); return nil, io.EOF }
		if status := withRun(env, good); status != 1 {
			t.Errorf("status %d", status)
		}
	})
}

// fullDisk takes no more than a number of bytes.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return 0, syscall.ENOSPC
	}
	d.room -= len(p)
	return len(p), nil
}

func TestOutputFull(t *testing.T) {
	env, _, stderr := testEnv(nil, append([]string{"--output-format=json"}, oneJob...)...)
	env.Stdout = &fullDisk{room: 10}
	status := withRun(env, func(run.Config) (*report.Result, error) { return result(), nil })
	if status != 1 || !strings.Contains(stderr.String(), "no space left on device") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestRunThatDoesNotStart(t *testing.T) {
	env, stdout, stderr := testEnv(nil, append([]string{"--output-format=json"}, oneJob...)...)
	status := withRun(env, func(run.Config) (*report.Result, error) { return nil, errors.New("no such engine") })
	if status != 1 || stdout.Len() > 0 || stderr.String() != "fiord: no such engine\n" {
		t.Errorf("status %d, standard output %q, standard error %q", status, stdout, stderr)
	}
}

func TestSignals(t *testing.T) {
	signals := make(chan os.Signal)
	off := false
	env, stdout, _ := testEnv(nil, oneJob...)
	env.Signals = func() (<-chan os.Signal, func()) { return signals, func() { off = true } }
	status := withRun(env, func(cfg run.Config) (*report.Result, error) {
		signals <- syscall.SIGUSR1
		<-cfg.Report
		cfg.Dump(result())
		signals <- syscall.SIGINT
		<-cfg.Stop
		signals <- syscall.SIGTERM
		<-cfg.Stop
		r := result()
		r.Interrupted = true
		return r, nil
	})
	if status != 128 || !off {
		t.Errorf("status %d, signals off %v", status, off)
	}
	for _, want := range []string{"\nfiord: terminating on signal 2\n", "\nfiord: terminating on signal 15\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in %s", want, stdout)
		}
	}
}

func TestAborted(t *testing.T) {
	env, _, stderr := testEnv(nil, oneJob...)
	status := withRun(env, func(run.Config) (*report.Result, error) { return nil, run.ErrAborted })
	if status != 128 || stderr.String() != "fiord: aborted\n" {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestAbortedOutput: an aborted run leaves no empty file for a report, while lines that were written stay.
func TestAbortedOutput(t *testing.T) {
	for format, want := range map[string]bool{"json": false, "normal": true} {
		path := filepath.Join(t.TempDir(), "report")
		env, _, _ := testEnv(nil, append([]string{"--output=" + path, "--output-format=" + format}, oneJob...)...)
		env.Create = createFile
		withRun(env, func(run.Config) (*report.Result, error) { return nil, run.ErrAborted })
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestStatusLine(t *testing.T) {
	tests := []struct {
		args     string
		terminal bool
		want     bool
	}{
		{"", true, true},
		{"", false, false},
		{"--eta=never", true, false},
		{"--eta=always", false, true},
		{"--output-format=json", true, false},
		{"--output-format=json --eta=always", true, false},
		{"--output-format=json --output=f", true, true},
		{"--output-format=json,normal", true, true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s/terminal=%v", tt.args, tt.terminal), func(t *testing.T) {
			env, stdout, _ := testEnv(nil, append(strings.Fields(tt.args), oneJob...)...)
			env.Terminal = func() bool { return tt.terminal }
			env.Create = func(string) (io.WriteCloser, error) { return &nopCloser{Buffer: new(bytes.Buffer)}, nil }
			withRun(env, func(cfg run.Config) (*report.Result, error) {
				if (cfg.Live != nil) != tt.want {
					t.Errorf("status is taken: %v", cfg.Live != nil)
				}
				if cfg.Live != nil {
					cfg.Live(report.Status{Jobs: 1, Running: 1, Letters: "R", EtaSec: 5})
				}
				return result(), nil
			})
			if got := strings.Contains(stdout.String(), "Jobs: 1"); got != tt.want {
				t.Errorf("status line shown: %v\n%q", got, stdout)
			}
		})
	}
}

func TestDebug(t *testing.T) {
	env, _, stderr := testEnv(map[string]string{"j.fio": "[global]\nbs=8k\n[x]\nioengine=null\nsize=8k\nnumjobs=2\ngroup_reporting\n"},
		"--debug=parse,job:2,process,rate,file", "j.fio")
	status := withRun(env, func(cfg run.Config) (*report.Result, error) {
		cfg.Print("x: Laying out IO file")
		s := report.Status{Jobs: 1, Running: 1, Letters: "R"}
		cfg.Live(s)
		s.Rate[0], s.IOPS[0] = 4096, 1
		cfg.Live(s)
		s.Letters = "_"
		cfg.Live(s)
		return result(), nil
	})
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"parse    x: global: bs=8k\n", "parse    x: section: group_reporting\n", "job      2: x from j.fio:3: clone 1",
		"process  0s: 1 of 1 running: R\n", "process  0s: 1 of 1 running: _\n", "rate     0s: read: 4096 bytes/s, 1 IOPS\n",
		"file     x: Laying out IO file\n"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	if n := strings.Count(stderr.String(), "process "); n != 2 {
		t.Errorf("%d traces of states, want one for each change", n)
	}
	if strings.Contains(stderr.String(), "job      1:") {
		t.Error("a job is traced that was not asked for")
	}
}

// TestNotesOfRun: what the run remarks on is in the document, else on standard error.
func TestNotesOfRun(t *testing.T) {
	const note = "fiord: note: capped"
	for format, where := range map[string]string{"normal": "err", "normal,json": "", "table": "err", "terse": "err", "json": ""} {
		env, stdout, stderr := testEnv(nil, append([]string{"--output-format=" + format}, oneJob...)...)
		withRun(env, func(run.Config) (*report.Result, error) {
			r := result()
			r.Warnings = []string{"capped"}
			return r, nil
		})
		if strings.Contains(stdout.String(), note) {
			t.Errorf("%s: the note is in the output", format)
		}
		if got := strings.Contains(stderr.String(), note); got != (where == "err") {
			t.Errorf("%s: note on standard error: %v", format, got)
		}
		if strings.Contains(format, "json") && !strings.Contains(stdout.String(), `"capped"`) {
			t.Errorf("%s: the document lacks the note", format)
		}
	}
}

// TestWarningsOfFailedRun: a run without a result has no document, so its warnings go to standard error.
func TestWarningsOfFailedRun(t *testing.T) {
	env, _, stderr := testEnv(nil, append([]string{"--output-format=json"}, oneJob...)...)
	withRun(env, func(cfg run.Config) (*report.Result, error) { cfg.Warn("disk on fire"); return nil, errors.New("no") })
	if want := "fiord: disk on fire\nfiord: no\n"; stderr.String() != want {
		t.Errorf("standard error %q, want %q", stderr, want)
	}
}
