package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fiord/test/nvme/plan"
)

func TestDo(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	for _, c := range []struct {
		name    string
		step    plan.Step
		exit    int
		stdout  string
		problem string // part of an error
	}{
		{"status and output", plan.Step{Args: sh("echo hello; echo oops >&2; exit 3"), LimitS: 60}, 3, "hello\n", ""},
		{"killed", plan.Step{Args: sh("echo begun; read x < " + at("never")), LimitS: 1, Before: []plan.Action{fifo(t, at("never"))}}, -1, "begun\n", ""},
		{"no program", plan.Step{Args: []string{at("missing")}, LimitS: 60}, -1, "", "no such file"},
		// The program ends only when the action has been done, which waits for what it prints.
		{"action once it has printed", plan.Step{Args: sh("echo go; read x < " + at("pipe") + "; echo got $x"), LimitS: 60,
			Before:  []plan.Action{fifo(t, at("pipe"))},
			Actions: []plan.Action{{Printed: true, Path: at("pipe"), Text: "word\n"}}}, 0, "go\ngot word\n", ""},
		{"actions alone", plan.Step{Actions: []plan.Action{{Path: at("file"), Text: "x"}, {Appears: at("file")}}}, 0, "", ""},
		{"action that fails", plan.Step{Args: sh("true"), LimitS: 60, Before: []plan.Action{{Path: at("no/file")}}}, 0, "", "no such file"},
		{"what is not there", plan.Step{Read: []string{at("absent")}}, 0, "", "absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.step.Dir = dir
			r := do(c.step)
			problems := strings.Join(r.Errors, "\n")
			if r.Exit != c.exit || r.Stdout != c.stdout || (c.problem == "") != (problems == "") || !strings.Contains(problems, c.problem) {
				t.Errorf("%+v", r)
			}
		})
	}
	if r := do(plan.Step{Read: []string{at("file")}}); r.Files[at("file")] != "x" {
		t.Errorf("%+v", r)
	}
}

// fifo makes a pipe; it is done already when the step begins.
func fifo(t *testing.T, path string) plan.Action {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return plan.Action{Appears: path}
}
