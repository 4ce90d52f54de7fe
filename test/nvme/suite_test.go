package nvme

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"fiord/test/nvme/plan"
)

// check is what a step's result has to be.
type check struct {
	step string
	test func(*testing.T, plan.Result)
}

// suite is a machine and what is expected of its steps.
type suite struct {
	machine
	checks []check
}

// newSuite is a machine with fiord in it.
func newSuite(t *testing.T, drives []drive) *suite {
	t.Helper()
	return &suite{machine: machine{drives: drives, programs: map[string]string{"fiord": build(t, ".", false)},
		params: map[string]string{"nvme": "poll_queues=2", "null_blk": "nr_devices=0"}}}
}

func (s *suite) add(name string, limitS int, test func(*testing.T, plan.Result), args ...string) *plan.Step {
	s.checks = append(s.checks, check{name, test})
	return s.step(name, limitS, args...)
}

// fiord adds a run of fiord on a drive, through io_uring_cmd.
func (s *suite) fiord(name string, drive int, test func(*testing.T, plan.Result), args ...string) *plan.Step {
	return s.on(name, "io_uring_cmd", fmt.Sprintf("/dev/ng%dn1", drive), test, args...)
}

// block adds a run of fiord on a drive, through the block layer.
func (s *suite) block(name string, drive int, engine string, test func(*testing.T, plan.Result), args ...string) *plan.Step {
	return s.on(name, engine, fmt.Sprintf("/dev/nvme%dn1", drive), test, append([]string{"--direct=1"}, args...)...)
}

// on adds a run of fiord on files.
func (s *suite) on(name, engine, files string, test func(*testing.T, plan.Result), args ...string) *plan.Step {
	return s.add(name, 60, test, append([]string{"/bin/fiord", "--output-format=json", "--name=global", "--ioengine=" + engine,
		"--filename=" + files, "--stonewall"}, args...)...)
}

// run boots the machine and checks what came of its steps.
func (s *suite) run(t *testing.T, limit time.Duration) {
	t.Helper()
	results := s.boot(t, limit)
	for _, c := range s.checks {
		if r, ok := results[c.step]; ok {
			t.Run(strings.ReplaceAll(c.step, "/", " "), func(t *testing.T) { c.test(t, r) })
		}
	}
}

// report is what the tests look at in fiord's JSON.
type report struct {
	Jobs []jobReport
}

type jobReport struct {
	Name              string `json:"jobname"`
	Error             int    `json:"error"`
	Read, Write, Trim direction
	Sync              direction
}

type direction struct {
	IOs   uint64 `json:"total_ios"`
	Bytes uint64 `json:"io_bytes"`
}

// parse reads the last report that was printed.
func parse(t *testing.T, r plan.Result) report {
	t.Helper()
	var rep report
	at := strings.IndexByte(r.Stdout, '{')
	if at < 0 {
		t.Fatalf("no JSON: exit %d, %v\n%s%s", r.Exit, r.Errors, r.Stdout, r.Stderr)
	}
	for docs := json.NewDecoder(strings.NewReader(r.Stdout[at:])); ; {
		var next report
		if err := docs.Decode(&next); errors.Is(err, io.EOF) {
			return rep
		} else if err != nil {
			t.Fatalf("%v\n%s", err, tail([]byte(r.Stdout)))
		}
		rep = next
	}
}

// job is the report on one job.
func (r report) job(t *testing.T, name string) jobReport {
	t.Helper()
	for _, j := range r.Jobs {
		if j.Name == name {
			return j
		}
	}
	t.Fatalf("no job %s in the report", name)
	return jobReport{}
}

// fine wants success.
func fine(t *testing.T, r plan.Result) {
	t.Helper()
	if r.Exit != 0 || len(r.Errors) > 0 || crashed(r) {
		t.Errorf("exit %d, %v\n%s%s", r.Exit, r.Errors, tail([]byte(r.Stdout)), r.Stderr)
	}
}

// crashed reports whether the Go runtime has ended the program.
func crashed(r plan.Result) bool {
	for _, s := range []string{"panic:", "fatal error:", "SIGSEGV", "SIGBUS"} {
		if strings.Contains(r.Stderr, s) {
			return true
		}
	}
	return false
}

// says wants failure, with a text in what was printed.
func says(text string) func(*testing.T, plan.Result) {
	return func(t *testing.T, r plan.Result) {
		t.Helper()
		if r.Exit == 0 || r.Exit == -1 || crashed(r) || len(r.Errors) > 0 || !strings.Contains(r.Stdout+r.Stderr, text) {
			t.Errorf("exit %d, %v, want a failure that says %q\n%s%s", r.Exit, r.Errors, text, tail([]byte(r.Stdout)), r.Stderr)
		}
	}
}

// contains reports whether the program has printed a text.
func contains(r plan.Result, text string) bool { return strings.Contains(r.Stdout+r.Stderr, text) }
