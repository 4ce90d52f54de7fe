package run

// list holds pieces in the order of their numbers. Those that leave from the middle are only marked.
type list struct {
	chunks []*chunk
	first  int // of the chunks that are in use
	from   int // of the pieces of the first chunk
	n      int // pieces, with those that are gone
	spare  []*chunk
}

const chunkSize = 128

type chunk [chunkSize]piece

func (l *list) at(i int) *piece {
	i += l.from
	return &l.chunks[l.first+i/chunkSize][i%chunkSize]
}

func (l *list) push(p piece) {
	if l.first+(l.from+l.n)/chunkSize == len(l.chunks) {
		l.grow()
	}
	l.n++
	*l.at(l.n - 1) = p
}

// grow adds a chunk, and moves the others to the start where as many have left.
func (l *list) grow() {
	if l.first > len(l.chunks)/2 {
		l.chunks = l.chunks[:copy(l.chunks, l.chunks[l.first:])]
		l.first = 0
	}
	if len(l.spare) == 0 {
		l.chunks = append(l.chunks, new(chunk))
		return
	}
	l.chunks = append(l.chunks, l.spare[len(l.spare)-1])
	l.spare = l.spare[:len(l.spare)-1]
}

// pop drops the first piece.
func (l *list) pop() {
	l.n--
	if l.from++; l.from < chunkSize {
		return
	}
	l.spare = append(l.spare, l.chunks[l.first])
	l.chunks[l.first] = nil
	l.first++
	l.from = 0
}

// trim drops the pieces at the start that are gone.
func (l *list) trim() {
	for l.n > 0 && l.at(0).is(isGone) {
		l.pop()
	}
}

// find is the piece of that number, though it may be gone; nil: there is none. Numbers grow by one, but some are left out.
func (l *list) find(number uint64) *piece {
	if l.n == 0 || number < l.at(0).number {
		return nil
	}
	lo, hi := 0, int(min(number-l.at(0).number, uint64(l.n-1)))
	if q := l.at(hi); q.number <= number {
		return q // where none is left out; who asks looks at the number
	}
	for lo < hi {
		if mid := (lo + hi) / 2; l.at(mid).number < number {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return l.at(lo)
}
