package run

import (
	"fmt"
	"testing"

	"fiord/clock"
	"fiord/engines/uring"
)

// The benchmarks are whole loops: generator, engine, time stamps and accounting.
const (
	onNull    = "ioengine=null"
	onNull32  = "ioengine=null iodepth=32 iodepth_batch=16 iodepth_batch_complete_min=16"
	onDevNull = "ioengine=io_uring rw=randwrite bs=512 filename=/dev/null iodepth=128 iodepth_batch=32 " +
		"iodepth_batch_complete_min=32 registerfiles=1 nonvectored=1"
)

// BenchmarkLoopNullQD1 is the loop of synchronous engines on the engine that does nothing.
func BenchmarkLoopNullQD1(b *testing.B) { benchLoop(b, 4096, onNull) }

// BenchmarkLoopNullMap is the same with a random map.
func BenchmarkLoopNullMap(b *testing.B) { benchLoop(b, 4096, onNull+" norandommap=0") }

// BenchmarkLoopNullQD32 is the loop of asynchronous engines in batches of 16.
func BenchmarkLoopNullQD32(b *testing.B) { benchLoop(b, 4096, onNull32) }

// BenchmarkLoopNullCareful is the loop of a job with a rate that is never reached.
func BenchmarkLoopNullCareful(b *testing.B) {
	benchLoop(b, 4096, "ioengine=null iodepth=32 rate=1000g")
}

// BenchmarkLoopUring is the loop on the kernel's way to a device that takes no time.
func BenchmarkLoopUring(b *testing.B) { benchLoop(b, 512, onDevNull) }

// benchLoop does b.N I/Os of size bytes in one pass.
func benchLoop(b *testing.B, size int, options string) {
	if err := clock.Use(""); err != nil {
		b.Fatal(err)
	}
	w := hotWorker(b, fmt.Sprintf("%s size=%d", options, b.N*size), uring.Driver())
	b.ReportAllocs()
	b.ResetTimer()
	w.pass()
	b.StopTimer()
	if n := w.loop.blocks[0] + w.loop.blocks[1]; n != uint64(b.N) {
		b.Fatalf("%d I/Os, want %d: %s", n, b.N, w.st.ErrorText)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "IOPS")
}
