package iolog

import (
	"fmt"
	"os"
	"sync"
)

// file is a log being written. Jobs with per_job_logs=0 share one, so its writes are serialized.
type file struct {
	mu   sync.Mutex
	path string
	f    *os.File
	refs int
	err  error // first error; nothing is written after it
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
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry { return &Registry{files: map[string]*file{}} }

// open opens the log at path, for appending where several jobs may write it. A log of one job is cut to nothing first.
func (r *Registry) open(path string, shared bool) (*file, error) {
	if !shared {
		return openFile(path, os.O_TRUNC)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.files[path]; l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.refs > 0 {
			l.refs++
			return l, nil
		}
	}
	l, err := openFile(path, os.O_APPEND)
	if err != nil {
		return nil, err
	}
	r.files[path] = l
	return l, nil
}

func openFile(path string, flag int) (*file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return &file{path: path, f: f, refs: 1}, nil
}
