package uring

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/engines/uring/ring"
	"fiord/internal/feature"
	"fiord/job"
)

// The requests of linux/loop.h.
const (
	loopSetFd      = 0x4c00
	loopClrFd      = 0x4c01
	loopCtlGetFree = 0x4c82
)

// loopDevice makes a block device of a file that is full of x.
func loopDevice(t *testing.T, size int) (path, backing string) {
	t.Helper()
	backing = filepath.Join(t.TempDir(), "backing")
	if err := os.WriteFile(backing, bytes.Repeat([]byte("x"), size), 0o600); err != nil {
		t.Fatal(err)
	}
	ctl, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no loop devices here:", err)
	}
	defer func() { _ = ctl.Close() }()
	f, err := os.OpenFile(backing, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for range 8 { // another test may be quicker to take the one that is free
		n, _, errno := syscall.Syscall(syscall.SYS_IOCTL, ctl.Fd(), loopCtlGetFree, 0)
		if errno != 0 {
			t.Skip("no free loop device:", errno)
		}
		path = fmt.Sprintf("/dev/loop%d", n)
		d, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Skip("no loop devices here:", err)
		}
		if _, _, errno = syscall.Syscall(syscall.SYS_IOCTL, d.Fd(), loopSetFd, f.Fd()); errno == 0 {
			t.Cleanup(func() {
				_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, d.Fd(), loopClrFd, 0)
				_ = d.Close()
			})
			return path, backing
		}
		_ = d.Close()
	}
	t.Skip("every loop device is taken")
	return "", ""
}

// TestTrimOfABlockDevice trims through the ring where the kernel has the command, else by system call, on a loop device.
func TestTrimOfABlockDevice(t *testing.T) {
	const size = 1 << 20
	path, backing := loopDevice(t, size)
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	f := &engines.File{Name: path, Fd: fd, Kind: engines.Block, Size: size}
	for _, o := range []*Options{{Nonvectored: -1}, {Nonvectored: -1, Registerfiles: true}} {
		e, w := openOn(t, ring.Linux, 2, 4096, o, &job.Job{}, f)
		for i, u := range w.IOs {
			u.Op, u.Offset, u.Len = engines.Trim, int64(64<<10*(i+1)), 16<<10
		}
		all(t, e, w.IOs)
		for _, u := range w.IOs {
			if u.Errno == syscall.EOPNOTSUPP {
				t.Skip("the file system below the loop device punches no holes")
			}
			if u.Errno != 0 || u.Done != 16<<10 {
				t.Errorf("trim: done %d, %v", u.Done, u.Errno)
			}
		}
		if throughRing := !e.outside[engines.Trim]; throughRing != feature.AtLeast(6, 12) {
			t.Errorf("through the ring: %v, on this kernel", throughRing)
		}
		f.Engine = nil
	}
	got, err := os.ReadFile(backing)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(got, []byte{0}); n != 32<<10 || got[64<<10] != 0 || got[128<<10+16<<10-1] != 0 {
		t.Errorf("%d bytes are gone, want %d", n, 32<<10)
	}
}
