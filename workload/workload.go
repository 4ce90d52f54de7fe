// Package workload decides what each I/O of a job is: direction, file, offset and length, in fio's order for fio's seeds,
// and what its buffer holds.
//
// It is pure and deterministic: it asks no clock and no system. It must not know engines beyond their operation names,
// nor what is measured.
package workload

import (
	"fiord/engines"
	"fiord/job"
)

// File is what the generator must know of a file.
type File struct {
	Offset int64  // where the job's range starts (fio's file_offset)
	Length int64  // length of the job's range (fio's io_size)
	Size   int64  // size of the file (fio's real_file_size)
	Name   string // as opened: it seeds the file's zipf, pareto or normal distribution
}

// Config is what a generator is made from.
type Config struct {
	Job       *job.Job
	Files     []File
	TotalSize uint64 // sum of the ranges: one pass over the files (fio's td->o.size after setup)
	IOSize    uint64 // bytes that one loop may issue: io_size when given, else TotalSize; 0 means TotalSize
	Events    Events // nil: none
	Zones     Zones  // nil: the job has no zonemode=zbd
	// Pace, when not nil, is asked for the direction of the next I/O of a job with rates in several directions: it may
	// return the other one (fio's rate_ddir), or Stop to end the pass. It is asked once for each data I/O.
	Pace func(d job.Dir) job.Dir
	// Memory, when not nil, gives the memory of the random maps, which may be much larger than what is used of it. Nil: the
	// heap, with maps of 16 GiB at most.
	Memory func(words uint64) (Block, error)
}

// Block is memory for a random map, zeroed.
type Block struct {
	Words []uint64
	Zero  func() // zeroes Words; nil: it is done word by word
}

// Stop is what Pace answers when the job's time is over.
const Stop job.Dir = 255

// Events is told of files that the generator starts and stops using (openfiles, file_service_type), rarely. An error of
// OpenFile ends the pass and is found in Err.
type Events interface {
	OpenFile(i int) error
	// CloseFile comes when no I/O of the file is in flight.
	CloseFile(i int) error
}

// ClosingEvents is an Events that also wants to know when the generator has given up a file whose I/Os may still be in
// flight: the moment at which an I/O log says "close". It comes before CloseFile, always.
type ClosingEvents interface{ ClosingFile(i int) }

// RewindEvents is an Events that also wants to know when a file starts over inside a pass, where fio drops the page cache
// of jobs that have invalidate=1 and are not direct.
type RewindEvents interface{ RewindFile(i int) }

// Req is the next I/O.
type Req struct {
	Op     engines.Op
	File   int
	Offset int64
	Len    int
}

// Verdict is what Next found.
type Verdict uint8

// The verdicts.
const (
	Issue Verdict = iota // r is the next I/O
	Wait                 // nothing until an I/O in flight completes
	End                  // this pass is over
)
