// Package uring is the io_uring engine.
//
// It owns the ring of one worker, its registered files and buffers, and the mapping of operations to entries. It must
// not know how I/O is scheduled or measured, and leaves the kernel's binary interface to package ring.
package uring

import (
	"errors"
	"fmt"
	"runtime"

	"fiord/engines"
	"fiord/engines/uring/ring"
	"fiord/internal/sys"
	"fiord/job"
)

// Driver is the io_uring engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:    "io_uring",
		Doc:     "Issues requests through the kernel's io_uring rings, buffered or direct, in batches.",
		Traits:  job.Traits{Atomic: true, NoOffload: true},
		Options: func() any { return &Options{Nonvectored: -1} },
		Probe:   probe,
		Open: func(w *engines.Worker, options any) (engines.Engine, error) {
			e, err := open(ring.Linux, sys.BlockIntegrity, w, options.(*Options))
			if err != nil {
				return nil, unsupported(err)
			}
			return e, nil
		},
	}
}

// probe makes the smallest ring there is.
func probe() error {
	runtime.LockOSThread() // a ring answers to one thread only
	defer runtime.UnlockOSThread()
	r, err := ring.Open(ring.Linux, ring.Config{Entries: 1, Optional: ring.Optional})
	if err != nil {
		return unsupported(err)
	}
	return r.Close()
}

// unsupported lets an error about the kernel answer to the engines' own sentinel as well.
func unsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", engines.ErrUnsupported, err)
	}
	return err
}
