package cli

import (
	"slices"
	"strings"

	"fiord/job"
)

// loaded is what the arguments and job files came to.
type loaded struct {
	jobs    []*job.Job
	global  []job.Setting
	notes   []string
	showCmd string // each job file as a command line
}

// source collects what the command line says of jobs. They are loaded once all flags are known, for some of them
// (--section, --readonly) matter to jobs that stand before them.
type source struct {
	given   []given
	current string // ioengine of the section being filled
	global  string // ioengine of the options before the first --name
	inJob   bool   // current belongs to a section with a name
}

// given is one job option of the command line.
type given struct {
	name, value string
	bare        bool
}

// defaultEngine is the ioengine of a job that names none.
const defaultEngine = "psync"

func newSource() *source { return &source{current: defaultEngine, global: defaultEngine} }

// option takes one job or engine option. It follows which ioengine is current, which decides which flags exist.
func (s *source) option(name, value string, bare bool) {
	switch name {
	case "name":
		s.inJob = !strings.HasPrefix(value, "global")
		s.current = s.global
	case "ioengine":
		s.current = value
		if !s.inJob {
			s.global = value
		}
	}
	s.given = append(s.given, given{name, value, bare})
}

// load decodes and checks all jobs: those of the command line first, then the files in order.
func (c *command) load(files []string) (*loaded, error) {
	l := &job.Loader{
		Sections: c.set.sections, Env: c.env.LookupEnv, Open: c.env.Open, Stdin: c.env.Stdin,
		ParseOnly: c.set.dryRun(), ReadOnly: c.set.readOnly, WarningsFatal: c.set.warningsFatal, MaxJobs: c.set.maxJobs,
	}
	for _, d := range c.drivers {
		l.Engines = append(l.Engines, d.Decl())
	}
	for _, g := range c.jobs.given {
		if err := l.SetOption(g.name, g.value, !g.bare); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		l.AddFile(f)
	}
	jobs, global, warnings, err := l.Load()
	if err != nil {
		return nil, err
	}
	return &loaded{jobs: jobs, global: global, notes: slices.Concat(c.set.notes, warnings), showCmd: l.ShowCmd()}, nil
}
