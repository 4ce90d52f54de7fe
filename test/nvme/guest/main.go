// Command guest is the first process of the virtual machine in which the NVMe tests run: it sets the machine up as its
// plan says, runs the steps, and sends their results over the second serial port.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		if err := appears("/dev/"+d.Generic, true); err != nil {
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
		if err := appears("/dev/"+n.Name, true); err != nil {
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

// appears waits until a path is there, or until it is not. The kernel tells nobody here, so it has to be looked at.
func appears(path string, there bool) error {
	for range 3000 {
		if _, err := os.Stat(path); (err == nil) == there {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	if there {
		return fmt.Errorf("%s did not appear", path)
	}
	return fmt.Errorf("%s did not go away", path)
}
