package iolog

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// file is a log being written. Jobs with per_job_logs=0 share one, so its writes are serialized.
type file struct {
	mu   sync.Mutex
	path string
	f    *os.File
	refs int
	err  error // first error; nothing is written after it

	// room is what the logs of a run may still keep in memory, in bytes; nil: nothing shared.
	room *atomic.Int64
}

// take reserves n bytes of the run's memory for logs, and reports false where there is none left.
func (l *file) take(n int64) bool {
	if l.room == nil {
		return true
	}
	if l.room.Add(-n) < 0 {
		l.room.Add(n)
		return false
	}
	return true
}

// give returns what take reserved.
func (l *file) give(n int64) {
	if l.room != nil {
		l.room.Add(n)
	}
}

// write writes b, whole lines, and reports the first error that any write met.
func (l *file) write(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.put(b)
}

func (l *file) put(b []byte) error {
	if l.err == nil && len(b) > 0 {
		if _, err := l.f.Write(b); err != nil {
			l.err = fmt.Errorf("write log: %w", err)
		}
	}
	return l.err
}

// fail keeps an error that is not one of writing.
func (l *file) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed(err)
}

// failed is fail with the lock held.
func (l *file) failed(err error) {
	if l.err == nil {
		l.err = err
	}
}

// release gives up one use; the last closes the file.
func (l *file) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refs--
	if l.refs == 0 {
		if err := l.f.Close(); err != nil && l.err == nil {
			l.err = fmt.Errorf("close log: %w", err)
		}
	}
	return l.err
}

// Registry holds the log files of a run, so that jobs that log into the same file share it.
type Registry struct {
	mu    sync.Mutex
	files map[string]*file
	room  atomic.Int64
}

// holdAll is how much all logs of a run together keep in memory.
const holdAll = 256 << 20

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	r := &Registry{files: map[string]*file{}}
	r.room.Store(holdAll)
	return r
}

// open opens the log at path, for appending where several jobs may write it. A log of one job is cut to nothing first.
func (r *Registry) open(path string, shared bool) (*file, error) {
	flag := os.O_TRUNC
	if shared {
		flag = os.O_APPEND
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.files[path]; shared && l != nil && l.join() {
		return l, nil
	}
	l, err := openFile(path, flag)
	if err != nil {
		return nil, err
	}
	l.room = &r.room
	if shared {
		r.files[path] = l
	}
	return l, nil
}

// join adds a use, unless the file is closed already.
func (l *file) join() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refs == 0 {
		return false
	}
	l.refs++
	return true
}

func openFile(path string, flag int) (*file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return &file{path: path, f: f, refs: 1}, nil
}
