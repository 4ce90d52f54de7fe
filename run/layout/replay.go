package layout

import (
	"fiord/engines"
	"fiord/job"
)

// PrepareReplay makes the files of a job that replays an I/O log: those that the log names. As in fio nothing is laid out:
// what is read must be there, and what is written is created when it is opened. j.RW must say what the log does.
func PrepareReplay(j *job.Job, d *engines.Driver, names []string, env Env) (*Set, error) {
	s := &Set{job: j, traits: d.Traits, env: env, filler: env.Filler, min: minBS(j)}
	if s.env.Print == nil {
		s.env.Print = func(string) {}
	}
	if s.env.Stop == nil {
		s.env.Stop = func() bool { return false }
	}
	if err := s.AddReplay(names); err != nil {
		return nil, err
	}
	return s, nil
}

// AddReplay adds files that a log which is read while it is replayed has named meanwhile.
func (s *Set) AddReplay(names []string) error {
	from := len(s.files)
	for i, n := range names {
		f := &engines.File{Name: n, Fd: -1, Index: from + i, Kind: kindOf(s.job, n)}
		s.Files = append(s.Files, f)
		s.files = append(s.files, file{File: f})
	}
	for i := from; i < len(s.files); i++ {
		if err := s.sizeReplayed(&s.files[i]); err != nil {
			return err
		}
	}
	return s.checkMounts()
}

// sizeReplayed finds the size of a file. That of a regular file stays unknown, as in fio: a replay may change it.
func (s *Set) sizeReplayed(f *file) error {
	if f.Kind == engines.Regular && !s.traits.Diskless && s.env.Sizer == nil {
		return nil
	}
	if err := s.realSize(f); err != nil {
		return err
	}
	f.length = f.real
	f.Size, f.Length = bounded(f.real), bounded(f.length)
	return nil
}
