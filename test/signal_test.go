package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// started is a fiord that runs until it is told to stop.
type started struct {
	cmd    *exec.Cmd
	docs   *json.Decoder
	stderr bytes.Buffer
}

// start runs fiord on a job that would last for a minute and reports as JSON.
func start(t *testing.T, args ...string) *started {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := "--output-format=json --name=j --rw=randread --bs=4k --size=64k --time_based --runtime=60 --rate_iops=1000"
	s := &started{cmd: exec.CommandContext(t.Context(), exe, append(strings.Fields(words), args...)...)}
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append(os.Environ(), asFiord+"=1")
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.docs = json.NewDecoder(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// next reads the next document and returns how many I/Os the job has done by it.
func (s *started) next(t *testing.T) int {
	t.Helper()
	var doc struct {
		Jobs []struct {
			Read struct {
				IOs int `json:"total_ios"`
			}
		}
	}
	if err := s.docs.Decode(&doc); err != nil {
		t.Fatalf("report: %v\n%s", err, &s.stderr)
	}
	if len(doc.Jobs) != 1 {
		t.Fatalf("%d jobs in the report", len(doc.Jobs))
	}
	return doc.Jobs[0].Read.IOs
}

// end waits for the end of fiord and returns its status.
func (s *started) end(t *testing.T) int {
	t.Helper()
	if err := s.docs.Decode(new(any)); err != io.EOF {
		t.Errorf("more after the last report: %v", err)
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

func (s *started) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// TestSignalEndsRun sends SIGINT to a running job: it ends in order, with a report of what it did. The first report of
// --status-interval tells that it runs.
func TestSignalEndsRun(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := start(t, "--status-interval=200ms")
			before := s.next(t)
			s.signal(t, sig)
			last := s.next(t)
			for s.docs.More() {
				last = s.next(t) // a status report may have come between
			}
			if last < before {
				t.Errorf("%d I/Os at the end, %d before", last, before)
			}
			if status := s.end(t); status != 128 {
				t.Errorf("status %d, want 128\n%s", status, &s.stderr)
			}
		})
	}
}

// TestSignalAsksForReport sends SIGUSR1: a report comes at once, and the run goes on.
func TestSignalAsksForReport(t *testing.T) {
	t.Parallel()
	s := start(t, "--status-interval=200ms")
	n := s.next(t)
	s.signal(t, syscall.SIGUSR1)
	for range 3 {
		if m := s.next(t); m < n {
			t.Errorf("%d I/Os, %d in the report before", m, n)
		} else {
			n = m
		}
	}
	s.signal(t, syscall.SIGINT)
	for s.docs.More() {
		s.next(t)
	}
	if status := s.end(t); status != 128 {
		t.Errorf("status %d, want 128", status)
	}
}
