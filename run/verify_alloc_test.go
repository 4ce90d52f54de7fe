//go:build !race

package run

// Not under the race detector, with which the standard library's SHA-256 allocates.

import (
	"fmt"
	"runtime"
	"testing"
)

// verifyJobs are the shapes of verifying loops that keep no more than a backlog.
var verifyJobs = []string{
	"rw=write verify=crc32c verify_backlog=64",
	"rw=randwrite verify=crc32c verify_backlog=64",
	"rw=write norandommap=0 do_verify=0 verify=sha256",
	"rw=randwrite norandommap=0 verify=md5 verify_backlog=64 verify_backlog_batch=8",
	"ioengine=libaio iodepth=16 rw=randwrite verify=crc32c verify_backlog=64",
}

// verifyPass is a pass over so many blocks, and how much was allocated meanwhile.
func verifyPass(tb testing.TB, options string, blocks int) (ios, mallocs uint64) {
	w := hotWorker(tb, fmt.Sprintf("ioengine=psync verify_state_save=0 %s size=%d", options, blocks*4096))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.pass()
	runtime.ReadMemStats(&after)
	if w.st.Error != 0 || w.loop.blocks[1] != uint64(blocks) {
		tb.Fatalf("%s: %d writes, want %d: %s", options, w.loop.blocks[1], blocks, w.st.ErrorText)
	}
	return w.loop.blocks[0] + w.loop.blocks[1], after.Mallocs - before.Mallocs
}

// TestVerifyDoesNotAllocate compares passes as TestNoAllocations does.
func TestVerifyDoesNotAllocate(t *testing.T) {
	for _, options := range verifyJobs {
		t.Run(options, func(t *testing.T) {
			t.Chdir(t.TempDir())
			_, few := verifyPass(t, options, 512)
			_, many := verifyPass(t, options, 512+4096)
			if many > few+40 {
				t.Errorf("%d allocations for 512 writes, %d for 4608", few, many)
			}
		})
	}
}

// BenchmarkVerify is one I/O of a verifying loop, writes and checked reads alike.
func BenchmarkVerify(b *testing.B) {
	for _, options := range verifyJobs {
		b.Run(options, func(b *testing.B) {
			b.Chdir(b.TempDir())
			b.ReportAllocs()
			b.ResetTimer()
			ios, _ := verifyPass(b, options, max(b.N, 1))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ios), "ns/io")
		})
	}
}
