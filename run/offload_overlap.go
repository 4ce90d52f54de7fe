package run

import (
	"sync"

	"fiord/engines"
)

// overlapTable lets I/Os of jobs with serialize_overlap and io_submit_mode=offload wait for those that overlap them,
// whichever of these jobs they belong to: threads of several jobs may work on one file.
type overlapTable struct {
	mu     sync.Mutex
	change sync.Cond
	flying map[*engines.IO]struct{}
}

func newOverlapTable() *overlapTable {
	t := &overlapTable{flying: map[*engines.IO]struct{}{}}
	t.change.L = &t.mu
	return t
}

// overlapsOfAll is the table that the job's I/Os go by; nil: none.
func (w *worker) overlapsOfAll() *overlapTable {
	if !w.job.SerializeOverlap {
		return nil
	}
	return w.r.overlap
}

// enter waits until nothing in flight overlaps u, which is in flight from then on.
func (t *overlapTable) enter(u *engines.IO) {
	if !u.Op.IsData() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.busy(u) {
		t.change.Wait()
	}
	t.flying[u] = struct{}{}
}

func (t *overlapTable) busy(u *engines.IO) bool {
	for o := range t.flying {
		if o.File.Name == u.File.Name && o.Offset < u.Offset+int64(u.Len) && u.Offset < o.Offset+int64(o.Len) {
			return true
		}
	}
	return false
}

// leave says that u is no longer in flight.
func (t *overlapTable) leave(u *engines.IO) {
	if !u.Op.IsData() {
		return
	}
	t.mu.Lock()
	delete(t.flying, u)
	t.mu.Unlock()
	t.change.Broadcast()
}
