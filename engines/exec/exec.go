// Package exec is the exec engine, which does no I/O but runs a program beside the other jobs for the job's runtime.
//
// It owns the program: its arguments, its output files and its end. It must not know who else runs.
package exec

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
)

// Options are the options of exec.
type Options struct {
	Program     string `fio:"program" help:"Path of the program to run"`
	Arguments   string `fio:"arguments" help:"Command-line arguments passed to the program"`
	GraceTime   int    `fio:"grace_time" def:"1" min:"0" help:"Seconds to wait after SIGTERM before sending SIGKILL; default 1"`
	StdRedirect bool   `fio:"std_redirect" def:"1" help:"Send the output of the program to files named after the job; on by default"`
}

// Driver is the exec engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:    "exec",
		Doc:     "Runs a program beside the other jobs.",
		Traits:  job.Traits{Sync: true, Diskless: true, NoIO: true},
		Options: func() any { return &Options{GraceTime: 1, StdRedirect: true} },
		Open:    open,
	}
}

// pollEvery is how long the engine waits, and the job pauses, between two looks at the program, in microseconds.
const pollEvery = 50_000

// ErrNoProgram is the error of an exec job without a program.
var ErrNoProgram = errors.New("exec: program: want the path of a program")

type engine struct {
	o       Options
	args    []string
	name    string // of the job: its output files are called by it
	runtime time.Duration
	pause   time.Duration

	cmd     *exec.Cmd
	started time.Time
	ended   chan struct{} // closed when the program has ended
}

func open(w *engines.Worker, options any) (engines.Engine, error) {
	o := *options.(*Options)
	if o.Program == "" {
		return nil, ErrNoProgram
	}
	j := w.Job
	j.ThinkTimeBlocks, j.ThinkTimeBlocksType = 1, "complete"
	j.ThinkTimeSpin, j.ThinkTimeIotime = 0, 0
	j.ThinkTime = pollEvery
	// As in fio, blanks alone separate arguments: there is no quoting.
	args := strings.Fields(strings.NewReplacer("%r", strconv.FormatInt(int64(j.Runtime/time.Second), 10), "%n", j.Name).
		Replace(o.Arguments))
	return engines.Adapt(&engine{o: o, args: args, name: j.Name, runtime: j.Runtime,
		pause: pollEvery * time.Microsecond}, w.Depth), nil
}

// Do starts the program, or looks whether its time is up.
func (e *engine) Do(u *engines.IO) {
	u.Done, u.Errno = len(u.Buf), 0
	if e.cmd == nil {
		if err := e.start(); err != nil {
			u.Done, u.Errno = 0, errnoOf(err)
		}
		return
	}
	select {
	case <-e.ended:
		time.Sleep(e.pause) // as in fio, the job goes on until its runtime is over
	case <-time.After(e.pause):
	}
	if time.Since(e.started) > e.runtime {
		e.terminate()
	}
}

func (e *engine) start() error {
	cmd := exec.Command(e.o.Program, e.args...)
	if e.o.StdRedirect {
		out, err := os.Create(e.name + ".stdout")
		if err != nil {
			return err
		}
		defer func() { _ = out.Close() }()
		errs, err := os.Create(e.name + ".stderr")
		if err != nil {
			return err
		}
		defer func() { _ = errs.Close() }()
		cmd.Stdout, cmd.Stderr = out, errs
	} else {
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // standard output is the report's
	}
	if err := sys.StartProgram(cmd); err != nil {
		return err
	}
	e.cmd, e.started, e.ended = cmd, time.Now(), make(chan struct{})
	go func() {
		_ = cmd.Wait() // its status is the program's own affair, as in fio
		close(e.ended)
	}()
	return nil
}

// errnoOf finds the errno below err.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno
	case errors.Is(err, exec.ErrNotFound):
		return syscall.ENOENT
	}
	return syscall.EIO
}

// terminate asks the program to end, and waits for as long as grace_time allows.
func (e *engine) terminate() {
	_ = e.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-e.ended:
	case <-time.After(time.Duration(e.o.GraceTime) * time.Second):
	}
}

// Close kills the program if it still runs, and waits for its end.
func (e *engine) Close() error {
	if e.cmd == nil {
		return nil
	}
	select {
	case <-e.ended:
		return nil
	default:
	}
	if err := e.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("exec: kill %s: %w", e.o.Program, err)
	}
	<-e.ended
	return nil
}
