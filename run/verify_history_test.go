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

// histShapes are the ways in which jobs write: how much, in blocks of which lengths, where.
var histShapes = []struct {
	name   string
	sorted bool
	span   int // of offsets; the last writes of a pass are the first of the next one
	unit   int // of offsets and lengths
	most   int // units of a write
	files  int
	random bool
	takes  int // of 100 steps
}{
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

// TestHistoryAgainstModel compares after every step, and looks at the order now and then.
func TestHistoryAgainstModel(t *testing.T) {
	for _, c := range histShapes {
		t.Run(c.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			h, m := newHistory(c.sorted), &histModel{sorted: c.sorted}
			number, next := uint64(0), int64(0)
			for step := range 6000 {
				some := func() piece {
					if len(m.pieces) == 0 {
						return newPiece(0, 0, 1, number, 0)
					}
					return m.pieces[rnd.IntN(len(m.pieces))]
				}
				place := func() piece {
					n := int64(1+rnd.IntN(c.most)) * int64(c.unit)
					if next+n > int64(c.span*c.unit) {
						next = 0
					}
					at := next
					if next += n; c.random {
						at = rnd.Int64N(int64(c.span)) * int64(c.unit)
					}
					number++
					if rnd.IntN(50) == 0 {
						number += 3 // left out
					}
					return newPiece(int32(rnd.IntN(c.files)), at, int(n), number, rnd.Uint64())
				}
				switch what := rnd.IntN(100); {
				case what < c.takes:
					want, wantOK := m.take()
					if got, ok := h.take(); ok != wantOK || got != want {
						t.Fatalf("step %d: took %+v %v, want %+v %v", step, got, ok, want, wantOK)
					}
				case what < 52:
					p := place()
					if rnd.IntN(4) == 0 {
						p.mark(inFlight)
					}
					h.add(p)
					m.add(p)
					if rnd.IntN(8) == 0 {
						h.queueTrim(p)
						m.at(p.number).mark(forTrim)
						m.trims = append(m.trims, p)
					}
				case what < 55:
					p := some()
					h.remove(p)
					m.drop(func(q *piece) bool { return q.number != p.number })
				case what < 57 && c.sorted || what < 56 && step%16 == 0:
					p := place()
					h.forget(p)
					m.drop(func(q *piece) bool { return !q.overlaps(&p) })
				case what < 60:
					want, wantOK := m.nextTrim()
					if got, ok := h.nextTrim(); ok != wantOK || got != want {
						t.Fatalf("step %d: to trim %+v %v, want %+v %v", step, got, ok, want, wantOK)
					}
				case what < 62:
					p := some()
					p.number += uint64(rnd.IntN(2)) // often another one, which has not been written there
					q, want := h.at(p), m.at(p.number)
					if want != nil && !want.covers(&p) {
						break // only asked for with a copy
					}
					if (q == nil) != (want == nil) || q != nil && *q != *want {
						t.Fatalf("step %d: %+v is %+v, want %+v", step, p, q, want)
					}
				case what < 90:
					if p := some(); len(m.pieces) > 0 {
						h.at(p).unmark(inFlight)
						m.at(p.number).unmark(inFlight)
					}
				case step%1000 == 0:
					h.clear()
					*m = histModel{sorted: c.sorted}
				}
				if h.n != len(m.pieces) {
					t.Fatalf("step %d: the history has %d pieces, want %d", step, h.n, len(m.pieces))
				}
				if step%500 == 0 {
					if d := cmp.Diff(m.pieces, h.contents(), cmp.AllowUnexported(piece{})); d != "" && h.n > 0 {
						t.Fatalf("step %d: %s", step, d)
					}
				}
			}
			trims := 0
			for _, p := range m.pieces {
				if p.is(forTrim) {
					trims++
				}
			}
			if h.forTrim != trims {
				t.Errorf("%d pieces wait to be trimmed, want %d", h.forTrim, trims)
			}
		})
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
