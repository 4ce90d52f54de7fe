package run

import (
	"slices"
	"sync"

	"fiord/clock"
	"fiord/engines"
)

// fileLock is the lock of one file under lockfile: shared by all jobs of the run that have the option.
type fileLock struct {
	id int // locks are taken in this order
	mu sync.RWMutex
}

// fileLocks are the locks of a run, by path.
type fileLocks struct {
	mu    sync.Mutex
	paths map[string]*fileLock
}

func (l *fileLocks) of(path string) *fileLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths == nil {
		l.paths = map[string]*fileLock{}
	}
	f := l.paths[path]
	if f == nil {
		f = &fileLock{id: len(l.paths)}
		l.paths[path] = f
	}
	return f
}

// locker takes the locks of one job's files around its I/O. nil: lockfile=none.
type locker struct {
	files   []*fileLock // by File.Index
	readers bool        // lockfile=readwrite: reads share
	held    []heldLock
}

// heldLock is a lock that a batch has taken.
type heldLock struct {
	lock   *fileLock
	shared bool
}

// lockFiles prepares lockfile. An engine that does its I/O inside Do is wrapped; of others the submission is locked, as
// with fio. The threads of io_submit_mode=offload hold the lock for as long as their I/O takes.
func (w *worker) lockFiles() error {
	if w.job.LockFile == "none" || w.job.LockFile == "" || w.set == nil {
		return nil
	}
	k := &locker{readers: w.job.LockFile == "readwrite"}
	for _, f := range w.set.Files {
		k.files = append(k.files, w.r.fileLocks.of(f.Name))
	}
	switch {
	case w.off != nil:
		w.off.locks = k
	case w.doer != nil:
		w.doer = &lockedDoer{SyncEngine: w.doer, locker: k}
	default:
		w.locks = k
	}
	return nil
}

// hold takes the lock of u's file and returns what gives it back. It may be called by any thread.
func (k *locker) hold(u *engines.IO) (release func()) {
	l := k.files[u.File.Index]
	if k.shared(u) {
		l.mu.RLock()
		return l.mu.RUnlock
	}
	l.mu.Lock()
	return l.mu.Unlock
}

// shared reports whether the I/O may go on next to others like it.
func (k *locker) shared(u *engines.IO) bool { return k.readers && u.Op == engines.Read }

// lockedDoer does each I/O under the lock of its file. The time spent waiting for the lock is no latency of the I/O: its
// stamps move by it.
type lockedDoer struct {
	engines.SyncEngine
	*locker
}

func (d *lockedDoer) Do(u *engines.IO) {
	defer d.hold(u)()
	waited := clock.Now() - u.Issued
	u.Start += waited
	u.Issued += waited
	d.SyncEngine.Do(u)
}

// lock takes the locks of all files of a batch: always in one order, so that two jobs cannot wait for each other.
func (k *locker) lock(ios []*engines.IO) {
	began := clock.Now()
	for _, u := range ios {
		l := k.files[u.File.Index]
		i := slices.IndexFunc(k.held, func(h heldLock) bool { return h.lock == l })
		if i < 0 {
			i = len(k.held)
			k.held = append(k.held, heldLock{l, true})
		}
		k.held[i].shared = k.held[i].shared && k.shared(u)
	}
	slices.SortFunc(k.held, func(a, b heldLock) int { return a.lock.id - b.lock.id })
	for _, h := range k.held {
		if h.shared {
			h.lock.mu.RLock()
		} else {
			h.lock.mu.Lock()
		}
	}
	waited := clock.Now() - began
	for _, u := range ios {
		u.Start += waited
	}
}

func (k *locker) unlock() {
	for _, h := range k.held {
		if h.shared {
			h.lock.mu.RUnlock()
		} else {
			h.lock.mu.Unlock()
		}
	}
	k.held = k.held[:0]
}
