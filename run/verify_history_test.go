package run

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortedHistory holds the skip list against a plain slice over random writes that overlap.
func TestSortedHistory(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	h := newHistory(true)
	var model []*piece
	for range 5000 {
		switch {
		case len(model) > 0 && rnd.IntN(4) == 0:
			i := rnd.IntN(len(model))
			h.remove(model[i])
			h.recycle(model[i])
			model = slices.Delete(model, i, i+1)
		case len(model) > 0 && rnd.IntN(8) == 0:
			if p := h.take(); p != model[0] {
				t.Fatalf("took %d:%d, want %d:%d", p.file, p.offset, model[0].file, model[0].offset)
			}
			model = model[1:]
		default:
			p := h.piece()
			p.file, p.offset, p.length = int32(rnd.IntN(2)), int64(rnd.IntN(400)), 1+rnd.IntN(20)
			h.add(p)
			model = slices.DeleteFunc(model, func(q *piece) bool { return q.overlaps(p) })
			i, _ := slices.BinarySearchFunc(model, p, func(q, p *piece) int {
				if q.before(p) {
					return -1
				}
				return 1
			})
			model = slices.Insert(model, i, p)
		}
		if h.n != len(model) {
			t.Fatalf("the history has %d pieces, want %d", h.n, len(model))
		}
	}
	for p, i := h.tree.first(), 0; p != nil; p, i = p.up[0], i+1 {
		if p != model[i] {
			t.Fatalf("piece %d is %d:%d, want %d:%d", i, p.file, p.offset, model[i].file, model[i].offset)
		}
	}
	h.clear()
	if h.n != 0 || h.tree.first() != nil {
		t.Error("something is left after clear")
	}
}

// TestListedHistory checks the order of writes, and that one in flight keeps what comes behind it waiting.
func TestListedHistory(t *testing.T) {
	h := newHistory(false)
	var all []*piece
	for i := range 4 {
		p := h.piece()
		p.offset, p.length, p.inFlight = int64(40-10*i), 10, i == 2
		h.add(p)
		all = append(all, p)
	}
	h.remove(all[1])
	if p := h.take(); p != all[0] {
		t.Errorf("the first piece is at %d", p.offset)
	}
	if p := h.take(); p != nil {
		t.Errorf("took the piece at %d past one in flight", p.offset)
	}
	all[2].inFlight = false
	if p := h.take(); p != all[2] {
		t.Error("the piece that has completed is not next")
	}
	if h.n != 1 {
		t.Errorf("%d pieces are left, want 1", h.n)
	}
}

// TestTrimQueue checks that what has left the history is not trimmed.
func TestTrimQueue(t *testing.T) {
	h := newHistory(true)
	var all []*piece
	for i := range 3 {
		p := h.piece()
		p.offset, p.length = int64(10*i), 10
		h.add(p)
		h.queueTrim(p)
		all = append(all, p)
	}
	over := h.piece()
	over.offset, over.length = 0, 10
	h.add(over) // the first is gone
	all[2].inFlight = true
	if h.forTrim != 2 {
		t.Errorf("%d pieces wait to be trimmed, want 2", h.forTrim)
	}
	if p := h.nextTrim(); p != all[1] {
		t.Error("the second piece is not next")
	}
	if p := h.nextTrim(); p != nil {
		t.Error("a piece in flight is next")
	}
}
