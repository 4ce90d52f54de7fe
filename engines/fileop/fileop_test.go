package fileop

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fiord/engines"
)

func open(t *testing.T) *engines.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(make([]byte, 8192)); err != nil {
		t.Fatal(err)
	}
	return &engines.File{Name: f.Name(), Fd: int(f.Fd())}
}

func TestOp(t *testing.T) {
	f := open(t)
	bad := &engines.File{Fd: 1 << 20, SyncTo: 10}
	for _, c := range []struct {
		op   engines.Op
		file *engines.File
		to   int64 // of the range to sync
		want syscall.Errno
	}{
		{engines.Sync, f, 0, 0}, {engines.DataSync, f, 0, 0}, {engines.Syncfs, f, 0, 0},
		{engines.SyncFileRange, f, 8192, 0}, {engines.SyncFileRange, f, 0, 0},
		{engines.Trim, f, 0, syscall.ENOTTY}, {engines.Op(99), f, 0, syscall.EINVAL},
		{engines.Sync, bad, 0, syscall.EBADF}, {engines.DataSync, bad, 0, syscall.EBADF},
		{engines.Syncfs, bad, 0, syscall.EBADF}, {engines.Trim, bad, 0, syscall.EBADF},
		{engines.SyncFileRange, bad, 8192, syscall.EBADF},
		{engines.SyncFileRange, bad, 0, 0}, // nothing written: no call, as in fio
	} {
		c.file.SyncTo = c.to
		u := &engines.IO{Op: c.op, File: c.file, Len: 4096, Done: 7, Errno: syscall.EIO}
		Op(u, 2)
		if u.Errno != c.want || u.Done != 0 {
			t.Errorf("op %d on descriptor %d: errno %v, done %d; want %v, 0", c.op, c.file.Fd, u.Errno, u.Done, c.want)
		}
	}
}

func TestRangeFlags(t *testing.T) {
	u := &engines.IO{Op: engines.SyncFileRange, File: open(t)}
	u.File.SyncTo = 4096
	if Sync(u, 1<<30); u.Errno != syscall.EINVAL {
		t.Errorf("unknown flags: %v, want EINVAL", u.Errno)
	}
}

func TestAllocs(t *testing.T) {
	u := &engines.IO{File: open(t), Len: 4096}
	for op := engines.Trim; op <= engines.Syncfs; op++ {
		u.Op = op
		u.File.SyncTo = 4096
		if n := testing.AllocsPerRun(10, func() { Op(u, 2) }); n != 0 {
			t.Errorf("op %v allocates %v times", op, n)
		}
	}
}
