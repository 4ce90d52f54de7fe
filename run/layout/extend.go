package layout

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"fiord/internal/sys"
	"fiord/job"
	"fiord/workload"
)

// extendAll lays out the files that are too small, one after the other.
func (s *Set) extendAll() error {
	if s.checksOnly() {
		return nil
	}
	n, total := 0, uint64(0)
	for _, f := range s.files {
		if f.extend {
			n++
			total += f.length + f.offset
		}
	}
	if n == 0 {
		return nil
	}
	if n == 1 {
		s.env.Print(fmt.Sprintf("%s: Laying out IO file (1 file / %dMiB)", s.job.Name, total>>20))
	} else {
		s.env.Print(fmt.Sprintf("%s: Laying out IO files (%d files / total %dMiB)", s.job.Name, n, total>>20))
	}
	for i := range s.files {
		if f := &s.files[i]; f.extend {
			if err := s.extend(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// checksOnly reports whether the job looks at what an earlier run has written (verify_only), and takes its files for as
// large as they should be. fio differs: it makes a file that is missing or too small, and then finds nothing in it.
func (s *Set) checksOnly() bool {
	if !s.job.VerifyOnly || !s.writes() {
		return false
	}
	for i := range s.files {
		if f := &s.files[i]; f.extend {
			f.extend = false
			f.real = f.length + f.offset
		}
	}
	return true
}

// plan is how one file becomes large enough (the head of fio's extend_file).
type plan struct {
	fill   bool // data is written, not only space reserved
	remove bool // an old file is removed first: a job that only writes starts anew
}

// planFor follows fio but for one thing. fio differs: for a job that reads, fio removes a file that is too small and
// lays it out again; here what the file holds stays, and only what is missing is written behind it. Nor is a file removed
// that allow_file_create=0 would keep from coming back.
func (s *Set) planFor(f *file) plan {
	j := s.job
	if s.reads() {
		return plan{fill: true}
	}
	p := plan{fill: s.writes() && (j.Overwrite && !j.FileAppend || s.traits.NoExtend)}
	p.remove = (p.fill || s.writes() && !j.Overwrite && !j.FileAppend) && j.AllowFileCreate
	return p
}

// extend makes f as large as the job needs it. When that fails or is stopped, a file that was not there before is removed
// and one that was gets its old size back.
func (s *Set) extend(f *file) (err error) {
	old, p := f.real, s.planFor(f)
	f.extend = false
	f.real = f.length + f.offset
	if s.env.ReadOnly {
		s.env.Print("fiord: " + f.Name + ": is too small, and --readonly keeps it so")
		return nil
	}
	created, fd, err := s.create(f, p)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := sys.Close(fd); err == nil && cerr != nil {
			err = &FileError{Op: "close", Path: f.Name, Err: cerr}
		}
		if err != nil && created {
			_ = syscall.Unlink(f.Name) // best effort: the error that counts is the first one
		}
	}()
	if created {
		old = 0
	}
	if err := s.grow(f, fd, old, p); err != nil {
		if !created {
			_ = sys.Truncate(fd, int64(old))
		}
		return err
	}
	if !s.job.FillDevice {
		s.dropCache(fd, f.Name, old, f.real-old)
	}
	return nil
}

// create opens f for its layout and tells whether that made the file.
func (s *Set) create(f *file, p plan) (created bool, fd int, err error) {
	created = !f.existed
	if p.remove {
		if err := syscall.Unlink(f.Name); err != nil && !errors.Is(err, syscall.ENOENT) {
			return false, -1, &FileError{Op: "unlink", Path: f.Name, Err: cause(err)}
		}
		created = true
	}
	flags := os.O_WRONLY
	if s.job.AllowFileCreate {
		flags |= os.O_CREATE
	}
	fd, err = sys.Open(f.Name, flags, 0o644)
	if err == nil {
		return created, fd, nil
	}
	e := &FileError{Op: opCreate, Path: f.Name, Err: err}
	if errors.Is(err, syscall.ENOENT) && !s.job.AllowFileCreate {
		e.Hint, e.Refused = "file creation is disallowed by allow_file_create=0", true
	}
	return false, -1, e
}

// grow reserves space and, where the plan says so, fills f from old up to its new end.
func (s *Set) grow(f *file, fd int, old uint64, p plan) error {
	if err := s.reserve(f, fd, old); err != nil {
		return err
	}
	if !p.fill {
		return nil
	}
	if !s.job.FillDevice {
		// A size beyond the file size limit shows up as the error of a write, which says more.
		if err := sys.Truncate(fd, int64(f.real)); err != nil && !errors.Is(err, syscall.EFBIG) {
			return &FileError{Op: "ftruncate", Path: f.Name, Err: err}
		}
	}
	end, err := s.fill(f, fd, old)
	if err != nil {
		return err
	}
	if s.job.CreateFsync {
		if err := sys.Fsync(fd); err != nil {
			return &FileError{Op: "fsync", Path: f.Name, Err: err}
		}
	}
	if s.job.FillDevice && !s.writes() {
		f.real = end
		f.length = min(f.length, f.real)
	}
	return nil
}

// reserve does what fallocate says. Only native may fail quietly: it is the default, and many file systems lack it. Where
// space ran out it gives back what it got, which would leave none for anyone else.
func (s *Set) reserve(f *file, fd int, old uint64) error {
	if s.job.FillDevice || f.real == 0 {
		return nil
	}
	size := bounded(f.real)
	switch s.job.Fallocate {
	case "native":
		err := sys.Fallocate(fd, false, 0, size)
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			_ = sys.Truncate(fd, int64(old))
		}
	case "posix":
		if err := sys.PosixFallocate(fd, 0, size); err != nil {
			s.env.Print(fmt.Sprintf("fiord: posix_fallocate of %s fails: %v", f.Name, err))
		}
	case "keep":
		if err := sys.Fallocate(fd, true, 0, size); err != nil {
			return &FileError{Op: "fallocate", Path: f.Name, Err: err}
		}
	case "truncate":
		if err := sys.Truncate(fd, size); err != nil {
			return &FileError{Op: "ftruncate", Path: f.Name, Err: err}
		}
	}
	return nil
}

// layoutChunk bounds the bytes of one write; several blocks of a small block size share one.
const layoutChunk = 1 << 20

// fill writes f from position at to its end with what the job's buffers would hold, and returns where it stopped: the
// end, or, with fill_device, where space ran out.
func (s *Set) fill(f *file, fd int, at uint64) (uint64, error) {
	if at >= f.real {
		return f.real, nil
	}
	fill, err := s.contents()
	if err != nil {
		return at, err
	}
	block := min(maxBS(s.job, job.Write), f.real-at)
	mem, err := buffer(max(layoutChunk/block, 1) * block)
	if err != nil {
		return at, &FileError{Op: "write", Path: f.Name, Err: err}
	}
	defer func() { _ = mem.Close() }()
	buf := mem.Mem
	for at < f.real {
		if s.env.Stop() {
			return at, &FileError{Op: "write", Path: f.Name, Err: ErrStopped}
		}
		n := min(uint64(len(buf)), f.real-at)
		for b := uint64(0); b < n; b += block {
			fill.Block(buf[b:min(b+block, n)], int64(at+b))
		}
		done, err := writeAll(fd, buf[:n], int64(at))
		at += uint64(done)
		if err == nil {
			continue
		}
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			if s.job.FillDevice {
				return at, nil
			}
			s.env.Print("fiord: " + f.Name + ": " + errnoName(err) + " while it was laid out")
		}
		return at, &FileError{Op: "write", Path: f.Name, Err: err}
	}
	return at, nil
}

func errnoName(err error) string {
	if errors.Is(err, syscall.ENOSPC) {
		return "ENOSPC"
	}
	return "EDQUOT"
}

// writeAll writes p at off however many calls that takes, and tells how much of it was written.
func writeAll(fd int, p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := sys.WriteAt(fd, p[done:], off+int64(done))
		done += n
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, syscall.EIO
		}
	}
	return done, nil
}

// contents is the filler shared with the run, or one of the layout's own.
func (s *Set) contents() (*workload.Filler, error) {
	if s.filler == nil {
		var err error
		if s.filler, err = workload.NewFiller(s.job, s.env.Group...); err != nil {
			return nil, err
		}
	}
	return s.filler, nil
}
