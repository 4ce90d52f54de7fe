package run

import (
	"runtime"
	"sync/atomic"
	"testing"

	"fiord/engines"
)

// TestFileLocks counts who is inside the engine with the same file at once.
func TestFileLocks(t *testing.T) {
	for _, c := range []struct {
		mode          string
		reads, writes int64 // most at once
	}{{"exclusive", 1, 1}, {"readwrite", 4, 1}} {
		var reading, writing, bad atomic.Int64
		fake := syncDriver("fake", func(_ *engines.Worker, _ int, u *engines.IO) {
			n := &reading
			if u.Op != engines.Read {
				n = &writing
			}
			n.Add(1)
			runtime.Gosched()
			r, w := reading.Load(), writing.Load()
			if r > c.reads || w > c.writes || r > 0 && w > 0 {
				bad.Add(1)
			}
			n.Add(-1)
		})
		g := newRig(fake)
		res := g.run(t, section("global", "ioengine=fake filename=f rw=randrw bs=4k size=1m fsync=16 lockfile="+c.mode)+
			section("a", "numjobs=2")+section("b", "numjobs=2"))
		if bad.Load() > 0 {
			t.Errorf("%s: %d times too many at once", c.mode, bad.Load())
		}
		for i := range res.Jobs {
			if j := &res.Jobs[i].Job; j.Dirs[0].IOs+j.Dirs[1].IOs != 256 {
				t.Errorf("%s: %d I/Os, want 256", c.mode, j.Dirs[0].IOs+j.Dirs[1].IOs)
			}
		}
	}
}

// TestFileLocksOfBatches lets jobs with several files submit batches under locks: they must not wait for each other.
func TestFileLocksOfBatches(t *testing.T) {
	for _, mode := range []string{"exclusive", "readwrite"} {
		g := newRig()
		res := g.run(t, section("global", "ioengine=null filename=f:g:h rw=randrw bs=4k size=3m iodepth=16 iodepth_batch=8 lockfile="+mode)+
			section("a", "numjobs=3")+section("b", "file_service_type=random"))
		for i := range res.Jobs {
			if j := &res.Jobs[i].Job; j.Error != 0 || j.Dirs[0].IOs+j.Dirs[1].IOs != 768 {
				t.Errorf("%s: error %d, %d I/Os, want 768", mode, j.Error, j.Dirs[0].IOs+j.Dirs[1].IOs)
			}
		}
	}
}
