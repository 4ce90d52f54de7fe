package layout

import (
	"errors"
	"syscall"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
)

// PreRead reads the job's range of every file into the page cache. It returns ErrStopped (wrapped) when Env.Stop ended
// it.
func (s *Set) PreRead() error {
	if s.traits.Pipe || s.traits.NoIO || s.traits.Diskless {
		return nil
	}
	for i := range s.files {
		if err := s.preRead(&s.files[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) preRead(f *file) (err error) {
	if f.Kind == engines.Char || f.Kind == engines.PipeFile || f.length == 0 {
		return nil
	}
	if f.Fd < 0 {
		if err := s.openFd(f); err != nil {
			return err
		}
		defer func() {
			if cerr := s.closeFd(f); err == nil {
				err = cerr
			}
		}()
	}
	bs := min(maxBS(s.job, job.Read), f.length)
	mem, err := buffer(bs)
	if err != nil {
		return &FileError{Op: "pre_read", Path: f.Name, Err: err}
	}
	defer func() { _ = mem.Close() }()
	buf := mem.Mem
	for done := uint64(0); done < f.length; {
		if s.env.Stop() {
			return &FileError{Op: "pre_read", Path: f.Name, Err: ErrStopped}
		}
		want := min(bs, f.length-done)
		n, err := sys.ReadAt(f.Fd, buf[:want], bounded(f.offset+done))
		if err == nil && uint64(n) < want {
			err = syscall.EIO
		}
		if err != nil {
			return &FileError{Op: "pre_read", Path: f.Name, Err: err}
		}
		done += want
	}
	return nil
}

// buffer makes a buffer of n bytes that direct I/O takes. It is not on the Go heap, where too large a one ends the process.
func buffer(n uint64) (*sys.Arena, error) { return sys.NewArena("malloc", int(n), 0, 0, "") }

// UnlinkEachLoop removes the job's regular files between two passes, as unlink_each_loop asks. The files must be closed.
func (s *Set) UnlinkEachLoop() error {
	if !s.job.UnlinkEachLoop {
		return nil
	}
	return s.unlinkAll("unlink_all_files", false)
}

// Finish closes what is open and removes the job's regular files when unlink asks for it. It returns the first error.
func (s *Set) Finish() error {
	err := s.CloseAll()
	if s.job.Unlink {
		if uerr := s.unlinkAll("unlink", true); err == nil {
			err = uerr
		}
	}
	return err
}

// unlinkAll removes the regular files. Another job may have removed a shared file first: that is fine at the end, and
// an error between loops, as in fio.
func (s *Set) unlinkAll(op string, missingOK bool) error {
	if s.traits.Diskless || s.env.ReadOnly {
		return nil
	}
	var first error
	for _, f := range s.files {
		if f.Kind != engines.Regular {
			continue
		}
		err := syscall.Unlink(f.Name)
		if err == nil || missingOK && errors.Is(err, syscall.ENOENT) {
			continue
		}
		if first == nil {
			first = &FileError{Op: op, Path: f.Name, Err: cause(err)}
		}
	}
	return first
}
