package run

// tree holds pieces that do not overlap, sorted by place: a B+ tree. After each system call every page that is touched costs
// time, so a search touches few, and what comes behind all others, what is first and what overwrites one block after the
// other need no search.
type tree struct {
	first, last *leaf
	l           *leaf // the piece that came last is here, unless it has moved
	i           int32
	root        *inner
	depth       int             // levels of inner nodes
	path        [maxDepth]child // what the last search has passed through
	spare       *leaf
}

// Nodes fit two kilobytes with the word that the allocator adds.
const (
	leafSize = 63
	fanOut   = 63
	maxDepth = 10 // more than memory can hold: half full nodes of 31 children each
)

// leaf holds the pieces from lo to hi.
type leaf struct {
	next, prev *leaf
	lo, hi     int32
	pieces     [leafSize]piece
}

// inner is a node whose children begin with their from, but for the first, which takes what is before it too.
type inner struct {
	n    int
	kids [fanOut]branch
}

// branch leads to a leaf or to another inner node.
type branch struct {
	offset int64
	file   int64
	leaf   *leaf
	in     *inner
}

// child is one of the children of a node.
type child struct {
	in *inner
	i  int
}

func (t *tree) init() {
	l := new(leaf)
	*t = tree{first: l, last: l, l: l, root: &inner{n: 1}, depth: 1, spare: t.spare}
	t.root.kids[0].leaf = l
}

func branchTo(p *piece, l *leaf) branch {
	return branch{offset: p.offset, file: int64(p.file()), leaf: l}
}

// append adds p if it lies behind everything and there is room for it.
func (t *tree) append(p *piece) bool {
	l := t.last
	n := l.hi
	if n == l.lo || n == leafSize {
		return false
	}
	q := &l.pieces[n-1]
	if !q.before(p) || q.overlaps(p) {
		return false
	}
	l.pieces[n] = *p
	l.hi++
	return true
}

// following is the piece behind the one that came last; nil: it has to be searched.
func (t *tree) following() *piece {
	if l, i := t.l, t.i+1; i >= l.lo && i < l.hi {
		return &l.pieces[i]
	}
	return nil
}

// find is where p is or belongs, and notes the path to there.
func (t *tree) find(p *piece) (*leaf, int32) {
	offset, file := p.offset, int64(p.file())
	in := t.root
	for d := 0; ; d++ {
		i := in.find(file, offset)
		t.path[d] = child{in, i}
		b := &in.kids[i]
		if b.leaf != nil {
			return b.leaf, b.leaf.find(p)
		}
		in = b.in
	}
}

// find is the last child that does not begin behind a place.
func (in *inner) find(file, offset int64) int {
	lo, hi := 0, in.n
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if b := &in.kids[mid]; b.file < file || b.file == file && b.offset <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// find is the index of the first piece that is not before p.
func (l *leaf) find(p *piece) int32 {
	lo, hi := l.lo, l.hi
	for lo < hi {
		mid := int32(uint32(lo+hi) / 2)
		if l.pieces[mid].before(p) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// at is the piece at the place of p; nil: none begins there.
func (t *tree) at(p *piece) *piece {
	if l := t.last; l.hi > l.lo && l.pieces[l.hi-1].covers(p) {
		return &l.pieces[l.hi-1]
	}
	if l, i := t.find(p); i < l.hi && !p.before(&l.pieces[i]) {
		return &l.pieces[i]
	}
	return nil
}

// overlapped is a piece that p overlaps, which belongs at i of l; nil: none.
func overlapped(l *leaf, i int32, p *piece) *piece {
	if i > l.lo {
		if q := &l.pieces[i-1]; q.overlaps(p) {
			return q
		}
	} else if b := l.prev; b != nil {
		if q := &b.pieces[b.hi-1]; q.overlaps(p) {
			return q
		}
	}
	if i < l.hi {
		if q := &l.pieces[i]; q.overlaps(p) {
			return q
		}
	} else if f := l.next; f != nil {
		if q := &f.pieces[f.lo]; q.overlaps(p) {
			return q
		}
	}
	return nil
}

// insert puts p at i of l, where find has put it.
func (t *tree) insert(l *leaf, i int32, p *piece) {
	if l.hi == leafSize && (l.lo == 0 || l == t.last && i == leafSize) {
		l, i = t.split(l, i, p)
	}
	if l.hi < leafSize && (l.lo == 0 || l.hi-i < i-l.lo) {
		copy(l.pieces[i+1:], l.pieces[i:l.hi])
		l.hi++
	} else {
		copy(l.pieces[l.lo-1:], l.pieces[l.lo:i])
		l.lo--
		i--
	}
	l.pieces[i] = *p
	t.l, t.i = l, i
}

// split makes room for p at i of l, which is full, and is where p goes then. What comes behind everything leaves l full.
func (t *tree) split(l *leaf, i int32, p *piece) (*leaf, int32) {
	r := t.spare
	if r != nil {
		t.spare = r.next
	} else {
		r = new(leaf)
	}
	r.prev, r.next = l, l.next
	if l.next != nil {
		l.next.prev = r
	} else {
		t.last = r
	}
	l.next = r
	if r == t.last && i == leafSize {
		t.hang(branchTo(p, r))
		return r, 0
	}
	const half = leafSize / 2
	r.hi = int32(copy(r.pieces[:], l.pieces[half:]))
	l.hi = half
	t.hang(branchTo(&r.pieces[0], r))
	if i > half {
		return r, i - half
	}
	return l, i
}

// hang adds a branch behind where the path leads.
func (t *tree) hang(b branch) {
	for d := t.depth - 1; d >= 0; d-- {
		in, i := t.path[d].in, t.path[d].i+1
		if in.n < fanOut {
			in.insert(i, b)
			return
		}
		at := fanOut / 2
		if i == fanOut {
			at = fanOut // places that only grow leave full nodes behind
		}
		r := new(inner)
		r.n = copy(r.kids[:], in.kids[at:])
		clear(in.kids[at:])
		in.n = at
		if i > at || at == fanOut {
			r.insert(i-at, b)
		} else {
			in.insert(i, b)
		}
		b = branch{offset: r.kids[0].offset, file: r.kids[0].file, in: r}
	}
	t.root = &inner{n: 2, kids: [fanOut]branch{{in: t.root}, b}}
	t.depth++
}

func (in *inner) insert(i int, b branch) {
	copy(in.kids[i+1:], in.kids[i:in.n])
	in.kids[i] = b
	in.n++
}

func (in *inner) remove(i int) {
	copy(in.kids[i:], in.kids[i+1:in.n])
	in.n--
	in.kids[in.n] = branch{}
}

// remove takes out the piece at the place of p, which is there.
func (t *tree) remove(p *piece) {
	l, i := t.find(p)
	if i-l.lo < l.hi-i {
		copy(l.pieces[l.lo+1:], l.pieces[l.lo:i])
		l.lo++
	} else {
		copy(l.pieces[i:], l.pieces[i+1:l.hi])
		l.hi--
	}
	switch n := l.hi - l.lo; {
	case n == 0:
		t.prune(l, t.depth-1, t.path[t.depth-1].i)
	case n <= leafSize/4:
		t.merge(l)
	}
}

// merge takes in the next leaf if the two are not half of one, so that memory does not fill with leaves that have hardly any.
func (t *tree) merge(l *leaf) {
	c := &t.path[t.depth-1]
	if c.i+1 >= c.in.n {
		return
	}
	r := l.next
	n, more := l.hi-l.lo, r.hi-r.lo
	if n+more > leafSize/2 {
		return
	}
	copy(l.pieces[:], l.pieces[l.lo:l.hi])
	copy(l.pieces[n:], r.pieces[r.lo:r.hi])
	l.lo, l.hi = 0, n+more
	t.prune(r, t.depth-1, c.i+1)
}

// prune drops a leaf, which is child i of the last node of the path, with the nodes that have no other. One leaf stays.
func (t *tree) prune(l *leaf, d, i int) {
	l.lo, l.hi = 0, 0
	if t.first == t.last {
		return
	}
	if l.prev != nil {
		l.prev.next = l.next
	} else {
		t.first = l.next
	}
	if l.next != nil {
		l.next.prev = l.prev
	} else {
		t.last = l.prev
	}
	l.next, t.spare = t.spare, l
	for t.path[d].in.remove(i); t.path[d].in.n == 0; t.path[d].in.remove(i) {
		d--
		i = t.path[d].i
	}
	for t.depth > 1 && t.root.n == 1 {
		t.root = t.root.kids[0].in
		t.depth--
	}
}
