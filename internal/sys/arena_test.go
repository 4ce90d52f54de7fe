package sys

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

func uid() int { return os.Getuid() }
func gid() int { return os.Getgid() }

func tempFile(t *testing.T, size int64) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestArena(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, file  string
		size, align int
	}{
		{"malloc", "", 4096, 0}, {"malloc", "", 1, 1}, {"malloc", "", 100_000, 1 << 16}, {"", "", 10, 0},
		{"shm", "", 5000, 0}, {"shm", "", 4096, 1 << 20},
		{"mmap", "", 5000, 4096}, {"mmapshared", "", 5000, 0},
		{"mmap", filepath.Join(dir, "new"), 5000, 0}, {"mmapshared", filepath.Join(dir, "new"), 5000, 1 << 14},
		{"mmapshared", old, 5000, 0}, {"mmap", old, 5000, 0},
	} {
		a, err := NewArena(c.kind, c.size, c.align, 2<<20, c.file)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if len(a.Mem) != c.size || cap(a.Mem) != c.size {
			t.Errorf("%+v: %d bytes of %d", c, len(a.Mem), cap(a.Mem))
		}
		if at := uintptr(unsafe.Pointer(&a.Mem[0])); at%uintptr(max(c.align, os.Getpagesize())) != 0 {
			t.Errorf("%+v: memory at %#x", c, at)
		}
		for i := range a.Mem {
			if a.Mem[i] != 0 {
				t.Errorf("%+v: byte %d is not 0", c, i)
				break
			}
			a.Mem[i] = 1
		}
		for range 2 {
			if err := a.Close(); err != nil {
				t.Errorf("%+v: Close: %v", c, err)
			}
		}
		// What the arena made is gone, what was there before is not.
		if c.file != "" {
			if _, err := os.Stat(c.file); (err == nil) != (c.file == old) {
				t.Errorf("%+v: afterwards the file: %v", c, err)
			}
		}
		if c.kind == "mmapshared" && c.file == old {
			if b, err := os.ReadFile(old); err != nil || b[0] != 1 {
				t.Errorf("%+v: memory did not reach the file: %v", c, err)
			}
			if err := os.WriteFile(old, make([]byte, 1<<20), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestArenaHuge(t *testing.T) {
	for _, kind := range []string{"mmaphuge", "shmhuge"} {
		a, err := NewArena(kind, 4096, 0, 2<<20, "")
		if err == nil {
			a.Mem[0] = 1
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, ErrHugePages) {
			t.Errorf("%s: %v does not say that huge pages lack", kind, err)
		}
	}
}

func TestArenaErrors(t *testing.T) {
	small := tempFile(t, 100).Name()
	for _, c := range []struct {
		kind, file        string
		size, align, huge int
		want              string
	}{
		{"malloc", "", 0, 0, 0, "cannot allocate 0 bytes"},
		{"malloc", "", -1, 0, 0, "cannot allocate -1 bytes"},
		{"malloc", "", 10, 3, 0, "alignment 3 is not a power of two"},
		{"malloc", "", 1 << 62, 0, 0, "cannot allocate memory"},
		{"malloc", "", 1<<63 - 1, 1 << 20, 0, "overflows"},
		{"mmaphuge", "", 10, 0, 3, "hugepage-size 3 is not a power of two"},
		{"cudamalloc", "", 10, 0, 0, "unknown kind of memory"},
		{"mmapshared", small, 5000, 0, 0, "file has 100 bytes"},
		{"mmap", filepath.Join(t.TempDir(), "none", "x"), 5000, 0, 0, "no such file"},
	} {
		a, err := NewArena(c.kind, c.size, c.align, c.huge, c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v", c, err)
			_ = a.Close()
		}
	}
}
