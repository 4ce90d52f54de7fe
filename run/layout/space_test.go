package layout

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// enterSmall mounts a file system of 2 MiB and makes it the current directory.
func enterSmall(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("mounting a small tmpfs needs privileges: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	t.Chdir(dir)
}

func TestNoSpace(t *testing.T) {
	enterSmall(t)
	var lines []string
	_, err := Prepare(oneJob(t, "rw=read size=4m fallocate=none"), drivers["psync"],
		Env{Print: func(s string) { lines = append(lines, s) }})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want no space", err)
	}
	if len(lines) != 2 || !strings.Contains(lines[1], "ENOSPC while it was laid out") {
		t.Errorf("lines %q", lines)
	}
	if got := sizes(t); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
	_, err = Prepare(oneJob(t, "rw=write size=4m fallocate=keep"), drivers["psync"], Env{})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("fallocate=keep: error %v, want no space", err)
	}
	if got := sizes(t); len(got) != 0 {
		t.Errorf("fallocate=keep left behind: %v", got)
	}
}

// TestFillDevice lays out as much as there is room for when the job reads, and nothing when it writes itself.
func TestFillDevice(t *testing.T) {
	enterSmall(t)
	s := prepared(t, "rw=read fill_device=1 filename=f", Env{})
	if s.Files[0].Size != 2<<20 || s.Files[0].Length != 2<<20 {
		t.Errorf("Size %d, Length %d, want what the file system holds", s.Files[0].Size, s.Files[0].Length)
	}
	must(t, os.Remove("f"))
	s = prepared(t, "rw=write fill_device=1 filename=f", Env{})
	if s.Files[0].Size != Unbounded || s.FillSize != 2<<20 {
		t.Errorf("Size %d, FillSize %d", s.Files[0].Size, s.FillSize)
	}
	if diff := cmp.Diff(map[string]int64{"f": 0}, sizes(t)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
