package run

import (
	"io"
	"sync"
	"time"

	"fiord/iolog"
)

// logChunk is a piece of a log.
type logChunk struct {
	list   []iolog.Entry
	files  []string // all that the log has named up to here
	totals iolog.Totals
	notes  []string // with the end of the log
	err    error    // io.EOF behind the last piece; list is empty then
}

// readAhead reads a log on a goroutine of its own, a few pieces ahead of the worker: a pipe or a socket may let it wait
// while the worker has I/O in flight, and must not keep it from stopping.
type readAhead struct {
	chunks chan logChunk
	spare  chan []iolog.Entry // lists to be filled anew: no collector runs meanwhile
	quit   chan struct{}
	in     io.Closer
	once   sync.Once
}

const (
	chunkEntries = 1 << 10
	chunksAhead  = 8
)

// startReadAhead takes over in.
func startReadAhead(path string, in io.ReadCloser, cfg iolog.ReadConfig) *readAhead {
	a := &readAhead{chunks: make(chan logChunk, chunksAhead), spare: make(chan []iolog.Entry, chunksAhead), quit: make(chan struct{}), in: in}
	go a.run(path, in, cfg)
	return a
}

func (a *readAhead) run(path string, in io.Reader, cfg iolog.ReadConfig) {
	r, err := iolog.NewReplay(path, in, cfg)
	if err != nil {
		a.send(logChunk{err: err})
		return
	}
	for {
		list, err := r.Append(a.room(), chunkEntries)
		c := logChunk{list: list, files: r.Files(), totals: r.Totals(), err: err}
		if err == io.EOF {
			c.notes = r.Notes()
			if err := r.Check(); err != nil {
				c.err = err
			}
		}
		if !a.send(c) || err != nil {
			return
		}
	}
}

// room is an empty list.
func (a *readAhead) room() []iolog.Entry {
	select {
	case l := <-a.spare:
		return l
	default:
		return make([]iolog.Entry, 0, chunkEntries)
	}
}

// done gives a list back that is not needed any more.
func (a *readAhead) done(list []iolog.Entry) {
	select {
	case a.spare <- list[:0]:
	default:
	}
}

func (a *readAhead) send(c logChunk) bool {
	select {
	case a.chunks <- c:
		return true
	case <-a.quit:
		return false
	}
}

// poll takes a piece if one is there.
func (a *readAhead) poll() (logChunk, bool) {
	select {
	case c := <-a.chunks:
		return c, true
	default:
		return logChunk{}, false
	}
}

// sleep waits a little for a piece.
func (a *readAhead) sleep() (logChunk, bool) {
	t := time.NewTimer(20 * time.Millisecond)
	defer t.Stop()
	select {
	case c := <-a.chunks:
		return c, true
	case <-t.C:
		return logChunk{}, false
	}
}

// wait waits for a piece until stop says so.
func (a *readAhead) wait(stop func() bool) (logChunk, bool) {
	for !stop() {
		if c, ok := a.sleep(); ok {
			return c, true
		}
	}
	return logChunk{}, false
}

// close ends the reading. A read that a terminal or a pipe keeps waiting goes on until the program ends.
func (a *readAhead) close() {
	a.once.Do(func() {
		close(a.quit)
		_ = a.in.Close() // it was only read
	})
}
