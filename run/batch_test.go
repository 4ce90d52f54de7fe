package run

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/stats"

	"github.com/google/go-cmp/cmp"
)

// TestBatchesAccountAsOneByOne gives the same finished I/Os to both ways of accounting: whole ones of both directions with
// equal and with different latencies, short ones, ends of file and tolerated errors.
func TestBatchesAccountAsOneByOne(t *testing.T) {
	const depth = 32
	const options = "ioengine=null rw=randrw iodepth=32 size=1g continue_on_error=io lat_percentiles=1 slat_percentiles=1"
	batch, single := hotWorker(t, options), hotWorker(t, options)
	if !batch.loop.batches.finish || !batch.loop.batches.issue {
		t.Fatal("the job is not accounted in batches")
	}
	single.loop.batches.finish = false
	for round := range uint64(50) {
		for _, w := range []*worker{batch, single} {
			finishRound(w, rand.New(rand.NewPCG(round, 1)), depth)
		}
	}
	for _, w := range []*worker{batch, single} {
		if n := w.st.Dirs[0].Clat.N; n == 0 || w.st.TotalErr == 0 || w.st.Dirs[0].Short == 0 || w.st.Dirs[1].Slat.N == 0 {
			t.Fatalf("%d latencies, %d errors, %d short", n, w.st.TotalErr, w.st.Dirs[0].Short)
		}
	}
	if d := cmp.Diff(single.st.Dirs, batch.st.Dirs, cmp.AllowUnexported(stats.Sum{}, stats.Sample{})); d != "" {
		t.Errorf("directions (-one by one +batches):\n%s", d)
	}
	if single.st.LatNs != batch.st.LatNs || single.st.LatUs != batch.st.LatUs || single.loop.moved != batch.loop.moved ||
		single.loop.blocks != batch.loop.blocks || single.st.TotalErr != batch.st.TotalErr {
		t.Errorf("one by one: %+v, %+v; batches: %+v, %+v", single.st.LatNs, single.loop.moved, batch.st.LatNs, batch.loop.moved)
	}
}

// finishRound issues and finishes depth I/Os at times and with outcomes that rnd decides.
func finishRound(w *worker, rnd *rand.Rand, depth int) {
	l := &w.loop
	now := int64(rnd.IntN(1000))
	var ios []*engines.IO
	for range depth {
		u := l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
		u.Op = engines.Op(rnd.IntN(2))
		u.File, u.Offset, u.Len = w.set.Files[0], int64(rnd.IntN(1000))*4096, 4096
		u.Buf = l.full(u)[:4096]
		u.Errno, u.Done = 0, 4096
		u.Start = now - int64(rnd.IntN(3))*100
		ios = append(ios, u)
	}
	issuedAt := now + 10*int64(rnd.IntN(5))
	if l.batches.finish {
		w.issuedAll(ios, issuedAt)
	} else {
		for _, u := range ios {
			u.Issued = issuedAt
			w.addSlat(u, issuedAt)
		}
	}
	for _, u := range ios {
		u.Issued -= int64(rnd.IntN(2)) * 7
		switch rnd.IntN(10) {
		case 0:
			u.Errno, u.Done = syscall.EIO, 0
		case 1:
			u.Done = 512
		}
	}
	end := issuedAt + int64(rnd.IntN(1_000_000))
	if l.batches.finish {
		w.completeAll(ios, end)
	} else {
		for _, u := range ios {
			w.completeOne(u, end)
		}
	}
	l.free = append(l.free, l.again...)
	l.again = l.again[:0]
}
