package sys

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReopen checks that the new descriptor is of the same file, even a removed one, with a position of its own.
func TestReopen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("abc"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	fd, err := Reopen(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	var b [3]byte
	if n, err := unix.Read(fd, b[:]); err != nil || string(b[:n]) != "abc" {
		t.Errorf("read %q, %v; want abc from the start", b[:n], err)
	}
	if err := CloseFd(fd); err != nil {
		t.Error(err)
	}
	if _, err := Reopen(-1); err == nil {
		t.Error("no error for no descriptor")
	}
}
