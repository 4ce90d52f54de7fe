// Package null is the engine that does nothing: every I/O succeeds at once. It measures what is not the device.
//
// It owns no file and makes no system call. It must not know who drives it.
package null

import (
	"time"

	"fiord/engines"
	"fiord/job"
)

// Driver is the null engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:   "null",
		Doc:    "Completes every request at once and touches no file; shows the ceiling of everything else.",
		Traits: job.Traits{Diskless: true, FakeIO: true, ReapsAll: true},
		Open:   open,
	}
}

// open makes a synchronous engine at depth 1, as fio does, so that the worker can skip the queue.
func open(w *engines.Worker, _ any) (engines.Engine, error) {
	if w.Depth <= 1 {
		return engines.Adapt(doer{}, 1), nil
	}
	return &engine{batch: make([]*engines.IO, w.Depth)}, nil
}

type doer struct{}

func (doer) Do(u *engines.IO) {
	u.Errno = 0
	finish(u)
}

// finish sets what u moved.
func finish(u *engines.IO) {
	switch u.Op {
	case engines.Read, engines.Write:
		u.Done = len(u.Buf)
	case engines.Trim:
		u.Done = u.Len
	default:
		u.Done = 0
	}
}

func (doer) Close() error { return nil }

// engine holds one submitted batch at a time. As fio's null engine does, it counts as full until that batch is reaped,
// so that the depth reached is the batch.
type engine struct {
	batch      []*engines.IO
	head, tail int // batch[head:tail] waits for Reap
}

func (e *engine) Submit(ios []*engines.IO) (int, error) {
	if e.head != e.tail {
		return 0, nil
	}
	e.head, e.tail = 0, copy(e.batch, ios)
	return e.tail, nil
}

func (e *engine) Reap(done []*engines.IO, _ int, _ time.Duration) (int, error) {
	n := copy(done, e.batch[e.head:e.tail])
	e.head += n
	for _, u := range done[:n] {
		u.Errno = 0
		finish(u)
	}
	return n, nil
}

func (e *engine) Close() error { return nil }
