package run

// piece is a write that is to be verified (fio's io_piece). There may be hundreds of millions of them, so it is small and has
// no pointer that the garbage collector would follow.
type piece struct {
	offset       int64
	number, seed uint64
	bits         uint64 // from the top: file, length, marks
}

// What may be said of a piece.
const (
	inFlight  = 1 << iota // the write, or the trim of it, has not completed
	isTrimmed             // it must read back as zeroes
	forTrim               // it waits to be trimmed
	isGone                // it has left the list
)

const (
	markBits   = 4
	lengthBits = 35
	maxLength  = 1<<lengthBits - 1
	fileShift  = markBits + lengthBits
	maxFiles   = 1 << (64 - fileShift)
)

func newPiece(file int32, offset int64, length int, number, seed uint64) piece {
	return piece{offset: offset, number: number, seed: seed, bits: uint64(file)<<fileShift | uint64(length)<<markBits}
}

func (p *piece) file() int              { return int(p.bits >> fileShift) }
func (p *piece) length() int            { return int(p.bits >> markBits & maxLength) }
func (p *piece) end() int64             { return p.offset + int64(p.length()) }
func (p *piece) is(mark uint64) bool    { return p.bits&mark != 0 }
func (p *piece) mark(m uint64)          { p.bits |= m }
func (p *piece) unmark(m uint64)        { p.bits &^= m }
func (p *piece) sameFile(q *piece) bool { return (p.bits^q.bits)>>fileShift == 0 }

func (p *piece) before(q *piece) bool {
	if p.sameFile(q) {
		return p.offset < q.offset
	}
	return p.bits>>fileShift < q.bits>>fileShift
}

func (p *piece) overlaps(q *piece) bool {
	return p.sameFile(q) && p.offset < q.end() && q.offset < p.end()
}

// covers reports whether p and q are the same bytes.
func (p *piece) covers(q *piece) bool {
	return p.offset == q.offset && (p.bits^q.bits)>>markBits == 0
}

// history is what a pass has written and not verified yet: in the order of the writes where no two of them can overlap,
// else sorted by place, each write replacing those that it overlaps. Who wants a piece later keeps a copy of it and asks
// for it by that.
type history struct {
	sorted  bool
	n       int
	forTrim int // pieces that wait to be trimmed
	tree    tree
	list    list

	trims    []piece // pieces to be trimmed, oldest first; those that have left the history are passed over
	trimFrom int
}

func newHistory(sorted bool) *history {
	h := &history{sorted: sorted}
	h.tree.init()
	return h
}

// add records a write.
func (h *history) add(p piece) {
	h.n++
	if !h.sorted {
		h.list.push(p)
		return
	}
	t := &h.tree
	if t.append(&p) {
		return
	}
	if q := t.following(); q != nil && q.covers(&p) {
		h.left(q)
		*q = p
		t.i++
		return
	}
	h.insert(&p)
}

// insert replaces in the tree what p overwrites.
func (h *history) insert(p *piece) {
	t := &h.tree
	l, i := t.find(p)
	if i < l.hi && l.pieces[i].covers(p) {
		h.left(&l.pieces[i])
		l.pieces[i] = *p
		t.l, t.i = l, i
		return
	}
	if overlapped(l, i, p) != nil {
		h.evict(p)
		l, i = t.find(p)
	}
	t.insert(l, i, p)
}

// evict drops what p overwrites.
func (h *history) evict(p *piece) {
	for {
		l, i := h.tree.find(p)
		q := overlapped(l, i, p)
		if q == nil {
			return
		}
		old := *q // removing it moves others to where it was
		h.left(&old)
		h.tree.remove(&old)
	}
}

// left counts a piece that leaves the history.
func (h *history) left(p *piece) {
	h.n--
	h.noTrim(p)
}

// forget drops what a write of unknown outcome may have hit.
func (h *history) forget(p piece) {
	if h.sorted {
		h.evict(&p)
		return
	}
	for i := range h.list.n {
		if q := h.list.at(i); !q.is(isGone) && q.overlaps(&p) {
			h.left(q)
			q.mark(isGone)
		}
	}
	h.list.trim()
}

// at is the piece that p is a copy of; nil: it has left the history. It holds until the history changes.
func (h *history) at(p piece) *piece {
	var q *piece
	if h.sorted {
		q = h.tree.at(&p)
	} else {
		q = h.list.find(p.number)
	}
	if q == nil || q.number != p.number || q.is(isGone) {
		return nil
	}
	return q
}

// remove takes p out of the history if it is there.
func (h *history) remove(p piece) {
	q := h.at(p)
	if q == nil {
		return
	}
	h.left(q)
	if h.sorted {
		h.tree.remove(&p)
		return
	}
	q.mark(isGone)
	h.list.trim()
}

// take removes the piece to verify next; false: none whose write has completed.
func (h *history) take() (piece, bool) {
	if h.n == 0 {
		return piece{}, false
	}
	if !h.sorted {
		p := *h.list.at(0) // trim leaves none there that is gone
		if p.is(inFlight) {
			return piece{}, false
		}
		h.left(&p)
		h.list.pop()
		h.list.trim()
		return p, true
	}
	l := h.tree.first
	i := l.lo
	for l.pieces[i].is(inFlight) {
		if i++; i == l.hi {
			if l = l.next; l == nil {
				return piece{}, false
			}
			i = l.lo
		}
	}
	p := l.pieces[i]
	h.left(&p)
	if i == l.lo && l.hi-l.lo > 1 {
		l.lo++
	} else {
		h.tree.remove(&p)
	}
	return p, true
}

// clear drops everything, at the start of a pass. Nothing is in flight.
func (h *history) clear() {
	if h.n > 0 {
		h.tree.init()
		h.list = list{}
	}
	h.n, h.forTrim, h.trims, h.trimFrom = 0, 0, h.trims[:0], 0
}

// queueTrim marks p, which is in the history, to be trimmed later.
func (h *history) queueTrim(p piece) {
	h.at(p).mark(forTrim)
	h.forTrim++
	h.trims = append(h.trims, p)
}

func (h *history) noTrim(p *piece) {
	if p.is(forTrim) {
		p.unmark(forTrim)
		h.forTrim--
	}
}

// nextTrim is the piece to trim next, taken out of the queue but not of the history; false: none whose write has completed.
func (h *history) nextTrim() (piece, bool) {
	for h.trimFrom < len(h.trims) {
		q := h.at(h.trims[h.trimFrom])
		if q != nil && q.is(forTrim) && q.is(inFlight) {
			return piece{}, false
		}
		h.trimFrom++
		if h.trimFrom == len(h.trims) {
			h.trims, h.trimFrom = h.trims[:0], 0
		}
		if q != nil && q.is(forTrim) {
			h.noTrim(q)
			return *q, true
		}
	}
	return piece{}, false
}
