// Package layout names, sizes, creates, opens, closes and removes the files of a job.
//
// It owns everything that happens to a file but I/O: fio's filesetup. It must not know how I/O is scheduled, measured
// or reported.
package layout

import "fiord/engines"

// Set is the files of one job, resolved: names, sizes, and the range of each that the job works in.
type Set struct {
	Files     []*engines.File
	TotalSize uint64 // sum of the ranges: what one pass covers (fio's td->o.size after setup)
	IOSize    uint64 // bytes that one pass may issue (fio's io_size rules)
}
