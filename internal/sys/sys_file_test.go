package sys

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func openTemp(t *testing.T) int {
	t.Helper()
	fd, err := Open(filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Close(fd) })
	return fd
}

func fileSize(t *testing.T, fd int) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		t.Fatal(err)
	}
	return st.Size
}

func TestFileIO(t *testing.T) {
	fd := openTemp(t)
	if n, err := WriteAt(fd, []byte("abc"), 5); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	b := make([]byte, 10)
	if n, err := ReadAt(fd, b, 4); n != 4 || err != nil || !bytes.Equal(b[:4], []byte("\x00abc")) {
		t.Fatalf("%d %v %q", n, err, b)
	}
	if n, err := ReadAt(fd, b, 8); n != 0 || err != nil {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if n, err := ReadAt(-1, b, 0); n != 0 || !errors.Is(err, unix.EBADF) {
		t.Errorf("bad descriptor: %d, %v", n, err)
	}
	if err := Truncate(fd, 100); err != nil || fileSize(t, fd) != 100 {
		t.Errorf("truncate: %v", err)
	}
	if err := Fsync(fd); err != nil {
		t.Error(err)
	}
	if err := Fadvise(fd, 0, 0, AdviseDontNeed); err != nil {
		t.Error(err)
	}
	other, err := Dup(fd)
	if err != nil || other == fd {
		t.Fatal(other, err)
	}
	if err := Close(other); err != nil {
		t.Error(err)
	}
	if err := Close(other); !errors.Is(err, unix.EBADF) {
		t.Errorf("second close: %v", err)
	}
}

func TestFallocate(t *testing.T) {
	fd := openTemp(t)
	if err := Fallocate(fd, true, 0, 8192); errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("the file system of the temporary directory has no fallocate")
	} else if err != nil || fileSize(t, fd) != 0 {
		t.Fatalf("keep size: %v, size %d", err, fileSize(t, fd))
	}
	if err := Fallocate(fd, false, 0, 8192); err != nil || fileSize(t, fd) != 8192 {
		t.Fatalf("%v, size %d", err, fileSize(t, fd))
	}
	if err := PosixFallocate(fd, 0, 10000); err != nil || fileSize(t, fd) != 10000 {
		t.Fatalf("posix: %v, size %d", err, fileSize(t, fd))
	}
}

// TestTouchBlocks runs what PosixFallocate does on file systems without fallocate.
func TestTouchBlocks(t *testing.T) {
	fd := openTemp(t)
	if _, err := WriteAt(fd, bytes.Repeat([]byte("a"), 5000), 0); err != nil {
		t.Fatal(err)
	}
	if err := touchBlocks(fd, 0, 10001); err != nil || fileSize(t, fd) != 10001 {
		t.Fatalf("%v, size %d", err, fileSize(t, fd))
	}
	b := make([]byte, 5001)
	if _, err := ReadAt(fd, b, 0); err != nil || !bytes.Equal(b, append(bytes.Repeat([]byte("a"), 5000), 0)) {
		t.Error("what the file held has changed")
	}
}

func TestParseMount(t *testing.T) {
	const line = `36 35 98:5 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/with\040blank rw,errors=continue`
	m, ok := parseMount(line)
	if want := (mount{source: "/dev/with blank", dev: unix.Mkdev(98, 5)}); !ok || m != want {
		t.Errorf("%v %v, want %v", m, ok, want)
	}
	for _, bad := range []string{"", "-", "1 2 3:4 - ext4", "1 2 x:4 / / rw - ext4 /dev/a rw", "1 2 34 / / rw - ext4 /dev/a rw"} {
		if m, ok := parseMount(bad); ok {
			t.Errorf("%q was read as %v", bad, m)
		}
	}
	if got := unescapeOctal(`a\134b\0`); got != `a\b\0` {
		t.Errorf("unescaped: %q", got)
	}
}

func TestMounted(t *testing.T) {
	if on, err := Mounted(filepath.Join(t.TempDir(), "none")); on || err != nil {
		t.Errorf("a missing path: %v %v", on, err)
	}
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Skip(err)
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	m, ok := parseMount(string(first))
	if !ok {
		t.Fatalf("cannot read %q", first)
	}
	if on, err := Mounted(m.source); !on || err != nil {
		t.Errorf("%s: %v %v", m.source, on, err)
	}
}

func TestSpace(t *testing.T) {
	dir := t.TempDir()
	if n, err := FreeBytes(dir); err != nil || n == 0 {
		t.Errorf("FreeBytes: %d, %v", n, err)
	}
	if _, err := FreeBytes(dir + "/none"); !errors.Is(err, unix.ENOENT) {
		t.Errorf("FreeBytes of nothing: %v", err)
	}
	if _, err := DeviceOf(dir); err != nil {
		t.Error(err)
	}
	if _, err := DeviceOf(dir + "/none"); !errors.Is(err, unix.ENOENT) {
		t.Errorf("DeviceOf nothing: %v", err)
	}
}
