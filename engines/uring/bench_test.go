package uring

import (
	"runtime"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
)

// BenchmarkDevNull is the loop of a worker at iodepth 128 in batches of 32: 512-byte writes that the kernel throws away,
// so that only the way through it is measured. Compare with
//
//	fio --name=x --filename=/dev/null --ioengine=io_uring --rw=randwrite --bs=512 --size=1g --iodepth=128
//	  --iodepth_batch=32 --iodepth_batch_complete_min=32 --registerfiles --nonvectored=1 --norandommap
func BenchmarkDevNull(b *testing.B) {
	const depth, batch, size = 128, 32, 512
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := syscall.Open("/dev/null", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	arena, err := sys.NewArena("malloc", depth*size, size, 0, "")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = arena.Close() }()
	f := &engines.File{Name: "/dev/null", Fd: fd, Kind: engines.Char}
	w := &engines.Worker{Job: &job.Job{}, Depth: depth, MaxBatch: batch, Arena: arena.Mem, Files: []*engines.File{f}, Notice: func(string, ...any) {}}
	for i := range depth {
		w.IOs = append(w.IOs, &engines.IO{Index: uint32(i), File: f, Op: engines.Write, Buf: arena.Mem[i*size : (i+1)*size]})
	}
	e, err := Driver().Open(w, &Options{Registerfiles: true, Nonvectored: 1})
	if err != nil {
		b.Skip(err)
	}
	defer func() { _ = e.Close() }()
	free := make([]*engines.IO, 0, 2*depth)
	free = append(free, w.IOs...)
	done := make([]*engines.IO, batch)
	b.ReportAllocs()
	for b.Loop() {
		n, err := e.Submit(free[len(free)-batch:])
		if err != nil || n != batch {
			b.Fatal(n, err)
		}
		free = free[:len(free)-batch]
		for len(free) < depth {
			n, err := e.Reap(done, batch, -1)
			if err != nil {
				b.Fatal(err)
			}
			for _, u := range done[:n] {
				u.Offset += size
				free = append(free, u)
			}
		}
	}
	b.ReportMetric(float64(b.N)*batch/b.Elapsed().Seconds()/1e6, "MIOPS")
}
