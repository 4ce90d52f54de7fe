package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
)

// name fills s.files with the job's files, in fio's order, and finds out what each is.
func (s *Set) name() error {
	names, err := Names(s.job)
	if err != nil {
		return err
	}
	s.files = make([]file, len(names))
	s.Files = make([]*engines.File, len(names))
	for i, n := range names {
		f := &engines.File{Name: n, Fd: -1, Index: i, Kind: kindOf(s.job, n)}
		s.Files[i] = f
		s.files[i] = file{File: f}
	}
	return nil
}

// Names lists the paths that a job works on, in order: those under opendir, those of filename, or else the generated
// ones. It reads directories for opendir and asks the system for nothing else but whether a path exists.
//
// A clone whose generated names are those of the first job gets no files and so does nothing (fio's add_file): only a
// device or a directory may be shared that way.
func Names(j *job.Job) ([]string, error) {
	var names []string
	if have, err := sys.PhysicalMemory(); err == nil && uint64(max(j.NrFiles, 0)) > have/fileBytes {
		return nil, &FileError{Op: "nrfiles", Err: &optionError{errno: syscall.ENOMEM,
			text: fmt.Sprintf("nrfiles=%d: more than the memory of this machine can hold", j.NrFiles)}}
	}
	if j.OpenDir != "" {
		var err error
		if names, err = filesBelow(j.OpenDir); err != nil {
			return nil, err
		}
	}
	for _, n := range j.Filenames {
		names = append(names, inDirectory(j, n, 0))
	}
	if len(j.Filenames) > 0 || j.OpenDir != "" || j.ReadIolog != "" {
		return names, nil
	}
	first := generatedNames(j, 0)
	if j.SubJob == 0 {
		return first, nil
	}
	names = generatedNames(j, j.SubJob)
	return slices.DeleteFunc(names, func(n string) bool {
		return slices.Contains(first, n) && !existsNotRegular(n)
	}), nil
}

// fileBytes is about what each file takes of memory, in bytes.
const fileBytes = 512

// generatedNames are the names that filename_format gives the files of clone number sub.
func generatedNames(j *job.Job, sub int) []string {
	base := j.Section
	if base == "" {
		base = j.Name
	}
	if j.NrFiles == 1 && existsNotRegular(base) {
		return []string{inDirectory(j, base, sub)}
	}
	names := make([]string, max(j.NrFiles, 0))
	for i := range names {
		names[i] = inDirectory(j, formatName(j.FilenameFormat, base, sub, i), sub)
	}
	return names
}

// formatName expands $jobname, $jobnum, $filenum and $clientuid, in any case. There is no network client here, so
// $clientuid is empty, and unique_filename, which would prefix its address, changes nothing.
func formatName(format, base string, sub, filenum int) string {
	if format == "" {
		format = "$jobname.$jobnum.$filenum"
	}
	var b strings.Builder
	for format != "" {
		at := strings.IndexByte(format, '$')
		if at < 0 {
			break
		}
		b.WriteString(format[:at])
		format = format[at:]
		word, text := "$", "$"
		for _, k := range [...]struct{ word, text string }{
			{"$jobname", base}, {"$jobnum", strconv.Itoa(sub)}, {"$filenum", strconv.Itoa(filenum)}, {"$clientuid", ""},
		} {
			if len(format) >= len(k.word) && strings.EqualFold(format[:len(k.word)], k.word) {
				word, text = k.word, k.text
				break
			}
		}
		b.WriteString(text)
		format = format[len(word):]
	}
	b.WriteString(format)
	return b.String()
}

// inDirectory puts name under the directory option: the entry of its list that falls to clone number sub.
func inDirectory(j *job.Job, name string, sub int) string {
	dirs := job.SplitNames(j.Directory)
	if len(dirs) == 0 {
		return name
	}
	return dirs[sub%len(dirs)] + string(filepath.Separator) + name
}

// filesBelow lists the regular files of a directory tree in the order in which the directories hold them.
// fio differs: the directory option is not put before these paths, which would name files that do not exist.
func filesBelow(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, &FileError{Op: "opendir", Path: dir, Err: cause(err)}
	}
	entries, err := d.ReadDir(-1) // unsorted, as readdir hands them out
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, &FileError{Op: "opendir", Path: dir, Err: cause(err)}
	}
	var names []string
	for _, e := range entries {
		path := dir + string(filepath.Separator) + e.Name()
		switch {
		case e.Type().IsRegular():
			names = append(names, path)
		case e.IsDir():
			below, err := filesBelow(path)
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
		}
	}
	return names, nil
}

// existsNotRegular reports whether path is there and is something else than a regular file, symbolic links not followed.
func existsNotRegular(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && !st.Mode().IsRegular()
}

// kindOf is what filetype says, else what the file is; a missing file will be a regular one.
func kindOf(j *job.Job, path string) engines.FileKind {
	switch j.FileType {
	case "file":
		return engines.Regular
	case "block":
		return engines.Block
	case "char":
		return engines.Char
	}
	if st, err := os.Stat(path); err == nil {
		switch mode := st.Mode(); {
		case mode&fs.ModeCharDevice != 0:
			return engines.Char
		case mode&fs.ModeDevice != 0:
			return engines.Block
		case mode&fs.ModeNamedPipe != 0:
			return engines.PipeFile
		default:
			return engines.Regular
		}
	}
	if path == stdStream {
		return engines.PipeFile
	}
	return engines.Regular
}

// stdStream is the file name that means standard input or output.
const stdStream = "-"

// makeDirs creates the missing directories above the job's files, for their owner alone, as fio does.
func (s *Set) makeDirs() error {
	if s.traits.Diskless || s.env.ReadOnly {
		return nil
	}
	for _, f := range s.files {
		dir := filepath.Dir(f.Name)
		if dir == "." || dir == "/" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return &FileError{Op: "mkdir", Path: dir, Err: cause(err)}
		}
	}
	return nil
}

// checkMounts refuses to write to a mounted device.
func (s *Set) checkMounts() error {
	if !s.destroys() || s.job.AllowMountedWrite {
		return nil
	}
	for _, f := range s.files {
		if f.Kind != engines.Block {
			continue
		}
		mounted, err := sys.Mounted(f.Name)
		if err != nil {
			return &FileError{Op: "allow_mounted_write", Path: f.Name, Err: err}
		}
		if mounted {
			return &FileError{Op: "write", Path: f.Name, Err: ErrMounted}
		}
	}
	return nil
}

// CheckMounts refuses a job that would write to a mounted device, before any job has started: fio then runs none. The
// error wraps ErrMounted.
func CheckMounts(j *job.Job) error {
	s := &Set{job: j}
	if !s.destroys() || j.AllowMountedWrite {
		return nil
	}
	if err := s.name(); err != nil {
		return err
	}
	return s.checkMounts()
}

// cause strips the path and operation that package os puts around an errno; FileError names both itself.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
