package libaio

import (
	"os"
	"path/filepath"
	"testing"

	"fiord/engines/uring/queue"
	"fiord/internal/sys"
)

func TestReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := sys.NewArena("malloc", 100, 0, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReads(4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		r.Set(i, int32(f.Fd()), queue.Addr(mem.Mem)+uint64(i), 1, int64(3*i), uint64(10+i))
	}
	if n, errno := r.Submit(0, 3); n != 3 || errno != 0 {
		t.Fatalf("%d submitted, %v", n, errno)
	}
	if n, errno := r.Submit(3, 3); n != 0 || errno != 0 {
		t.Errorf("%d submitted of none, %v", n, errno)
	}
	if n, errno := r.Wait(3); n != 3 || errno != 0 {
		t.Fatalf("%d ended, %v", n, errno)
	}
	sum := uint64(0)
	for i := range 3 {
		data, res := r.Event(i)
		sum += data
		if res != 1 {
			t.Errorf("event %d: result %d", i, res)
		}
	}
	if sum != 33 || string(mem.Mem[:3]) != "036" {
		t.Errorf("sum of data %d, read %q", sum, mem.Mem[:3])
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := mem.Close(); err != nil {
		t.Error(err)
	}
}
