package layout

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fiord/engines"
)

// loopDevice makes a block device of size bytes out of a file.
func loopDevice(t *testing.T, size int64) string {
	t.Helper()
	backing := filepath.Join(t.TempDir(), "backing")
	must(t, os.WriteFile(backing, nil, 0o600))
	must(t, os.Truncate(backing, size))
	out, err := exec.Command("losetup", "--find", "--show", backing).CombinedOutput()
	if err != nil {
		t.Skipf("a loop device needs losetup and privileges: %v: %s", err, out)
	}
	dev := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", dev).CombinedOutput(); err != nil {
			t.Errorf("detach %s: %v: %s", dev, err, out)
		}
	})
	return dev
}

func TestBlockDevice(t *testing.T) {
	dev := loopDevice(t, 4<<20)
	for _, c := range []struct {
		args                  string
		offset, length, total int64
	}{
		{"rw=read", 0, 4 << 20, 4 << 20},
		{"rw=write size=1m", 0, 1 << 20, 1 << 20},
		{"rw=randtrim offset=50%", 2 << 20, 2 << 20, 2 << 20},
		{"rw=read size=25% direct=1", 0, 1 << 20, 1 << 20},
		{"rw=write size=8m", 0, 8 << 20, 8 << 20},
	} {
		s := prepared(t, c.args+" filename="+dev, Env{})
		f := s.Files[0]
		if f.Kind != engines.Block || f.Size != 4<<20 || f.Offset != c.offset || f.Length != c.length ||
			s.TotalSize != uint64(c.total) {
			t.Errorf("%s: %+v, TotalSize %d", c.args, *f, s.TotalSize)
		}
		must(t, s.Open(0))
		s.Invalidate(0)
		must(t, s.Finish())
		if _, err := os.Stat(dev); err != nil {
			t.Fatalf("%s: the device is gone: %v", c.args, err)
		}
	}
}

func TestMountedDevice(t *testing.T) {
	dev := loopDevice(t, 4<<20)
	if out, err := exec.Command("mkfs.ext4", "-q", dev).CombinedOutput(); err != nil {
		t.Skipf("a file system needs mkfs.ext4: %v: %s", err, out)
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", dev, dir).CombinedOutput(); err != nil {
		t.Skipf("mount needs privileges: %v: %s", err, out)
	}
	defer func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	}()
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dev, link))
	for _, c := range []struct {
		args    string
		refused bool
	}{
		{"rw=write filename=" + dev, true},
		{"rw=randrw filename=" + link, true},
		{"rw=read filename=" + dev, false},
		{"rw=write allow_mounted_write=1 filename=" + dev, false},
	} {
		j := oneJob(t, c.args)
		if err := CheckMounts(j); errors.Is(err, ErrMounted) != c.refused {
			t.Errorf("%s: CheckMounts: %v", c.args, err)
		}
		if _, err := Prepare(j, drivers["psync"], Env{}); errors.Is(err, ErrMounted) != c.refused {
			t.Errorf("%s: Prepare: %v", c.args, err)
		}
	}
}
