package run

// piece is a write that is to be verified (fio's io_piece).
type piece struct {
	file         int32
	inFlight     bool // the write, or the trim of it, has not completed
	trimmed      bool // it must read back as zeroes
	listed       bool // it is in the history
	forTrim      bool // it waits to be trimmed
	queued       bool // the queue of trims refers to it, though it may have left the history
	length       int
	offset       int64
	number, seed uint64

	prev, next *piece   // of the list
	up         []*piece // of the skip list
}

func (p *piece) before(q *piece) bool {
	return p.file < q.file || p.file == q.file && p.offset < q.offset
}

func (p *piece) overlaps(q *piece) bool {
	return p.file == q.file && p.offset < q.offset+int64(q.length) && q.offset < p.offset+int64(p.length)
}

// history is what a pass has written and not verified yet: in the order of the writes where no two of them can overlap,
// else sorted by place, each write replacing those that it overlaps.
type history struct {
	sorted bool
	n      int
	head   piece // of the ring of the list
	tree   skipList

	trims    []*piece // pieces to be trimmed, oldest first; those that have left the history are passed over
	trimFrom int
	forTrim  int

	spare []*piece
}

func newHistory(sorted bool) *history {
	h := &history{sorted: sorted}
	h.head.prev, h.head.next = &h.head, &h.head
	h.tree.init()
	return h
}

// pieceChunk is how many pieces are allocated at once.
const pieceChunk = 256

// piece is a fresh piece.
func (h *history) piece() *piece {
	if len(h.spare) == 0 {
		chunk := make([]piece, pieceChunk)
		for i := range chunk {
			h.spare = append(h.spare, &chunk[i])
		}
	}
	p := h.spare[len(h.spare)-1]
	h.spare = h.spare[:len(h.spare)-1]
	*p = piece{up: p.up[:0]}
	return p
}

// recycle takes back a piece that nothing refers to any more.
func (h *history) recycle(p *piece) {
	if !p.listed && !p.inFlight && !p.queued {
		h.spare = append(h.spare, p)
	}
}

// add records a write.
func (h *history) add(p *piece) {
	p.listed = true
	h.n++
	if !h.sorted {
		p.prev, p.next = h.head.prev, &h.head
		p.prev.next, h.head.prev = p, p
		return
	}
	h.evict(p)
	h.tree.insert(p)
}

// evict drops what p overwrites.
func (h *history) evict(p *piece) {
	for q := h.tree.overlapping(p); q != nil; q = h.tree.overlapping(p) {
		h.remove(q)
		h.recycle(q)
	}
}

// forget drops what a write of unknown outcome may have hit.
func (h *history) forget(p *piece) {
	if h.sorted {
		h.evict(p)
		return
	}
	for q := h.head.next; q != &h.head; {
		next := q.next
		if q.overlaps(p) {
			h.remove(q)
			h.recycle(q)
		}
		q = next
	}
}

// remove takes p out of the history if it is there.
func (h *history) remove(p *piece) {
	if !p.listed {
		return
	}
	p.listed = false
	h.n--
	h.noTrim(p)
	if h.sorted {
		h.tree.remove(p)
		return
	}
	p.prev.next, p.next.prev = p.next, p.prev
	p.prev, p.next = nil, nil
}

// take removes the piece to verify next; nil: none whose write has completed.
func (h *history) take() *piece {
	p := h.head.next
	if h.sorted {
		for p = h.tree.first(); p != nil && p.inFlight; {
			p = p.up[0]
		}
		if p == nil {
			return nil
		}
	} else if p == &h.head || p.inFlight {
		return nil
	}
	h.remove(p)
	return p
}

// clear drops everything, at the start of a pass. Nothing is in flight.
func (h *history) clear() {
	for h.n > 0 {
		p := h.head.next
		if h.sorted {
			p = h.tree.first()
		}
		p.inFlight = false
		h.remove(p)
		h.recycle(p)
	}
	for _, p := range h.trims[h.trimFrom:] {
		p.queued = false
	}
	h.trims, h.trimFrom, h.forTrim = h.trims[:0], 0, 0
}

// queueTrim marks p to be trimmed later.
func (h *history) queueTrim(p *piece) {
	p.forTrim, p.queued = true, true
	h.forTrim++
	h.trims = append(h.trims, p)
}

func (h *history) noTrim(p *piece) {
	if p.forTrim {
		p.forTrim = false
		h.forTrim--
	}
}

// nextTrim is the piece to trim next, taken out of the queue; nil: none whose write has completed.
func (h *history) nextTrim() *piece {
	for h.trimFrom < len(h.trims) {
		p := h.trims[h.trimFrom]
		if p.forTrim && p.inFlight {
			return nil
		}
		p.queued = false
		h.trims[h.trimFrom] = nil
		h.trimFrom++
		if h.trimFrom == len(h.trims) {
			h.trims, h.trimFrom = h.trims[:0], 0
		}
		if p.forTrim {
			h.noTrim(p)
			return p
		}
		h.recycle(p) // it has left the history meanwhile, and only the queue held it
	}
	return nil
}

// maxLevel bounds the skip list: enough for 4^16 pieces.
const maxLevel = 16

// skipList holds pieces that do not overlap, sorted by place.
type skipList struct {
	head  piece
	level int
	rnd   uint64
}

func (l *skipList) init() {
	l.head.up = make([]*piece, maxLevel)
	l.level = 1
	l.rnd = 1
}

func (l *skipList) first() *piece { return l.head.up[0] }

// find stores in path the last piece before p on each level.
func (l *skipList) find(p *piece, path *[maxLevel]*piece) {
	at := &l.head
	for i := l.level - 1; i >= 0; i-- {
		for next := at.up[i]; next != nil && next.before(p); next = at.up[i] {
			at = next
		}
		path[i] = at
	}
}

// overlapping is a piece that p overlaps; nil: none.
func (l *skipList) overlapping(p *piece) *piece {
	var path [maxLevel]*piece
	l.find(p, &path)
	if q := path[0]; q != &l.head && q.overlaps(p) {
		return q
	}
	if q := path[0].up[0]; q != nil && q.overlaps(p) {
		return q
	}
	return nil
}

func (l *skipList) insert(p *piece) {
	var path [maxLevel]*piece
	l.find(p, &path)
	level := l.height()
	for ; l.level < level; l.level++ {
		path[l.level] = &l.head
	}
	p.up = p.up[:0]
	for i := range level {
		p.up = append(p.up, path[i].up[i])
		path[i].up[i] = p
	}
}

// height draws the number of levels of a piece: each one more has a chance of a quarter.
func (l *skipList) height() int {
	l.rnd ^= l.rnd << 13
	l.rnd ^= l.rnd >> 7
	l.rnd ^= l.rnd << 17
	n := 1
	for r := l.rnd; r&3 == 0 && n < maxLevel; r >>= 2 {
		n++
	}
	return n
}

func (l *skipList) remove(p *piece) {
	var path [maxLevel]*piece
	l.find(p, &path)
	for i := range p.up {
		if path[i].up[i] == p {
			path[i].up[i] = p.up[i]
		}
	}
	for l.level > 1 && l.head.up[l.level-1] == nil {
		l.level--
	}
	p.up = p.up[:0]
}
