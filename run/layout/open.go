package layout

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"fiord/engines"
	"fiord/internal/sys"
)

// Attach lets an engine open and close the files itself: e is an Engine or SyncEngine, whose FileOpener, if it is one, is
// used from now on.
func (s *Set) Attach(e any) {
	if o, ok := e.(engines.FileOpener); ok {
		s.env.Opener = o
	}
}

// NOpen is how many files are open.
func (s *Set) NOpen() int { return s.nOpen }

// IsOpen reports whether file i is open.
func (s *Set) IsOpen(i int) bool { return s.files[i].open }

// Open opens file i with the flags of the job and does what fio does to a file just opened: drops its cached pages,
// gives the kernel the access pattern and the lifetime hint. Opening an open file does nothing.
func (s *Set) Open(i int) error {
	f := &s.files[i]
	if f.open {
		return nil
	}
	if err := s.openFd(f); err != nil {
		return err
	}
	f.open = true
	s.nOpen++
	if err := s.opened(f); err != nil {
		_ = s.Close(i)
		return err
	}
	return nil
}

func (s *Set) opened(f *file) error {
	if f.Kind == engines.PipeFile && s.job.RW.Random {
		return &FileError{Op: opOpen, Path: f.Name, Err: errors.New("a pipe has no random I/O")}
	}
	if s.traits.Diskless || f.Fd < 0 {
		return nil
	}
	if s.job.Invalidate && !s.job.PreRead {
		s.dropCacheOf(f)
	}
	if f.Kind != engines.Regular && f.Kind != engines.Block {
		return nil
	}
	s.advise(f)
	return s.hintWrites(f)
}

// openFd opens f through the engine or the kernel, whatever is set up already.
func (s *Set) openFd(f *file) error {
	if s.env.Opener != nil {
		if err := s.env.Opener.OpenFile(f.File, s.flags(f)); err != nil {
			return s.openError(f, s.flags(f), err)
		}
		return nil
	}
	if s.traits.Diskless {
		return nil
	}
	if f.Name == stdStream {
		return s.openStd(f)
	}
	flags := s.flags(f)
	fd, err := sys.Open(f.Name, flags, 0o600)
	if errors.Is(err, syscall.EPERM) && flags&sys.OpenNoAtime != 0 {
		// Only the owner of a file may ask for that.
		flags &^= sys.OpenNoAtime
		fd, err = sys.Open(f.Name, flags, 0o600)
	}
	if err != nil {
		return s.openError(f, flags, err)
	}
	f.Fd = fd
	return nil
}

// openStd makes "-" standard output for a writer and standard input for a reader.
func (s *Set) openStd(f *file) error {
	std := 0
	switch {
	case s.reads() && s.writes():
		return &FileError{Op: opOpen, Path: f.Name, Err: errors.New("one stream cannot be read and written")}
	case s.writes():
		std = 1
	}
	fd, err := sys.Dup(std)
	if err != nil {
		return &FileError{Op: opOpen, Path: f.Name, Err: err}
	}
	f.Fd = fd
	return nil
}

// flags are fio's: a writer opens for reading and writing, whatever it does.
func (s *Set) flags(f *file) int {
	j := s.job
	flags := os.O_RDONLY
	if j.Direct {
		flags |= sys.OpenDirect
	}
	switch j.Sync {
	case "sync", "1":
		flags |= sys.OpenSync
	case "dsync":
		flags |= sys.OpenDSync
	}
	if f.Kind != engines.Regular {
		flags |= sys.OpenNoAtime
	}
	if s.env.ReadOnly {
		return flags
	}
	if j.CreateOnOpen && j.AllowFileCreate {
		flags |= os.O_CREATE
	}
	if s.writes() {
		if !j.VerifyOnly {
			flags |= os.O_RDWR
		}
		if f.Kind == engines.Regular && j.AllowFileCreate && !j.VerifyOnly {
			flags |= os.O_CREATE
		}
	} else if !s.reads() && j.RW.Trim {
		flags |= os.O_RDWR
	}
	return flags
}

func (s *Set) openError(f *file, flags int, err error) error {
	e := &FileError{Op: opOpen, Path: f.Name, Err: cause(err)}
	switch {
	case errors.Is(err, syscall.EINVAL) && flags&sys.OpenDirect != 0:
		e.Hint = "the file system does not support direct=1"
	case errors.Is(err, syscall.EMFILE):
		e.Hint = fmt.Sprintf("reduce or set openfiles (failed at %d of %d)", s.nOpen, len(s.files))
	}
	return e
}

// Close closes file i, after an fsync when fsync_on_close asks for one. Closing a closed file does nothing.
func (s *Set) Close(i int) error {
	f := &s.files[i]
	if !f.open {
		return nil
	}
	f.open = false
	s.nOpen--
	var synced error
	if s.job.FsyncOnClose && s.writes() && f.Fd >= 0 {
		if err := sys.Fsync(f.Fd); err != nil {
			synced = &FileError{Op: "fsync", Path: f.Name, Err: err}
		}
	}
	if err := s.closeFd(f); err != nil {
		return err
	}
	return synced
}

// CloseAll closes every open file and returns the first error.
func (s *Set) CloseAll() error {
	var first error
	for i := range s.files {
		if err := s.Close(i); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (s *Set) closeFd(f *file) error {
	if s.env.Opener != nil {
		if err := s.env.Opener.CloseFile(f.File); err != nil {
			return &FileError{Op: "close", Path: f.Name, Err: err}
		}
		f.Fd, f.Engine = -1, nil
		return nil
	}
	if f.Fd < 0 {
		return nil
	}
	fd := f.Fd
	f.Fd, f.Engine = -1, nil
	if err := sys.Close(fd); err != nil {
		return &FileError{Op: "close", Path: f.Name, Err: err}
	}
	return nil
}

// Invalidate drops the cached pages of file i, which must be open. A failure is printed, not returned: the job can run
// without.
func (s *Set) Invalidate(i int) {
	if f := &s.files[i]; f.open && f.Fd >= 0 && !s.traits.Diskless {
		s.dropCacheOf(f)
	}
}

func (s *Set) dropCacheOf(f *file) {
	switch f.Kind {
	case engines.Regular:
		if f.length != unknown && f.offset != unknown {
			s.dropCache(f.Fd, f.Name, f.offset, f.length)
		}
	case engines.Block:
		if err := flushBlock(f.Fd); err != nil {
			s.env.Print(fmt.Sprintf("fiord: %s: cached pages were not dropped: %v", f.Name, err))
		}
	}
}

func (s *Set) dropCache(fd int, name string, off, n uint64) {
	if err := sys.Fadvise(fd, bounded(off), bounded(n), sys.AdviseDontNeed); err != nil {
		s.env.Print(fmt.Sprintf("fiord: %s: cached pages were not dropped: %v", name, err))
	}
}

// flushBlock drops the cache of a block device. A multipath device answers EAGAIN while its map changes, which takes
// tens of milliseconds.
func flushBlock(fd int) error {
	for try := 0; ; try++ {
		err := sys.FlushBlock(fd)
		if !errors.Is(err, syscall.EAGAIN) || try == 25 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// advise passes on fadvise_hint.
func (s *Set) advise(f *file) {
	var a sys.Advice
	switch s.job.FadviseHint {
	case "0":
		return
	case "random":
		a = sys.AdviseRandom
	case "sequential":
		a = sys.AdviseSequential
	case "noreuse":
		a = sys.AdviseNoReuse
	default:
		a = sys.AdviseSequential
		if s.job.RW.Random {
			a = sys.AdviseRandom
		}
	}
	if err := sys.Fadvise(f.Fd, bounded(f.offset), bounded(f.length), a); err != nil {
		s.env.Print(fmt.Sprintf("fiord: %s: fadvise_hint was refused: %v", f.Name, err))
	}
}

// writeHints are the kernel's RWH_WRITE_LIFE_ values.
var writeHints = map[string]uint64{"none": 1, "short": 2, "medium": 3, "long": 4, "extreme": 5}

func (s *Set) hintWrites(f *file) error {
	hint, ok := writeHints[s.job.WriteHint]
	if !ok {
		return nil
	}
	if err := sys.SetWriteHint(f.Fd, hint, s.job.Direct); err != nil {
		return &FileError{Op: "fcntl write hint", Path: f.Name, Err: err}
	}
	return nil
}
