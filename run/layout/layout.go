// Package layout names, sizes, creates, opens, closes and removes the files of a job.
//
// It owns everything that happens to a file but I/O: fio's filesetup. It must not know how I/O is scheduled, measured
// or reported. A file that fiord makes for itself is either laid out whole or removed again; what a file held before is
// never touched for a job that reads it.
package layout

import (
	"math"

	"fiord/engines"
	"fiord/job"
	"fiord/workload"
)

// Unbounded is the Size or Length of a file without a known end: a character device, or a file that fill_device writes
// until there is no space. It is far below the largest int64, so that adding an offset cannot overflow.
const Unbounded int64 = 1 << 62

// unknown is fio's -1ULL: no size known.
const unknown uint64 = math.MaxUint64

// Env is what layout needs of the run around it. The zero Env works for a single job.
type Env struct {
	Print    func(line string)  // takes the lines that fio prints meanwhile; no newline at the end
	Stop     func() bool        // asked during long fills: true ends the layout with ErrStopped
	ReadOnly bool               // --readonly: nothing is created, extended or written
	Shared   *Registry          // of all jobs that may lay out files at the same time; nil: this job is alone
	Filler   *workload.Filler   // contents of laid out files, shared with the run as fio shares the stream; nil: own
	Sizer    engines.FileSizer  // the engine's own idea of sizes; nil: stat and ioctl
	Opener   engines.FileOpener // the engine's own open and close; see Set.Attach
	Zones    Zones              // zonemode=zbd; nil: none
	Group    []*job.Job         // all jobs of the run, for dedupe_global; may be nil
}

// Set is the files of one job, resolved: names, sizes, and the range of each that the job works in. It belongs to the
// worker of the job: no method may be called concurrently with another.
type Set struct {
	Files     []*engines.File
	TotalSize uint64 // what one pass covers (fio's td->o.size after setup); 2^64-1 when fill_device has no size
	IOSize    uint64 // bytes that one pass may issue: io_size where given, else TotalSize
	FillSize  uint64 // fill_device: free bytes of the targets, for the estimate of progress; 0 when unknown

	job    *job.Job
	traits job.Traits
	env    Env
	files  []file
	min    uint64 // least block size over all directions (fio's td_min_bs)
	nOpen  int
	filler *workload.Filler
}

// file is one file while its numbers are still fio's unsigned ones.
type file struct {
	*engines.File
	real    uint64 // fio's real_file_size
	offset  uint64 // fio's file_offset
	length  uint64 // fio's io_size
	existed bool   // it was there before Prepare
	extend  bool   // it must grow before the job starts
	open    bool
}

// Prepare names, sizes and lays out the files of j for the engine d: everything fio's setup_files does. It returns a
// *FileError for what kept a file from being usable and ErrStopped (wrapped) when env.Stop ended a fill.
func Prepare(j *job.Job, d *engines.Driver, env Env) (*Set, error) {
	s := &Set{job: j, traits: d.Traits, env: env, filler: env.Filler, min: minBS(j)}
	if s.env.Print == nil {
		s.env.Print = func(string) {}
	}
	if s.env.Stop == nil {
		s.env.Stop = func() bool { return false }
	}
	if err := s.name(); err != nil {
		return nil, err
	}
	defer env.Shared.lock(s.paths())()
	for _, step := range []func() error{s.makeDirs, s.checkMounts, s.realSizes, s.openZones, s.ranges, s.extendAll, s.fitZones} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	s.publish()
	return s, nil
}

// publish stores the final numbers where the engine and the generator read them.
func (s *Set) publish() {
	for i := range s.files {
		f := &s.files[i]
		f.Size, f.Offset, f.Length = bounded(f.real), bounded(f.offset), bounded(f.length)
	}
	s.IOSize = s.TotalSize
	if n := s.bytes(s.job.IOSize); n != 0 {
		s.IOSize = n
	}
}

// bounded turns fio's unsigned number into an int64 in 0 to Unbounded.
func bounded(n uint64) int64 { return int64(min(n, uint64(Unbounded))) }

// paths lists the regular files, which other jobs may lay out too.
func (s *Set) paths() []string {
	var paths []string
	for _, f := range s.files {
		if f.Kind == engines.Regular && !s.traits.Diskless {
			paths = append(paths, f.Name)
		}
	}
	return paths
}

// writes and reads tell whether the job has the direction, as fio's td_write and td_read.
func (s *Set) writes() bool { return s.job.RW.Write }
func (s *Set) reads() bool  { return s.job.RW.Read }

// destroys reports whether the job changes what a device holds; a trim does as surely as a write.
func (s *Set) destroys() bool { return s.job.RW.Write || s.job.RW.Trim }
