// Command guest is the first process of the virtual machine in which the NVMe tests run: it sets the machine up as its
// plan says, runs the steps, and sends their results over the second serial port.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fiord/test/nvme/plan"
)

func main() {
	err := run()
	if err != nil {
		fmt.Println("guest: ", err)
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // which ends the emulator
	select {}
}

func run() error {
	for _, m := range []struct{ kind, dir string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"},
	} {
		if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.dir, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.dir, err)
		}
	}
	out, err := port("/dev/ttyS1")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(plan.Path)
	if err != nil {
		return err
	}
	var p plan.Plan
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	if err := setUp(&p); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, plan.Ready); err != nil {
		return err
	}
	for _, s := range p.Steps {
		line, err := json.Marshal(do(s))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return unix.IoctlSetInt(int(out.Fd()), unix.TCSBRK, 1) // until all is sent
}

// port opens a serial port that changes no bytes.
func port(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil, err
	}
	t.Oflag &^= unix.OPOST
	return f, unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, t)
}

func setUp(p *plan.Plan) error {
	if err := write("/sys/bus/pci/drivers_autoprobe", "0"); err != nil {
		return err
	}
	for _, m := range p.Modules {
		if err := load(m); err != nil {
			return fmt.Errorf("module %s: %w", m.File, err)
		}
	}
	for _, d := range p.Drives {
		if err := write("/sys/bus/pci/drivers/nvme/bind", d.PCI); err != nil {
			return err
		}
		if err := appears("/dev/" + d.Generic); err != nil {
			return err
		}
	}
	if len(p.NullBlk) == 0 {
		return nil
	}
	if err := unix.Mount("configfs", "/sys/kernel/config", "configfs", 0, ""); err != nil {
		return fmt.Errorf("mount configfs: %w", err)
	}
	for _, n := range p.NullBlk {
		dir := filepath.Join("/sys/kernel/config/nullb", n.Name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for k, v := range n.Settings {
			if err := write(filepath.Join(dir, k), v); err != nil {
				return err
			}
		}
		if err := write(filepath.Join(dir, "power"), "1"); err != nil {
			return err
		}
		if err := appears("/dev/" + n.Name); err != nil {
			return err
		}
	}
	return nil
}

func load(m plan.Module) error {
	f, err := os.Open(m.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), m.Params, 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

func write(path, text string) error { return os.WriteFile(path, []byte(text), 0) }

// appears waits for a device node.
func appears(path string) error {
	for range 3000 {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%s did not appear", path)
}

// do runs one step.
func do(s plan.Step) plan.Result {
	r := plan.Result{Name: s.Name}
	start := time.Now()
	var mu sync.Mutex
	var writes sync.WaitGroup
	for _, w := range s.Writes {
		writes.Go(func() {
			time.Sleep(time.Duration(w.AfterMs)*time.Millisecond - time.Since(start))
			if err := write(w.Path, w.Text); err != nil {
				mu.Lock()
				r.Errors = append(r.Errors, err.Error())
				mu.Unlock()
			}
		})
	}
	if len(s.Args) > 0 {
		program(s, &r, &mu)
	}
	writes.Wait()
	r.Millis = time.Since(start).Milliseconds()
	return r
}

// most is how much of a program's output is kept.
const most = 1 << 20

func program(s plan.Step, r *plan.Result, mu *sync.Mutex) {
	var stdout, stderr bytes.Buffer
	c := exec.Command(s.Args[0], s.Args[1:]...)
	c.Dir = cmp.Or(s.Dir, "/tmp")
	c.Env = []string{"PATH=/bin", "HOME=/tmp", "TMPDIR=/tmp"}
	c.Stdout, c.Stderr = limited(&stdout), limited(&stderr)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = time.Second
	err := c.Start()
	if err == nil {
		timer := time.AfterFunc(time.Duration(s.LimitS)*time.Second, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		err = c.Wait()
		timer.Stop()
		r.Exit = c.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		mu.Lock()
		r.Errors = append(r.Errors, err.Error())
		mu.Unlock()
	}
	r.Stdout, r.Stderr = stdout.String(), stderr.String()
}

type limitedWriter struct {
	w    io.Writer
	left int
}

func limited(w io.Writer) io.Writer { return &limitedWriter{w, most} }

func (l *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
