package job

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
)

// MaxJobs is fio's limit of jobs in one run, clones counted.
const MaxJobs = 4096

// Loader turns a command line and job files into jobs. Command line options go in first, in order, through SetOption;
// then files through AddFile and AddText; then Load. The zero Loader with Engines set is ready to use.
//
// As in fio, options before the first name on the command line are defaults of all jobs there and in the first file;
// each further file starts from fio's defaults again, with a stonewall before its first job.
type Loader struct {
	Engines  []EngineDecl
	Sections []string // names of the sections to load; empty: all. [global] always counts
	Env      func(string) (string, bool)
	Open     func(path string) (io.ReadCloser, error) // nil: os.Open
	Stdin    io.Reader                                // read for the file "-"; nil: os.Stdin
	// ParseOnly loads without the checks between options, as fio --parse-only does: what these find, and options
	// that are not implemented, become warnings.
	ParseOnly     bool
	ReadOnly      bool // jobs that write or trim are errors
	WarningsFatal bool // warnings of the checks are errors
	MaxJobs       int  // 0: MaxJobs

	table   *Table
	tables  map[string]*Table // of engine options, by engine name
	expand  *expander
	inputs  []input
	started bool

	def  *Job // defaults and [global] options
	cur  *Job // job being built on the command line; nil: options go to def
	skip bool // options of a command line job that --section leaves out

	jobs     []*Job
	warnings []string
	commands []string // one --showcmd line a file
	groups   grouping
	names    map[string]int // how many jobs, clones apart, have a name
}

// input is one job file, or text in place of one.
type input struct {
	name string
	text []byte
	file bool
}

// AddFile queues a job file; "-" is standard input.
func (l *Loader) AddFile(path string) { l.inputs = append(l.inputs, input{name: path, file: true}) }

// AddText queues the text of a job file; name stands for its path in messages and for relative includes.
func (l *Loader) AddText(name, text string) {
	l.inputs = append(l.inputs, input{name: name, text: []byte(text)})
}

// start sets up tables and defaults at first use.
func (l *Loader) start() error {
	if l.started {
		return nil
	}
	l.started = true
	if l.Env == nil {
		l.Env = os.LookupEnv
	}
	if l.Open == nil {
		l.Open = openFile
	}
	if l.Stdin == nil {
		l.Stdin = os.Stdin
	}
	if l.MaxJobs == 0 {
		l.MaxJobs = MaxJobs
	}
	l.tables = make(map[string]*Table)
	l.names = make(map[string]int)
	l.expand = newExpander(l.Env)
	var err error
	if l.table, err = OptionTable(); err != nil {
		return err
	}
	l.def, err = l.newDefaults()
	return err
}

// OptionTable is the table of fio's job options.
func OptionTable() (*Table, error) { return Declare(&Options{}) }

func (l *Loader) newDefaults() (*Job, error) {
	j := &Job{set: make(map[string]bool)}
	if err := l.table.Defaults(&j.Options); err != nil {
		return nil, err
	}
	j.UID, j.GID = -1, -1 // as themselves
	return j, nil
}

// newJob copies the defaults for a job of the given name.
func (l *Loader) newJob(name string) *Job {
	j := *l.def
	j.Name, j.Section = name, name
	j.Options.Name = name
	j.set = maps.Clone(l.def.set)
	j.Given = nil
	j.Global = l.def.Given
	j.Filenames = append([]string(nil), l.def.Filenames...)
	return &j
}

// LookupOption finds the option that a command line flag means now: a job option, or one of the current job's engine.
// It is nil when there is none.
func (l *Loader) LookupOption(name string) *Decl {
	if l.start() != nil {
		return nil
	}
	if d := l.table.Lookup(name); d != nil {
		return d
	}
	if t := l.currentEngineTable(); t != nil {
		return t.Lookup(name)
	}
	return nil
}

func (l *Loader) target() *Job {
	if l.cur != nil {
		return l.cur
	}
	return l.def
}

func (l *Loader) currentEngineTable() *Table {
	j := l.target()
	if j.EngineDoc == nil {
		return nil
	}
	t, err := l.engineTable(j.EngineDoc)
	if err != nil {
		return nil
	}
	return t
}

// NewCommandLineJob ends the job before it and begins one: --name. A name that starts with "global" goes back to the
// defaults.
func (l *Loader) NewCommandLineJob(name string) error {
	if err := l.start(); err != nil {
		return err
	}
	if err := l.endCommandLineJob(); err != nil {
		return err
	}
	global := strings.HasPrefix(name, globalPrefix)
	l.skip = len(l.Sections) > 0 && !global && !contains(l.Sections, name)
	if l.skip || global {
		return nil
	}
	if name == "" {
		return &ParseError{Option: "name", Err: badValue(name, "a value")}
	}
	l.cur = l.newJob(name)
	if err := l.loadEngine(l.cur); err != nil {
		return &ParseError{Section: name, Option: "ioengine", Err: err}
	}
	l.cur.record(l.table.Lookup("name"), name, true)
	return nil
}

// SetOption takes one option of the command line; given is false when it has no value. The option "name" begins a job.
func (l *Loader) SetOption(name, value string, given bool) error {
	if err := l.start(); err != nil {
		return err
	}
	d := l.LookupOption(name)
	if d != nil && d.Name == "name" {
		return l.NewCommandLineJob(value)
	}
	if l.skip {
		return nil
	}
	j := l.target()
	fail := func(err error) error {
		if err == nil {
			return nil
		}
		return &ParseError{Section: j.Section, Option: name, Err: err}
	}
	if d == nil {
		return fail(l.unknownOption(name, j))
	}
	if l.table.Lookup(name) != d {
		return fail(l.setEngineOption(j, d, value, given))
	}
	if err := l.setOption(j, d, value, given); err != nil {
		return fail(err)
	}
	if d.Name == "ioengine" {
		return fail(l.loadEngine(j))
	}
	return nil
}

func (l *Loader) endCommandLineJob() error {
	j := l.cur
	l.cur = nil
	if j == nil {
		return nil
	}
	j.Section = j.Options.Name
	return l.addJob(j)
}

// Load finishes the command line, reads the files in order and returns the jobs ready to run, the [global] settings of
// the last file (or the command line), and what is worth telling the user.
func (l *Loader) Load() (jobs []*Job, global []Setting, warnings []string, err error) {
	if err := l.start(); err != nil {
		return nil, nil, nil, err
	}
	if err := l.endCommandLineJob(); err != nil {
		return nil, nil, l.warnings, err
	}
	for i, in := range l.inputs {
		if i > 0 {
			if l.def, err = l.newDefaults(); err != nil {
				return nil, nil, l.warnings, err
			}
		}
		if err := l.loadInput(in, i > 0); err != nil {
			return nil, nil, l.warnings, err
		}
	}
	return l.jobs, l.def.Given, l.warnings, l.missingSection()
}

// missingSection is the error of a section that was asked for and is in none of the files, while others are.
func (l *Loader) missingSection() error {
	for _, name := range l.Sections {
		if len(l.jobs) > 0 && !slices.ContainsFunc(l.jobs, func(j *Job) bool { return j.Section == name }) {
			return fmt.Errorf("--section=%s: no job file has such a section", name)
		}
	}
	return nil
}

func (l *Loader) loadInput(in input, stonewall bool) error {
	r := &fileReader{open: l.Open, stdin: l.Stdin, only: l.Sections}
	var sections []*section
	var err error
	if in.file {
		sections, err = readJobFile(r, in.name)
	} else {
		sections, err = r.parse(in.name, in.text)
	}
	if err != nil {
		return err
	}
	cmd := commandLine{}
	for _, s := range sections {
		j := l.def
		if !s.global() {
			j = l.newJob(s.name)
			j.Source, j.Line = s.file, s.line
			// An engine and its options are made again; what [global] set is taken over if the types agree.
			j.Engine, j.EngineDoc = nil, nil
			if stonewall {
				j.Options.Stonewall = true
				stonewall = false
			}
		}
		cmd.begin(s)
		if err := l.apply(j, s); err != nil {
			l.commands = append(l.commands, cmd.String())
			return err
		}
		cmd.add(j)
		if s.global() {
			continue
		}
		if err := l.addJob(j); err != nil {
			return err
		}
	}
	l.commands = append(l.commands, cmd.String())
	return nil
}

// apply decodes a section's options by priority: first fio's own, then the engine's.
func (l *Loader) apply(j *Job, s *section) error {
	opts := make([]rawOption, len(s.opts))
	copy(opts, s.opts)
	sortByPrio(opts, l.table)
	var errs []error
	var rest []rawOption
	for _, o := range opts {
		unset := l.expand.unset(o.value)
		o = l.expand.expand(o)
		d := l.table.Lookup(o.name)
		if d == nil {
			rest = append(rest, o)
			continue
		}
		if err := l.setOption(j, d, o.value, o.given); err != nil {
			if unset != "" {
				err = fmt.Errorf("%w: the variable %s is not set", err, unset)
			}
			errs = append(errs, placed(o, s.name, err))
		}
	}
	if err := l.applyEngine(j, s, rest); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func placed(o rawOption, section string, err error) error {
	e := o.origin(section)
	e.Err = err
	return &e
}

func sortByPrio(opts []rawOption, t *Table) {
	prio := func(o rawOption) int {
		if d := t.Lookup(o.name); d != nil {
			return d.Prio
		}
		return 0
	}
	sort.SliceStable(opts, func(a, b int) bool { return prio(opts[a]) > prio(opts[b]) })
}

// setOption decodes one of fio's own options and does what it implies.
func (l *Loader) setOption(j *Job, d *Decl, value string, given bool) error {
	if err := l.deprecated(d); err != nil {
		return err
	}
	if err := l.table.Set(&j.Options, d, value, given, j.kbBase()); err != nil {
		return err
	}
	if err := l.afterSet(j, d); err != nil {
		return err
	}
	j.record(d, value, given)
	return nil
}

// deprecated refuses an option that fio refuses, and notices one that it ignores.
func (l *Loader) deprecated(d *Decl) error {
	switch d.Deprecated {
	case "hard":
		return ErrDeprecated
	case "soft":
		l.warnings = append(l.warnings, fmt.Sprintf("option %s is deprecated and has no effect", d.Name))
	}
	return nil
}

func (j *Job) record(d *Decl, value string, given bool) {
	j.Given = append(j.Given, Setting{Name: d.Name, Value: value, Flag: !given})
	j.set[d.Name] = true
}

func (j *Job) kbBase() int {
	if j.KBBase == "1000" {
		return 1000
	}
	return 1024
}
