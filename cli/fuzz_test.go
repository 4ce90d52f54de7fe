package cli

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"fiord/engines"
	"fiord/job"
)

// testOptions are the options of the engines that tests use.
type testOptions struct {
	Fast  bool `fio:"fast" flag:"1" group:"engine" help:"A switch"`
	Level int  `fio:"level" def:"3" min:"1" max:"9" group:"engine" help:"A number"`
}

// testDrivers are engines that can be declared but not run.
func testDrivers() []*engines.Driver {
	return []*engines.Driver{
		{Name: "psync", Doc: "plain", Traits: job.Traits{Sync: true}},
		{Name: "null", Doc: "nothing", Traits: job.Traits{Diskless: true, FakeIO: true}},
		{Name: "optional", Doc: "one with options", Options: func() any { return new(testOptions) }},
		{Name: "absent", Doc: "one that is not there", Options: func() any { return new(testOptions) }, Missing: "it is only a test"},
		{Name: "foreign", Doc: "one of another build", Missing: "it needs a library", External: true},
	}
}

// testEnv is a process without a system below it: files are those of the map.
func testEnv(files map[string]string, args ...string) (*Env, *bytes.Buffer, *bytes.Buffer) {
	var stdout, stderr bytes.Buffer
	return &Env{
		Args:      args,
		LookupEnv: func(string) (string, bool) { return "", false },
		Stdin:     strings.NewReader(files["-"]),
		Stdout:    &stdout,
		Stderr:    &stderr,
		Open: func(path string) (io.ReadCloser, error) {
			text, ok := files[path]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
			}
			return io.NopCloser(strings.NewReader(text)), nil
		},
		Create: func(path string) (io.WriteCloser, error) {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		},
		Terminal: func() bool { return false },
		Width:    func() int { return 0 },
		Signals:  func() (<-chan os.Signal, func()) { return nil, func() {} },
	}, &stdout, &stderr
}

// FuzzCommandLine feeds any words to a dry run. It must end with status 0 or 1, and with an error message exactly when
// it is 1.
func FuzzCommandLine(f *testing.F) {
	for _, line := range []string{
		"--name=a\n--rw=read\n--size=1m",
		"--name=a\n--ioengine=optional\n--fast\n--level=4\n--name=b\n--fast",
		"--fast\n--ioengine=optional",
		"-rw\nwrite\n-bs=4k\njob.fio\n--\n-x",
		"job.fio\n-\n--section=a\n--readonly",
		"--showcmd\njob.fio",
		"--cmdhelp=rw", "--cmdhelp", "--enghelp=optional,level", "--enghelp", "--version", "--help", "-v", "-oF", "-mPs",
		"--output-format=json,terse\n--terse-version=5\n--append-terse",
		"--status-interval=1s\n--eta=always\n--eta-interval=500ms\n--eta-newline=2",
		"--debug=parse,job:3\n--name=a", "--debug=help", "--server", "--client=x", "--alloc-size=12\n--max-jobs=2",
		"--name=global\n--bs=8k\n--name=a\n--numjobs=3", "--name=", "--name", "--=", "---", "-", "--", "",
		"--name=a\n--filename=\x00\n--bs=(4*1k)\n--rw=randrw:8\n--bssplit=4k/50:8k/50,512/100",
	} {
		f.Add(line)
	}
	files := map[string]string{"job.fio": "[global]\nbs=4k\n[a]\nrw=read\nsize=1m\n", "-": "[in]\nsize=1m\n"}
	f.Fuzz(func(t *testing.T, line string) {
		args := append([]string{"--parse-only"}, strings.Split(line, "\n")...)
		for _, a := range args {
			if len(a) > 1<<16 {
				return
			}
		}
		env, _, stderr := testEnv(files, args...)
		switch status := Run(env, testDrivers()); {
		case status != 0 && status != 1:
			t.Errorf("status %d for %q", status, args)
		case status == 1 && !strings.HasPrefix(stderr.String(), "fiord: "):
			t.Errorf("status 1 and no message for %q: %q", args, stderr)
		}
	})
}
