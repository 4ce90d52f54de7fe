package exec

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fiord/engines"
	"fiord/job"
)

func start(t *testing.T, o Options, runtime time.Duration) (*engine, *engines.IO) {
	t.Helper()
	t.Chdir(t.TempDir())
	w := &engines.Worker{Job: &job.Job{Name: "x"}, Depth: 1}
	w.Job.Runtime = runtime
	a, err := Driver().Open(w, &o)
	if err != nil {
		t.Fatal(err)
	}
	if w.Job.ThinkTime != pollEvery {
		t.Errorf("think time %d us, want %d", w.Job.ThinkTime, pollEvery)
	}
	e := engines.Inner(a).(*engine)
	e.pause = time.Millisecond
	u := &engines.IO{}
	e.Do(u)
	return e, u
}

func TestOutput(t *testing.T) {
	e, u := start(t, Options{Program: "sh", Arguments: "-c  echo\t%n,%r", StdRedirect: true}, 7*time.Second)
	if u.Errno != 0 {
		t.Fatal(u.Errno)
	}
	<-e.ended
	e.Do(u) // a program that has ended is no error
	if err := e.Close(); err != nil || u.Errno != 0 {
		t.Errorf("Close: %v, errno %v", err, u.Errno)
	}
	// Without quoting, echo is the whole command and x,7 its name.
	for name, want := range map[string]string{"x.stdout": "\n", "x.stderr": ""} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestArguments(t *testing.T) {
	e, _ := start(t, Options{Program: "echo", Arguments: "%n %r", StdRedirect: true}, 7*time.Second)
	<-e.ended
	if got, err := os.ReadFile("x.stdout"); err != nil || string(got) != "x 7\n" {
		t.Errorf("echo said %q, %v", got, err)
	}
}

func TestTerminate(t *testing.T) {
	e, u := start(t, Options{Program: "sleep", Arguments: "1000", GraceTime: 60}, 0)
	e.Do(u) // the runtime is over
	<-e.ended
	if s, ok := e.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGTERM {
		t.Errorf("the program ended with %v, want SIGTERM", e.cmd.ProcessState)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestKill(t *testing.T) {
	e, _ := start(t, Options{Program: "sleep", Arguments: "1000"}, time.Hour)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if s, ok := e.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Errorf("the program ended with %v, want SIGKILL", e.cmd.ProcessState)
	}
}

func TestErrors(t *testing.T) {
	if _, err := Driver().Open(&engines.Worker{Job: &job.Job{}}, &Options{}); !errors.Is(err, ErrNoProgram) {
		t.Errorf("without a program: %v", err)
	}
	for program, want := range map[string]syscall.Errno{filepath.Join(t.TempDir(), "x"): syscall.ENOENT, "no-such-program": syscall.ENOENT,
		"/dev/null": syscall.EACCES} {
		e, u := start(t, Options{Program: program}, 0)
		if u.Errno != want {
			t.Errorf("%s: %v, want %v", program, u.Errno, want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Run("output", func(t *testing.T) {
		t.Chdir("/proc")
		e := &engine{o: Options{Program: "true", StdRedirect: true}, name: "x"}
		u := &engines.IO{}
		if e.Do(u); u.Errno == 0 {
			t.Error("output files in /proc were made")
		}
	})
}
