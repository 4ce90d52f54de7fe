package sys

import (
	"syscall"
	"testing"
)

func TestReadVector(t *testing.T) {
	fd := openTemp(t)
	if _, err := WriteAt(fd, []byte("abcdef"), 0); err != nil {
		t.Fatal(err)
	}
	mem, err := NewArena("malloc", 4, 0, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mem.Close() }()
	v := Vector(mem.Mem)
	if n, errno := ReadVector(fd, &v, 1, 0); n != 4 || errno != 0 || string(mem.Mem) != "bcde" {
		t.Errorf("read %d, %v: %q", n, errno, mem.Mem)
	}
	if n, errno := ReadVector(fd, &v, 4, 0); n != 2 || errno != 0 {
		t.Errorf("at the end: read %d, %v", n, errno)
	}
	if _, errno := ReadVector(-1, &v, 0, 0); errno != syscall.EBADF {
		t.Errorf("without a file: %v", errno)
	}
}
