package run

import (
	"fmt"
	"runtime"
	"testing"

	"fiord/engines"
)

// hotWorker is a worker that is ready for its passes: everything is allocated and nothing runs beside it.
func hotWorker(tb testing.TB, options string, extra ...*engines.Driver) *worker {
	tb.Helper()
	r := newRig(extra...).start(tb, section("a", "rw=randread bs=4k norandommap=1 "+options))
	w := r.workers[0]
	w.layOut()
	if w.set == nil || !w.prepare() {
		tb.Fatal(w.st.ErrorText)
	}
	w.begin()
	tb.Cleanup(w.finish)
	return w
}

// hotJobs are the shapes whose loop must not allocate.
var hotJobs = []string{
	"ioengine=null",
	"ioengine=null iodepth=32 iodepth_batch=16",
	"ioengine=null iodepth=8 rate=100g",
	"ioengine=null rw=randwrite refill_buffers=1",
	"ioengine=null rw=randrw lat_percentiles=1 slat_percentiles=1",
	"ioengine=null thinkcycles=1",
	"ioengine=null gtod_reduce=1",
	"ioengine=null iodepth=16 serialize_overlap=1",
	"ioengine=psync",
	"ioengine=libaio iodepth=16 iodepth_batch=4 iodepth_batch_complete_min=2",
	"ioengine=libaio iodepth=16",
	"ioengine=libaio iodepth=16 rw=randwrite refill_buffers=1 fsync=16",
	"ioengine=null iodepth=16 nrfiles=4",
	"ioengine=psync rw=randwrite fsync=16",
}

// passAllocs counts the allocations of one pass over the given number of blocks.
func passAllocs(t *testing.T, options string, blocks int, extra ...*engines.Driver) uint64 {
	t.Helper()
	t.Chdir(t.TempDir())
	w := hotWorker(t, fmt.Sprintf("%s size=%d", options, blocks*4096), extra...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.pass()
	runtime.ReadMemStats(&after)
	if n := w.loop.blocks[0] + w.loop.blocks[1]; w.st.TotalErr == 0 && n != uint64(blocks) {
		t.Fatalf("%d I/Os, want %d: %s", n, blocks, w.st.ErrorText)
	}
	return after.Mallocs - before.Mallocs
}

// TestNoAllocations compares passes: with 4096 more I/Os there are not even a few more allocations, which the runtime may
// need for itself.
func TestNoAllocations(t *testing.T) {
	for _, options := range hotJobs {
		t.Run(options, func(t *testing.T) {
			few, many := passAllocs(t, options, 64), passAllocs(t, options, 64+4096)
			if many > few+20 {
				t.Errorf("%d allocations for 64 I/Os, %d for 4160", few, many)
			}
		})
	}
}

// TestErrorsDoNotAllocate passes errors over at no cost but that of showing the first.
func TestErrorsDoNotAllocate(t *testing.T) {
	d := syncDriver("bad", func(_ *engines.Worker, _ int, u *engines.IO) { u.Errno, u.Done = 5, 0 })
	const options = "ioengine=bad continue_on_error=all"
	if few, many := passAllocs(t, options, 64, d), passAllocs(t, options, 64+4096, d); many > few+20 {
		t.Errorf("%d allocations for 64 errors, %d for 4160", few, many)
	}
}
