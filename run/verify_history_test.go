package run

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// histModel is what a history must do, in the plainest way.
type histModel struct {
	sorted bool
	pieces []piece
	trims  []piece
}

func (m *histModel) drop(keep func(p *piece) bool) {
	m.pieces = slices.DeleteFunc(m.pieces, func(p piece) bool { return !keep(&p) })
}

func (m *histModel) add(p piece) {
	if !m.sorted {
		m.pieces = append(m.pieces, p)
		return
	}
	m.drop(func(q *piece) bool { return !q.overlaps(&p) })
	i, _ := slices.BinarySearchFunc(m.pieces, p, func(q, p piece) int {
		if q.before(&p) {
			return -1
		}
		return 1
	})
	m.pieces = slices.Insert(m.pieces, i, p)
}

func (m *histModel) at(number uint64) *piece {
	for i := range m.pieces {
		if m.pieces[i].number == number {
			return &m.pieces[i]
		}
	}
	return nil
}

func (m *histModel) take() (piece, bool) {
	for i, p := range m.pieces {
		if !p.is(inFlight) {
			m.pieces = slices.Delete(m.pieces, i, i+1)
			p.unmark(forTrim)
			return p, true
		}
		if !m.sorted {
			break
		}
	}
	return piece{}, false
}

func (m *histModel) nextTrim() (piece, bool) {
	for len(m.trims) > 0 {
		q := m.at(m.trims[0].number)
		if q != nil && q.is(forTrim) && q.is(inFlight) {
			return piece{}, false
		}
		m.trims = m.trims[1:]
		if q != nil && q.is(forTrim) {
			q.unmark(forTrim)
			return *q, true
		}
	}
	return piece{}, false
}

// contents are the pieces of a history in its order, looked at and not taken.
func (h *history) contents() (all []piece) {
	if !h.sorted {
		for i := range h.list.n {
			if p := h.list.at(i); !p.is(isGone) {
				all = append(all, *p)
			}
		}
		return all
	}
	for l := h.tree.first; l != nil; l = l.next {
		all = append(all, l.pieces[l.lo:l.hi]...)
	}
	return all
}

// histShape is a way in which jobs write: how much, in blocks of which lengths, where.
type histShape struct {
	name   string
	sorted bool
	span   int // of offsets; the last writes of a pass are followed by the first of the next one
	unit   int // of offsets and lengths
	most   int // units of a write
	files  int
	random bool
	takes  int // of 100 steps
}

var histShapes = []histShape{
	{"sequential list", false, 1 << 20, 4096, 1, 1, false, 30},
	{"random list", false, 1 << 20, 512, 1, 3, true, 45},
	{"sequential", true, 400, 1, 1, 1, false, 2},
	{"sequential with backlog", true, 1000, 1, 1, 1, false, 45},
	{"random", true, 9000, 1, 1, 2, true, 10},
	{"random blocks of many lengths", true, 9000, 1, 20, 3, true, 5},
	{"long blocks over short ones", true, 5000, 1, 900, 1, true, 0},
	{"sequential blocks of many lengths", true, 5000, 3, 7, 2, false, 5},
	{"small", true, 40, 1, 5, 2, true, 30},
}

// histRun takes a history and the model of it through the same steps.
type histRun struct {
	t      *testing.T
	c      *histShape
	rnd    *rand.Rand
	h      *history
	m      *histModel
	number uint64
	next   int64
	step   int
}

// TestHistoryAgainstModel compares after every step, and looks at the order now and then.
func TestHistoryAgainstModel(t *testing.T) {
	for i := range histShapes {
		c := &histShapes[i]
		t.Run(c.name, func(t *testing.T) {
			r := &histRun{t: t, c: c, rnd: rand.New(rand.NewPCG(1, 2)), h: newHistory(c.sorted), m: &histModel{sorted: c.sorted}}
			for r.step = range 6000 {
				r.do(r.rnd.IntN(100))
				r.compare()
			}
		})
	}
}

// some is one of the pieces, or one that is not there.
func (r *histRun) some() piece {
	if len(r.m.pieces) == 0 {
		return newPiece(0, 0, 1, r.number, 0)
	}
	return r.m.pieces[r.rnd.IntN(len(r.m.pieces))]
}

// write is the next write.
func (r *histRun) write() piece {
	c := r.c
	n := int64(1+r.rnd.IntN(c.most)) * int64(c.unit)
	if r.next+n > int64(c.span*c.unit) {
		r.next = 0
	}
	at := r.next
	if r.next += n; c.random {
		at = r.rnd.Int64N(int64(c.span)) * int64(c.unit)
	}
	r.number++
	if r.rnd.IntN(50) == 0 {
		r.number += 3 // left out
	}
	return newPiece(int32(r.rnd.IntN(c.files)), at, int(n), r.number, r.rnd.Uint64())
}

func (r *histRun) do(what int) {
	switch {
	case what < r.c.takes:
		want, wantOK := r.m.take()
		if got, ok := r.h.take(); ok != wantOK || got != want {
			r.t.Fatalf("step %d: took %+v %v, want %+v %v", r.step, got, ok, want, wantOK)
		}
	case what < 52:
		r.add()
	case what < 55:
		p := r.some()
		r.h.remove(p)
		r.m.drop(func(q *piece) bool { return q.number != p.number })
	case what < 57 && r.c.sorted || what < 56 && r.step%16 == 0:
		p := r.write()
		r.h.forget(p)
		r.m.drop(func(q *piece) bool { return !q.overlaps(&p) })
	case what < 60:
		want, wantOK := r.m.nextTrim()
		if got, ok := r.h.nextTrim(); ok != wantOK || got != want {
			r.t.Fatalf("step %d: to trim %+v %v, want %+v %v", r.step, got, ok, want, wantOK)
		}
	case what < 62:
		r.find()
	case what < 90:
		if p := r.some(); len(r.m.pieces) > 0 {
			r.h.at(p).unmark(inFlight)
			r.m.at(p.number).unmark(inFlight)
		}
	case r.step%1000 == 0:
		r.h.clear()
		*r.m = histModel{sorted: r.c.sorted}
	}
}

func (r *histRun) add() {
	p := r.write()
	if r.rnd.IntN(4) == 0 {
		p.mark(inFlight)
	}
	r.h.add(p)
	r.m.add(p)
	if r.rnd.IntN(8) == 0 {
		r.h.queueTrim(p)
		r.m.at(p.number).mark(forTrim)
		r.m.trims = append(r.m.trims, p)
	}
}

// find asks for a piece, often for another write than the one that is there.
func (r *histRun) find() {
	p := r.some()
	p.number += uint64(r.rnd.IntN(2))
	q, want := r.h.at(p), r.m.at(p.number)
	if want != nil && !want.covers(&p) {
		return // who asks has a copy
	}
	if (q == nil) != (want == nil) || q != nil && *q != *want {
		r.t.Fatalf("step %d: %+v is %+v, want %+v", r.step, p, q, want)
	}
}

func (r *histRun) compare() {
	trims := 0
	for i := range r.m.pieces {
		if r.m.pieces[i].is(forTrim) {
			trims++
		}
	}
	if r.h.n != len(r.m.pieces) || r.h.forTrim != trims {
		r.t.Fatalf("step %d: the history has %d pieces and %d to be trimmed, want %d and %d", r.step, r.h.n, r.h.forTrim, len(r.m.pieces), trims)
	}
	if r.step%200 != 0 || r.h.n == 0 {
		return
	}
	if d := cmp.Diff(r.m.pieces, r.h.contents(), cmp.AllowUnexported(piece{})); d != "" {
		r.t.Fatalf("step %d: %s", r.step, d)
	}
}

// TestDeepTree grows a tree of some levels in three orders, checks every search, and empties it.
func TestDeepTree(t *testing.T) {
	const n = 200_000
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name   string
		places []int
	}{
		{"random", rnd.Perm(n)}, {"rising", rangeOf(n, 1)}, {"falling", rangeOf(n, -1)},
	} {
		h := newHistory(true)
		for i, at := range c.places {
			h.add(newPiece(0, int64(at)*10, 10, uint64(i), 0))
		}
		if h.tree.depth < 2 {
			t.Errorf("%s: %d levels hold %d pieces", c.name, h.tree.depth, n)
		}
		for i, at := range c.places {
			if h.at(newPiece(0, int64(at)*10, 10, uint64(i), 0)) == nil {
				t.Fatalf("%s: piece %d is not found", c.name, i)
			}
		}
		for _, i := range rnd.Perm(n)[:n/2] {
			h.remove(newPiece(0, int64(c.places[i])*10, 10, uint64(i), 0))
		}
		last := int64(-1)
		for p, ok := h.take(); ok; p, ok = h.take() {
			if p.offset <= last {
				t.Fatalf("%s: took %d after %d", c.name, p.offset, last)
			}
			last = p.offset
		}
		if h.n != 0 || h.tree.depth != 1 || h.tree.root.n != 1 || h.tree.first != h.tree.last {
			t.Errorf("%s: %d pieces and %d levels are left", c.name, h.n, h.tree.depth)
		}
	}
}

// rangeOf are the numbers below n, rising or falling.
func rangeOf(n, step int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
		if step < 0 {
			all[i] = n - 1 - i
		}
	}
	return all
}

// TestPieceMemory bounds what a write costs for as long as it has not been read back.
func TestPieceMemory(t *testing.T) {
	if n := unsafe.Sizeof(piece{}); n != 32 {
		t.Errorf("a piece has %d bytes, want 32", n)
	}
	for name, n := range map[string]uintptr{"leaf": unsafe.Sizeof(leaf{}), "inner node": unsafe.Sizeof(inner{})} {
		if n > 2048-8 {
			t.Errorf("a %s has %d bytes: it does not fit what is allocated for 2048", name, n)
		}
	}
	const n = 100_000
	h := newHistory(true)
	for i, at := range rand.New(rand.NewPCG(5, 6)).Perm(n) {
		h.add(newPiece(0, int64(at)*4096, 4096, uint64(i), 0))
	}
	leaves := 0
	for l := h.tree.first; l != nil; l = l.next {
		leaves++
	}
	if per := leaves * 2048 / n; per > 52 {
		t.Errorf("random writes take %d bytes each", per)
	}
}

// TestPieceParts checks that nothing of a piece runs into the rest of it.
func TestPieceParts(t *testing.T) {
	for _, c := range []struct{ file, length int }{{0, 0}, {1, 4096}, {maxFiles - 1, maxLength}, {maxFiles - 1, 0}, {0, maxLength}} {
		p := newPiece(int32(c.file), 5, c.length, 1, 2)
		p.mark(inFlight | isGone)
		p.unmark(inFlight)
		if p.file() != c.file || p.length() != c.length || p.is(inFlight|isTrimmed|forTrim) || !p.is(isGone) {
			t.Errorf("file %d, %d bytes: %+v", c.file, c.length, p)
		}
	}
}

// TestListedHistory checks the order of writes, and that one in flight keeps what comes behind it waiting.
func TestListedHistory(t *testing.T) {
	h := newHistory(false)
	var all []piece
	for i := range 4 {
		p := newPiece(0, int64(40-10*i), 10, uint64(i), 0)
		if i == 2 {
			p.mark(inFlight)
		}
		h.add(p)
		all = append(all, p)
	}
	h.remove(all[1])
	if p, ok := h.take(); !ok || p != all[0] {
		t.Errorf("the first piece is at %d", p.offset)
	}
	if p, ok := h.take(); ok {
		t.Errorf("took the piece at %d past one in flight", p.offset)
	}
	h.at(all[2]).unmark(inFlight)
	if p, ok := h.take(); !ok || p.number != 2 {
		t.Error("the piece that has completed is not next")
	}
	if h.n != 1 {
		t.Errorf("%d pieces are left, want 1", h.n)
	}
}

// TestTrimQueue checks that what has left the history is not trimmed.
func TestTrimQueue(t *testing.T) {
	h := newHistory(true)
	var all []piece
	for i := range 3 {
		p := newPiece(0, int64(10*i), 10, uint64(i), 0)
		h.add(p)
		h.queueTrim(p)
		all = append(all, p)
	}
	h.add(newPiece(0, 0, 10, 9, 0)) // the first is gone
	h.at(all[2]).mark(inFlight)
	if h.forTrim != 2 {
		t.Errorf("%d pieces wait to be trimmed, want 2", h.forTrim)
	}
	if p, ok := h.nextTrim(); !ok || p.number != 1 {
		t.Error("the second piece is not next")
	}
	if _, ok := h.nextTrim(); ok {
		t.Error("a piece in flight is next")
	}
}

// BenchmarkHistory is one write recorded, and in the shapes with a backlog one piece taken.
func BenchmarkHistory(b *testing.B) {
	const n = 16384
	random := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for _, c := range []struct {
		sorted, random bool
		backlog        int
	}{{false, false, 1024}, {true, false, 1024}, {true, false, 0}, {true, true, 0}, {true, true, 1024}} {
		b.Run(fmt.Sprintf("sorted=%v/random=%v/backlog=%d", c.sorted, c.random, c.backlog), func(b *testing.B) {
			h := newHistory(c.sorted)
			b.ReportAllocs()
			for i := range b.N {
				at := i % n
				if c.random {
					at = random[at]
				}
				h.add(newPiece(0, int64(at)*4096, 4096, uint64(i), 0))
				for ok := c.backlog > 0 && h.n >= c.backlog; ok; {
					_, ok = h.take()
				}
			}
		})
	}
}
