package iolog

import "slices"

// holdBytes is how much of one log is kept in memory before a goroutine starts to write it out. Writing while a job
// runs disturbs what it measures, so short logs are written at the end.
const holdBytes = 32 << 20

// queue collects the records of one log in chunks of fixed size. The producer is one goroutine and neither locks nor
// allocates between chunks; full chunks go to a writer goroutine, which starts with the first of them.
type queue[T any] struct {
	file   *file
	format func([]byte, *T) []byte
	size   int   // records in a chunk
	bytes  int64 // memory of a chunk
	hold   int   // full chunks kept before writing

	cur        []T
	free, full chan []T
	done       chan struct{} // closed when the writer has ended
	held       [][]T         // the writer's
	text       []byte
}

func newQueue[T any](f *file, size, recordBytes int, format func([]byte, *T) []byte) *queue[T] {
	bytes := size * recordBytes
	return &queue[T]{file: f, format: format, size: size, bytes: int64(bytes), hold: max(1, holdBytes/bytes),
		cur: make([]T, 0, size)}
}

// next is the place of the next record.
func (q *queue[T]) next() *T {
	n := len(q.cur)
	if n == cap(q.cur) {
		q.rotate()
		n = 0
	}
	q.cur = q.cur[:n+1]
	return &q.cur[n]
}

// rotate hands the full chunk to the writer and takes an empty one from it.
func (q *queue[T]) rotate() {
	if q.full == nil {
		q.free, q.full, q.done = make(chan []T, 2), make(chan []T, 2), make(chan struct{})
		q.free <- make([]T, 0, q.size)
		q.free <- make([]T, 0, q.size)
		go q.run()
	}
	q.full <- q.cur
	q.cur = <-q.free
}

// run is the writer: it keeps chunks until they are many, then writes them in order.
func (q *queue[T]) run() {
	defer close(q.done)
	for c := range q.full {
		q.held = append(q.held, c)
		if len(q.held) <= q.hold && q.file.take(q.bytes) {
			q.free <- make([]T, 0, q.size)
			continue
		}
		oldest := q.held[0]
		_ = q.file.write(q.lines(oldest)) // the file keeps the error for close
		q.held = slices.Delete(q.held, 0, 1)
		q.free <- oldest[:0]
	}
}

// lines formats a chunk into the queue's own buffer.
func (q *queue[T]) lines(c []T) []byte {
	q.text = q.text[:0]
	for i := range c {
		q.text = q.format(q.text, &c[i])
	}
	return q.text
}

// close writes what is left and gives up the file. A shared file gets the rest as one block.
func (q *queue[T]) close() error {
	if q.full != nil {
		close(q.full)
		<-q.done
	}
	q.file.mu.Lock()
	for _, c := range append(q.held, q.cur) {
		_ = q.file.put(q.lines(c))
	}
	q.file.mu.Unlock()
	q.file.give(q.bytes * int64(len(q.held)))
	q.held, q.cur, q.text = nil, nil, nil
	return q.file.release()
}
