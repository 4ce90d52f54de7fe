package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"fiord/test/nvme/plan"
)

// grace is how long a program that was killed may take to end before the guest goes on without it.
const grace = 20 * time.Second

// do runs one step.
func do(s plan.Step) plan.Result {
	r := plan.Result{Name: s.Name, Files: map[string]string{}}
	start := time.Now()
	fail := func(err error) {
		if err != nil {
			r.Errors = append(r.Errors, err.Error())
		}
	}
	for _, a := range s.Before {
		fail(act(a, nil))
	}
	if len(s.Args) == 0 {
		for _, a := range s.Actions {
			fail(act(a, nil))
		}
	} else {
		for _, err := range program(s, &r) {
			fail(err)
		}
	}
	for _, path := range s.Read {
		text, err := os.ReadFile(path)
		fail(err)
		r.Files[path] = string(text)
	}
	r.Millis = time.Since(start).Milliseconds()
	return r
}

// act does one action. printed is closed when the program has printed something.
func act(a plan.Action, printed <-chan struct{}) error {
	if a.Printed {
		<-printed
	}
	if a.Path != "" {
		if err := write(a.Path, a.Text); err != nil {
			return err
		}
	}
	if a.Appears != "" {
		if err := appears(a.Appears, true); err != nil {
			return err
		}
	}
	if a.Vanishes != "" {
		return appears(a.Vanishes, false)
	}
	return nil
}

// program runs the program of s and the actions beside it.
func program(s plan.Step, r *plan.Result) []error {
	stdout, stderr := &output{printed: make(chan struct{})}, &output{printed: make(chan struct{})}
	c := exec.Command(s.Args[0], s.Args[1:]...)
	c.Dir = cmp.Or(s.Dir, "/tmp")
	c.Env = []string{"PATH=/bin", "HOME=/tmp", "TMPDIR=/tmp"}
	c.Stdout, c.Stderr = stdout, stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = time.Second
	r.Exit = -1
	if err := c.Start(); err != nil {
		return []error{err}
	}
	acted := make(chan error, len(s.Actions))
	go func() {
		for _, a := range s.Actions {
			acted <- act(a, stdout.printed)
		}
		close(acted)
	}()
	limit := time.Duration(s.LimitS) * time.Second
	kill := time.AfterFunc(limit, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var errs []error
	var exit *exec.ExitError
	select {
	case err := <-ended:
		if r.Exit = c.ProcessState.ExitCode(); err != nil && !errors.As(err, &exit) {
			errs = append(errs, err)
		}
	case <-time.After(limit + grace):
		errs = append(errs, fmt.Errorf("%s does not end, although it was killed after %v", s.Args[0], limit))
	}
	stdout.end() // actions that wait for output never come after the end of the program
	for err := range acted {
		errs = append(errs, err)
	}
	r.Stdout, r.Stderr = stdout.text(), stderr.text()
	return errs
}

// output keeps what a program prints, as far as there is room for it.
type output struct {
	mu      sync.Mutex
	kept    bytes.Buffer
	once    sync.Once
	printed chan struct{}
}

// most is how much of a program's output is kept.
const most = 1 << 20

var _ io.Writer = (*output)(nil)

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.kept.Write(p[:min(len(p), most-o.kept.Len())])
	o.mu.Unlock()
	o.end()
	return len(p), nil
}

func (o *output) end() { o.once.Do(func() { close(o.printed) }) }

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.String()
}
