// Package uringcmd is the io_uring_cmd engine: NVMe commands that go through io_uring to the character device of a
// namespace, past the block layer.
//
// It owns the ring of one worker, what it knows of each namespace, and the mapping of operations to commands. It must
// not know how I/O is scheduled or measured; the commands themselves are package nvme's.
package uringcmd

import (
	"errors"
	"fmt"
	"runtime"

	"fiord/engines"
	"fiord/engines/uring/ring"
	"fiord/internal/feature"
	"fiord/job"
)

// Driver is the io_uring_cmd engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:    "io_uring_cmd",
		Doc:     "Sends NVMe commands to a namespace's character device (/dev/ng0n1), or SCSI commands to /dev/bsg, through io_uring.",
		Traits:  job.Traits{MemAlign: true, Raw: true, MultiRange: true, Placement: true, NoOffload: true},
		Options: func() any { return defaults() },
		Probe:   probe,
		Sizer: func(j *job.Job) engines.FileSizer {
			return &sizer{linux, j, j.Engine.(*Options)}
		},
		Label: func(j *job.Job) string {
			if j.Engine.(*Options).CmdType == "null" {
				return "cmd_type=null: no drive took part"
			}
			return ""
		},
		Zones:   func(j *job.Job) engines.ZoneManager { return newZoneManager(linux, j.Engine.(*Options)) },
		Appends: func(j *job.Job) bool { return appends(j.Engine.(*Options)) },
		Open: func(w *engines.Worker, options any) (engines.Engine, error) {
			e, err := openAny(linux, w, options.(*Options))
			if errors.Is(err, errors.ErrUnsupported) {
				return nil, fmt.Errorf("%w: %w", engines.ErrUnsupported, err)
			}
			if err != nil {
				return nil, err
			}
			return e, nil
		},
	}
}

// openAny makes the engine for the job's kind of command.
func openAny(s *system, w *engines.Worker, o *Options) (engines.Engine, error) {
	if o.CmdType == "bsg" {
		return openDisks(s, w, o)
	}
	return open(s, w, o)
}

// wide is what a ring needs for passthrough commands and their results.
const wide = ring.IORING_SETUP_SQE128 | ring.IORING_SETUP_CQE32

// probe makes the smallest ring that takes commands.
func probe() error {
	runtime.LockOSThread() // a ring answers to one thread only
	defer runtime.UnlockOSThread()
	r, err := ring.Open(ring.Linux, ring.Config{Entries: 1, Flags: wide, Optional: ring.Optional})
	if err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			err = fmt.Errorf("%w: %w", engines.ErrUnsupported, err)
		}
		return err
	}
	defer func() { _ = r.Close() }()
	ops, err := r.Probe()
	if err == nil && !ops[ring.IORING_OP_URING_CMD] {
		err = fmt.Errorf("%w: %w", engines.ErrUnsupported, &feature.Error{Name: "passthrough through io_uring", Since: "5.19"})
	}
	return err
}
