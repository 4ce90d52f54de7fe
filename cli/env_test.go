package cli

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCreateFile makes a report file: what was there goes, and it is open for writing alone.
func TestCreateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(path, []byte("of the last run"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := osEnv().Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := f.(*os.File).ReadAt(make([]byte, 1), 0); !errors.Is(err, syscall.EBADF) {
		t.Errorf("read: error %v, want EBADF", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	if f, err := osEnv().Create("/nonexistent/report"); err == nil || f != nil {
		t.Errorf("%v, %v", f, err)
	}
}
