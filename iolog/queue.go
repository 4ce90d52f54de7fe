package iolog

import "slices"

// holdBytes is how much of one log is kept in memory before a goroutine starts to write it out. Writing while a job
// runs disturbs what it measures, so short logs are written at the end.
const holdBytes = 32 << 20

// queue collects the records of one log in chunks of fixed size. The producer is one goroutine and neither locks nor
// allocates between chunks; full chunks go to a writer goroutine, which starts with the first of them.
type queue[T any] struct {
	file *file
	size int // records in a chunk
	sink sink[T]

	cur        []T
	free, full chan []T
	done       chan struct{} // closed when the writer has ended
}

// sink is what becomes of full chunks. It belongs to the writer goroutine, and after that to whoever closes.
type sink[T any] interface {
	start()                // on the writer goroutine, first
	add(c []T) (empty []T) // nil: the chunk is kept
	close(last []T)        // writes all that is left, and last
}

func newQueue[T any](f *file, size int, s sink[T]) *queue[T] {
	return &queue[T]{file: f, size: size, sink: s, cur: make([]T, 0, size)}
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

// run is the writer.
func (q *queue[T]) run() {
	defer close(q.done)
	q.sink.start()
	for c := range q.full {
		empty := q.sink.add(c)
		if empty == nil {
			empty = make([]T, 0, q.size)
		}
		q.free <- empty[:0]
	}
}

// close writes what is left and gives up the file.
func (q *queue[T]) close() error {
	if q.full != nil {
		close(q.full)
		<-q.done
	}
	q.sink.close(q.cur)
	q.cur = nil
	return q.file.release()
}

// textSink keeps chunks until they are many, then writes them in order.
type textSink[T any] struct {
	file   *file
	format func([]byte, *T) []byte
	bytes  int64 // memory of a chunk
	hold   int   // full chunks kept before writing
	held   [][]T
	text   []byte
}

func newTextSink[T any](f *file, size, recordBytes int, format func([]byte, *T) []byte) *textSink[T] {
	bytes := size * recordBytes
	return &textSink[T]{file: f, format: format, bytes: int64(bytes), hold: max(1, holdBytes/bytes)}
}

func (s *textSink[T]) start() {}

func (s *textSink[T]) add(c []T) (empty []T) {
	s.held = append(s.held, c)
	if len(s.held) <= s.hold && s.file.take(s.bytes) {
		return nil
	}
	oldest := s.held[0]
	_ = s.file.write(s.lines(oldest)) // the file keeps the error for release
	s.held = slices.Delete(s.held, 0, 1)
	return oldest
}

// lines formats a chunk into the sink's own buffer.
func (s *textSink[T]) lines(c []T) []byte {
	s.text = s.text[:0]
	for i := range c {
		s.text = s.format(s.text, &c[i])
	}
	return s.text
}

// close writes the rest; a shared file gets it as one block.
func (s *textSink[T]) close(last []T) {
	s.file.mu.Lock()
	for _, c := range append(s.held, last) {
		_ = s.file.put(s.lines(c))
	}
	s.file.mu.Unlock()
	s.file.give(s.bytes * int64(len(s.held)))
	s.held, s.text = nil, nil
}
