package layout

import (
	"slices"
	"sync"
)

// Registry keeps jobs from laying out the same file at the same time: the second finds it laid out. It is safe for
// concurrent use; the zero value is ready.
type Registry struct {
	mu    sync.Mutex
	paths map[string]*sync.Mutex
}

// lock takes the locks of all paths and returns what releases them. Always in one order, so that two jobs cannot wait
// for each other.
func (r *Registry) lock(paths []string) (unlock func()) {
	if r == nil {
		return func() {}
	}
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	held := make([]*sync.Mutex, 0, len(paths))
	for _, p := range paths {
		m := r.of(p)
		m.Lock()
		held = append(held, m)
	}
	return func() {
		for _, m := range held {
			m.Unlock()
		}
	}
}

func (r *Registry) of(path string) *sync.Mutex {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.paths == nil {
		r.paths = map[string]*sync.Mutex{}
	}
	m := r.paths[path]
	if m == nil {
		m = new(sync.Mutex)
		r.paths[path] = m
	}
	return m
}
