package layout

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/workload"
)

// realSizes finds the size of every file and device that is there (fio's get_file_sizes). A missing regular file has
// size 0; one without a known size gets its share of the size option.
func (s *Set) realSizes() error {
	size := s.wantedSize()
	for i := range s.files {
		f := &s.files[i]
		if err := s.realSize(f); err != nil {
			return err
		}
		if f.real == unknown && size != 0 {
			f.real = size / uint64(len(s.files))
		}
	}
	return nil
}

func (s *Set) realSize(f *file) error {
	switch {
	case s.env.Sizer != nil:
		n, err := s.env.Sizer.FileSize(f.File)
		if err != nil {
			return &FileError{Op: "get_file_size", Path: f.Name, Err: err}
		}
		f.real, f.existed = uint64(n), true
		if n < 0 {
			f.real = unknown
		}
		return nil
	case s.traits.Diskless, f.Kind == engines.Char:
		f.real = unknown
		return nil
	case f.Kind == engines.Block:
		return s.deviceSize(f)
	case f.Kind == engines.PipeFile:
		if !s.traits.Pipe {
			return &FileError{Op: "get_file_size", Path: f.Name, Err: errors.New("it has no size"),
				Hint: "a pipe needs an engine that does not seek"}
		}
		f.real = unknown
		return nil
	}
	st, err := os.Stat(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &FileError{Op: "fstat", Path: f.Name, Err: cause(err)}
	}
	f.real, f.existed = uint64(st.Size()), true
	return nil
}

// deviceSize asks a block device, opened with the flags of the job so that what would fail later fails here.
func (s *Set) deviceSize(f *file) error {
	if err := s.openFd(f); err != nil {
		return err
	}
	defer s.closeFd(f)
	n, err := sys.BlockSize(f.Fd)
	if err != nil {
		return &FileError{Op: "blockdev_size", Path: f.Name, Err: err}
	}
	if n == 0 {
		return &FileError{Op: "blockdev_size", Path: f.Name, Err: errors.New("the device is empty")}
	}
	f.real, f.existed = n, true
	return nil
}

// wantedSize is the size option in bytes; fill_device without one wants everything.
func (s *Set) wantedSize() uint64 {
	size := s.bytes(s.job.Size)
	if size == 0 && s.job.FillDevice {
		return math.MaxUint64
	}
	return size
}

// startOffset is where the job's range of f begins: offset, with offset_increment for each clone, aligned when either is
// a percentage; the end of the file for file_append (fio's get_start_offset).
func (s *Set) startOffset(f *file) uint64 {
	j := s.job
	if j.FileAppend && f.Kind == engines.Regular {
		return f.real
	}
	sub := uint64(j.SubJob)
	inc := s.bytes(j.OffsetIncrement)
	align := false
	if p := percent(j.OffsetIncrement); p != 0 {
		inc, align = p*f.real/100, true
	}
	off := s.bytes(j.Offset) + sub*inc
	if p := percent(j.Offset); p != 0 {
		off, align = f.real*p/100+sub*inc, true
	}
	if !align {
		return off
	}
	unit := s.min
	if j.OffsetAlign > 0 {
		unit = uint64(j.OffsetAlign)
	}
	return (off + unit - 1) / unit * unit
}

// ranges decides which part of each file the job works in, how large each must be, and the total (the middle of fio's
// setup_files).
func (s *Set) ranges() error {
	j := s.job
	size := s.wantedSize()
	if err := s.haveSizes(size); err != nil {
		return err
	}
	if j.FillDevice {
		s.FillSize = s.freeBytes()
	}
	low, high := j.FileSize.Low, max(j.FileSize.High, j.FileSize.Low)
	share, extra := s.shares(size, low)
	var draw *workload.Rand
	total := uint64(0)
	for i := range s.files {
		f := &s.files[i]
		f.offset = s.startOffset(f)
		switch {
		case low == 0:
			f.length = share
			if extra > 0 {
				extra--
				f.length += s.min
			}
			if f.length != 0 {
				break
			}
			if f.offset > f.real {
				return s.badOffset()
			}
			f.length = f.real - f.offset
			if f.length == 0 {
				s.env.Print("fiord: file " + f.Name + " may be ignored")
			}
		case f.real >= low && f.real <= high:
			f.length = f.real - f.offset
		case f.offset > low:
			return s.badOffset()
		case low == high:
			f.length = low - f.offset
		default:
			if draw == nil {
				draw = workload.StreamRand(j, workload.FileSizeStream)
			}
			n := low + draw.Below(high-low)
			f.length = n - n%s.min - f.offset
		}
		total = s.addRange(f, total)
		s.wantExtend(f)
	}
	return s.total(size, total)
}

func (s *Set) badOffset() error {
	return &FileError{Op: opOffset, Err: errors.New("offset: it lies behind the end of the file")}
}

// haveSizes refuses a job whose files have no size while no option gives one.
func (s *Set) haveSizes(size uint64) error {
	total := uint64(0)
	for _, f := range s.files {
		if f.real == unknown {
			total = unknown
		} else {
			total += f.real
		}
	}
	if total != 0 && total != unknown || size != 0 || s.traits.NoIO ||
		len(s.files) > 0 && (s.job.FileSize.Low != 0 || s.job.FileSize.High != 0) {
		return nil
	}
	return jobError(opSizes, "size: want one, as no file has a size yet")
}

// shares divides size by the number of files; what is left over makes the first extra files one block larger.
func (s *Set) shares(size, filesize uint64) (share, extra uint64) {
	n := uint64(len(s.files))
	if filesize != 0 || n == 0 {
		return 0, 0
	}
	share = size / n
	return share, (size - share*n) / s.min
}

// addRange applies the percentages of size and io_size to the range of f and adds it to total.
func (s *Set) addRange(f *file, total uint64) uint64 {
	if f.length == unknown {
		return unknown
	}
	if p := percent(s.job.Size); p != 0 && p != 100 {
		whole := f.length + f.offset
		f.length = min(whole*p/100, whole-f.offset)
		f.length -= f.length % s.min
	}
	n := f.length
	if p := percent(s.job.IOSize); p != 0 && p != 100 {
		n = n * p / 100
	}
	return total + n
}

// wantExtend notes that f ends before the range does. With create_on_open, or where an engine only pretends to have
// files, it counts as being that long.
func (s *Set) wantExtend(f *file) {
	end := f.length + f.offset
	if f.Kind != engines.Regular || end <= f.real {
		return
	}
	switch {
	case !s.traits.Diskless && !s.job.CreateOnOpen:
		f.extend = true
	case !s.traits.Diskless || s.traits.FakeIO:
		f.real = end
	}
}

// total checks and stores what one pass covers: the size option, unless the files hold less.
func (s *Set) total(size, total uint64) error {
	if size == 0 || total != 0 && size > total {
		size = total
	}
	if size < s.min {
		return &FileError{Op: opSizes, Err: errors.New("size: want at least one block")}
	}
	s.TotalSize = size
	return nil
}

// freeBytes adds up what fill_device can fill: devices by their size, each file system once by its free space.
func (s *Set) freeBytes() (total uint64) {
	seen := map[uint64]bool{}
	for _, f := range s.files {
		switch f.Kind {
		case engines.Block, engines.Char:
			if f.real != unknown {
				total += f.real
			}
		case engines.Regular:
			dir := filepath.Dir(f.Name)
			dev, err := sys.DeviceOf(dir)
			if err != nil || seen[dev] {
				continue
			}
			seen[dev] = true
			if n, err := sys.FreeBytes(dir); err == nil {
				total += n
			}
		}
	}
	return total
}
