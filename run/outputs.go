package run

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"fiord/iolog"
	"fiord/job"
	"fiord/run/layout"
	"fiord/verify"
)

// Place is a file that a run reads or writes beside the data of its jobs.
type Place struct {
	What string      // the option that names it, for messages
	Path string      // empty where Info is all that is known
	Info fs.FileInfo // of a file that is open already; nil: Path says which
}

// name is how messages call the file.
func (p Place) name() string {
	if p.Path == "" {
		return "it"
	}
	return fmt.Sprintf("%q", p.Path)
}

// CheckOutputs refuses a run that would write a report, a log or a state over a file that one of its jobs works on, over
// the trace that a job replays, or over one of inputs, and a report that goes where a log goes. Links are followed. It
// touches nothing, and must come before anything is opened for writing. Report is where the report goes.
//
// fio differs: it writes both.
func CheckOutputs(cfg *Config, report Place, inputs []Place) error {
	c := outputCheck{inodes: map[inode]Place{}, names: map[string]Place{}, dirs: map[string]string{}}
	reported := c.add(report)
	for _, out := range outputs(cfg) {
		if other := c.find(out.Path); reported && other != nil && other.What == report.What {
			return fmt.Errorf("%s: %s is also the file of %s", report.What, report.name(), out.What)
		}
		c.add(out)
	}
	if len(c.inodes)+len(c.names) == 0 {
		return nil
	}
	for _, in := range inputs {
		if out := c.find(in.Path); out != nil {
			return fmt.Errorf("%s: %s is the %s %q, which would be lost", out.What, out.name(), in.What, in.Path)
		}
	}
	for _, j := range cfg.Jobs {
		if err := c.job(cfg, j); err != nil {
			return err
		}
	}
	return nil
}

// outputs lists what the run writes for its options, the report left out.
func outputs(cfg *Config) []Place {
	var out []Place
	if cfg.Trigger.File != "" {
		out = append(out, Place{What: "--trigger-file", Path: cfg.Trigger.File})
	}
	if cfg.BandwidthLog != "" {
		for _, path := range iolog.AggPaths(cfg.BandwidthLog) {
			out = append(out, Place{What: "--bandwidth-log", Path: path})
		}
	}
	for _, j := range cfg.Jobs {
		for _, l := range iolog.LogPaths(j) {
			out = append(out, Place{What: l.Option, Path: l.Path})
		}
		for _, o := range []struct {
			on         bool
			what, path string
		}{
			{j.WriteIolog != "", "write_iolog", j.WriteIolog},
			{j.MergeBlktraceFile != "", "merge_blktrace_file", j.MergeBlktraceFile},
			{j.MemFile != "", "mem", j.MemFile},
			{j.ExecPrerun != "", "exec_prerun", j.Name + ".prerun.txt"},
			{j.ExecPostrun != "", "exec_postrun", j.Name + ".postrun.txt"},
			{verifies(j) && j.VerifyStateSave && j.RW.Write && !j.VerifyOnly, "verify_state_save", statePath(cfg, j)},
		} {
			if o.on {
				out = append(out, Place{What: o.what, Path: o.path})
			}
		}
	}
	return out
}

// statePath is where the state of a job is saved to and loaded from.
func statePath(cfg *Config, j *job.Job) string {
	return filepath.Join(cfg.AuxPath, verify.StateName(j.Name, j.Number-1))
}

// inode tells one file from another; of block devices, which may have several nodes, dev is the device and ino 0.
type inode struct{ dev, ino uint64 }

// outputCheck finds files among the outputs, whatever their names.
type outputCheck struct {
	inodes map[inode]Place
	names  map[string]Place  // of files that are not there yet, by their full names
	dirs   map[string]string // full names of folders
}

// add keeps an output and reports whether it can hold data at all: a terminal or a pipe cannot.
func (c *outputCheck) add(p Place) bool {
	st := p.Info
	if st == nil && p.Path == "" {
		return false
	}
	if st == nil {
		var err error
		if st, err = os.Stat(p.Path); err != nil {
			c.names[c.full(p.Path, 0)] = p
			return true
		}
	}
	id, ok := inodeOf(st)
	if ok {
		c.inodes[id] = p
	}
	return ok
}

// find returns the output that path leads to, nil if there is none.
func (c *outputCheck) find(path string) *Place {
	if st, err := os.Stat(path); err == nil {
		id, ok := inodeOf(st)
		if p, known := c.inodes[id]; ok && known {
			return &p
		}
		return nil
	}
	if p, known := c.names[c.full(path, 0)]; known {
		return &p
	}
	return nil
}

func inodeOf(st fs.FileInfo) (inode, bool) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return inode{}, false
	case st.Mode().IsRegular():
		return inode{uint64(sys.Dev), sys.Ino}, true
	case st.Mode()&fs.ModeDevice != 0 && st.Mode()&fs.ModeCharDevice == 0:
		return inode{uint64(sys.Rdev), 0}, true
	}
	return inode{}, false
}

// maxLinks is how many symbolic links in a row the kernel follows.
const maxLinks = 40

// full is the name, free of links, of a file that is not there, but may be what a symbolic link points to.
func (c *outputCheck) full(path string, links int) string {
	dir, base := filepath.Split(path)
	dir = c.folder(filepath.Clean(dir))
	path = filepath.Join(dir, base)
	to, err := os.Readlink(path)
	if err != nil || links == maxLinks {
		return path
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return c.full(to, links+1)
}

// folder is the full name of a folder, which may be missing in part, too.
func (c *outputCheck) folder(dir string) string {
	if known, ok := c.dirs[dir]; ok {
		return known
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		full = dir
	}
	missing := ""
	for at := full; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			full = filepath.Join(real, missing)
			break
		}
		if at == filepath.Dir(at) {
			break
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
	c.dirs[dir] = full
	return full
}

// job looks at the files of one job.
func (c *outputCheck) job(cfg *Config, j *job.Job) error {
	if j.ReadIolog != "" {
		out := c.find(j.ReadIolog)
		recorded := out != nil && out.What == "write_iolog" // by a job before it: read_iolog overrides this job's own
		if out != nil && out.What != "merge_blktrace_file" && !recorded {
			return fmt.Errorf("job %q: %s: %s is the trace that the job replays", j.Name, out.What, out.name())
		}
	}
	if d := driverOf(cfg.Drivers, j.IOEngine); d == nil || d.Traits.Diskless {
		return nil
	}
	files, err := layout.Names(j)
	if err != nil {
		return nil // the job will say so
	}
	for _, f := range files {
		if f == "-" {
			continue
		}
		if out := c.find(f); out != nil {
			return fmt.Errorf("job %q: %s: %s is the job's own file %q, which would be lost", j.Name, out.What, out.name(), f)
		}
	}
	return nil
}
