package falloc

import (
	"os"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
)

const bs = enginetest.BlockSize

func rig(t *testing.T, i int) *enginetest.Rig {
	t.Helper()
	return enginetest.NewRig(t, Drivers()[i], 1)
}

func TestConformance(t *testing.T) {
	noData := "the engine moves no data"
	enginetest.Run(t, Drivers()[0], enginetest.Without("data", noData), enginetest.Without("scatter", noData),
		enginetest.Without("short", noData), enginetest.Without("trim", "it trims regular files"))
	onlyWrites := "the engine has writes only"
	enginetest.Run(t, Drivers()[1], enginetest.Without("batch", onlyWrites), enginetest.Without("full", onlyWrites))
}

// blocks is the space that the file takes, in units of 512 bytes.
func blocks(t *testing.T, path string) (size, allocated int64) {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Size, st.Blocks
}

func TestFalloc(t *testing.T) {
	r := rig(t, 0)
	if err := os.Truncate(r.Path, 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op       engines.Op
		offset   int64
		wantSize int64
		grows    int // sign of the change of allocated space
	}{
		{engines.Write, 0, bs, 1}, {engines.Read, bs, bs, 1}, {engines.Write, 3 * bs, 4 * bs, 1}, {engines.Trim, 0, 4 * bs, -1},
	} {
		_, before := blocks(t, r.Path)
		u := r.DoOne(t, c.op, c.offset, bs)
		if u.Errno == syscall.EOPNOTSUPP {
			t.Skip("the file system of the temporary directory has no fallocate")
		}
		size, after := blocks(t, r.Path)
		if u.Errno != 0 || u.Done != bs || size != c.wantSize || (after-before)*int64(c.grows) <= 0 {
			t.Errorf("%v at %d: errno %v, done %d, size %d, %d blocks after %d", c.op, c.offset, u.Errno, u.Done, size, after,
				before)
		}
	}
	if err := (&allocator{}).OpenFile(&engines.File{Kind: engines.Char, Name: "/dev/null"}, 0); err == nil {
		t.Error("a character device was opened")
	}
}

func TestFtruncate(t *testing.T) {
	r := rig(t, 1)
	for _, offset := range []int64{10 * bs, 3 * bs, 100 * bs, 0} {
		u := r.DoOne(t, engines.Write, offset, bs)
		if size, _ := blocks(t, r.Path); u.Errno != 0 || u.Done != bs || size != offset {
			t.Errorf("write at %d: errno %v, done %d, size %d", offset, u.Errno, u.Done, size)
		}
	}
	for _, op := range []engines.Op{engines.Read, engines.Trim} {
		if u := r.DoOne(t, op, 0, bs); u.Errno != syscall.EINVAL || u.Done != 0 {
			t.Errorf("%v: errno %v, done %d; want EINVAL", op, u.Errno, u.Done)
		}
	}
}
