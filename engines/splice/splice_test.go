package splice

import (
	"bytes"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
)

func TestConformance(t *testing.T) { enginetest.Run(t, Driver()) }

// TestLarge moves blocks larger than a pipe, at odd offsets.
func TestLarge(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 1)
	mem, err := syscall.Mmap(-1, 0, 400<<10, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mem) }()
	for i := range mem {
		mem[i] = byte(i * 7 >> 3)
	}
	want := bytes.Clone(mem[:200_001])
	u := &engines.IO{Op: engines.Write, File: r.File, Offset: 1234, Buf: mem[:len(want)]}
	r.Do(t, []*engines.IO{u})
	if u.Errno != 0 || u.Done != len(want) {
		t.Fatalf("write: done %d, errno %v", u.Done, u.Errno)
	}
	clear(mem)
	u.Op = engines.Read
	r.Do(t, []*engines.IO{u})
	if u.Errno != 0 || u.Done != len(want) || !bytes.Equal(u.Buf, want) {
		t.Errorf("read: done %d, errno %v, or other data than written", u.Done, u.Errno)
	}
}

func BenchmarkRead(b *testing.B) { enginetest.Bench(b, Driver(), 1) }
