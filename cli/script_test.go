package cli_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fiord/cli"
	"fiord/engines/all"
)

var update = flag.Bool("update", false, "rewrite the expected outputs of the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"fiord": func() { os.Exit(cli.Main(all.Drivers()...)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   func(ts *testscript.TestScript, neg bool, args []string) { status(ts, neg, args, "fiord") },
			"tmpfs":    tmpfs,
			"failed":   failed,
			"statusof": func(ts *testscript.TestScript, neg bool, args []string) { status(ts, neg, args) },
		},
		Condition: condition,
	})
}

// condition knows [root], [tmpfs] where one can be mounted, and [aligned] where direct I/O needs aligned blocks.
func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "tmpfs":
		dir, err := os.MkdirTemp("", "fiord-")
		if err != nil {
			return false, err
		}
		defer os.Remove(dir)
		if mount(dir, "4k") != nil {
			return false, nil
		}
		return true, syscall.Unmount(dir, 0)
	case "aligned":
		dir, err := os.MkdirTemp("", "fiord-")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_CREATE|os.O_WRONLY|syscall.O_DIRECT, 0o600)
		if err != nil {
			return false, nil
		}
		defer f.Close()
		_, err = f.Write(make([]byte, 1000))
		return errors.Is(err, syscall.EINVAL), nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

func mount(dir, size string) error { return syscall.Mount("none", dir, "tmpfs", 0, "size="+size) }

// tmpfs mounts a file system of a size in memory on a folder of the script: tmpfs DIR SIZE.
func tmpfs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tmpfs dir size")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.Mkdir(dir, 0o755))
	ts.Check(mount(dir, args[1]))
	ts.Defer(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			ts.Logf("unmount %s: %v", dir, err)
		}
	})
}

// status runs a program and wants an exit status: "status N ARGS..." runs fiord, "statusof N PROGRAM ARGS..." any other.
// The outputs are those of exec.
func status(ts *testscript.TestScript, neg bool, args []string, program ...string) {
	if neg || len(args)+len(program) < 2 {
		ts.Fatalf("usage: status N [arguments of fiord], statusof N program [arguments]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	words := append(program, args[1:]...)
	got := 0
	if err := ts.Exec(words[0], words[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", words[0], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// place matches what in an error line of a run changes from build to build and run to run.
var place = regexp.MustCompile(`\w+\.go:\d+|pid=\d+`)

// failed runs fiord and wants an exit status: failed N ARGS. In its standard error, process numbers and places in fiord's
// source are written as #.
func failed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: failed N [arguments of fiord]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var stderr bytes.Buffer
	// env finds fiord where the script would, which is not where the test itself looks for programs.
	c := exec.Command("env", append([]string{"fiord"}, args[1:]...)...)
	c.Dir = ts.MkAbs(".")
	c.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"))
	c.Stdout, c.Stderr = ts.Stdout(), &stderr
	err = c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("fiord: %v", err)
	}
	_, err = ts.Stderr().Write(place.ReplaceAll(stderr.Bytes(), []byte("#")))
	ts.Check(err)
	if got := c.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit status %d, want %d\n%s", got, want, &stderr)
	}
}
