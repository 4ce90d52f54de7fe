package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"fiord/engines"
	"fiord/job"
	"fiord/report"
	"fiord/run"
)

// command is one invocation.
type command struct {
	env     *Env
	drivers []*engines.Driver
	set     *settings
	args    *parser
	words   *words
	jobs    *source
	runJobs func(run.Config) (*report.Result, error) // run.Run, but in tests
}

// Run runs one command line and returns the exit status; see Main.
func Run(env *Env, drivers []*engines.Driver) int {
	env, out := env.withSink()
	return out.status(dispatch(env, drivers), env.Stderr)
}

// dispatch runs what the first word asks for.
func dispatch(env *Env, drivers []*engines.Driver) int {
	if len(env.Args) > 0 && env.Args[0] == peakWord {
		return env.peak(env.Args[1:])
	}
	if len(env.Args) == 1 && env.Args[0] == idleProbe {
		return runIdleProbe(env)
	}
	if len(env.Args) > 0 && env.Args[0] == compareCommand {
		status, err := runCompare(env, env.Args[1:])
		if err != nil {
			complain(env.Stderr, err)
		}
		return status
	}
	c, err := newCommand(env, drivers)
	status := 1
	if err == nil {
		status, err = c.run()
	}
	if err != nil {
		complain(env.Stderr, err)
	}
	return status
}

// complain prints an error, each of several joined ones on its own line, hints below.
func complain(w io.Writer, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			complain(w, e)
		}
		return
	}
	fmt.Fprintf(w, "fiord: %s\n", visible(strings.TrimPrefix(err.Error(), "fiord: ")))
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintf(w, "  %s\n", visible(h.Hint()))
	}
}

func newCommand(env *Env, drivers []*engines.Driver) (*command, error) {
	c := &command{env: env, drivers: drivers, set: defaultSettings(), runJobs: run.Run}
	var err error
	if c.words, err = newWords(drivers); err != nil {
		return nil, err
	}
	c.args = newParser(c.words)
	for _, f := range c.words.own {
		c.args.register(f.name, f.form, func(value string, bare bool) error { return f.set(c, value, bare) })
	}
	c.words.all(func(s spec) {
		c.args.register(s.name, s.form, func(value string, bare bool) error { return c.jobOption(s.name, value, bare) })
	})
	c.jobs = newSource()
	return c, nil
}

func (c *command) run() (int, error) {
	if len(c.env.Args) == 0 {
		return 1, c.noJob()
	}
	if err := c.args.parse(c.env.Args); err != nil {
		return 1, err
	}
	if c.args.stop {
		return 0, nil
	}
	loaded, err := c.load(c.args.operands)
	if err != nil {
		return 1, err
	}
	trace := &tracer{set: c.set.debug, w: c.env.Stderr}
	trace.jobs(loaded.jobs)
	switch {
	case c.set.showCmd:
		fmt.Fprint(c.env.Stdout, loaded.showCmd)
		return 0, nil
	case c.set.parseOnly:
		printNotes(c.env.Stderr, loaded.notes)
		return 0, nil
	case len(loaded.jobs) == 0:
		return 1, c.noJob()
	case c.set.mergeOnly:
		return mergeOnly(loaded.jobs)
	}
	return c.perform(loaded, trace)
}

// noJob is the error of a command without a job. fio prints its whole help page here; fiord only says where it is.
func (c *command) noJob() error {
	if len(c.set.sections) > 0 && len(c.args.operands) > 0 {
		return usagef("", "no job defined: no job file has a section %q", c.set.sections[0])
	}
	return usagef("give a job file, or options with --name; --help lists them", "no job defined")
}

// jobOption takes one job or engine option of the command line.
func (c *command) jobOption(name, value string, bare bool) error {
	c.jobs.option(name, value, bare)
	c.words.engine = c.words.engines[c.jobs.current]
	return nil
}

func (c *command) printVersion() error {
	fmt.Fprintln(c.env.Stdout, Version)
	c.args.stop = true
	return nil
}

func printNotes(w io.Writer, notes []string) {
	for _, n := range notes {
		fmt.Fprintf(w, "fiord: note: %s\n", visible(n))
	}
}

func (c *command) printErrors(lines []string) {
	for _, line := range lines {
		complainLine(c.env.Stderr, line)
	}
}

// complainLine prints an error line of the run. One that is indented is a hint that belongs to the line before.
func complainLine(w io.Writer, line string) {
	if !strings.HasPrefix(line, " ") {
		line = "fiord: " + line
	}
	fmt.Fprintln(w, visible(line))
}

// words is the vocabulary of the command line: fiord's own flags, the job options, and the options of one ioengine.
type words struct {
	own     []ownFlag
	job     *job.Table
	engines map[string]*job.Table // by name and alias; only engines with options
	order   []*job.Table          // the same, each once
	owners  []string              // names of the engines of order
	engine  *job.Table            // of the current ioengine; nil: it has none
}

func newWords(drivers []*engines.Driver) (*words, error) {
	w := &words{own: ownFlags(), engines: map[string]*job.Table{}}
	var err error
	if w.job, err = job.Declare(&job.Options{}); err != nil {
		return nil, err
	}
	for _, d := range drivers {
		if d.Options == nil {
			continue
		}
		t, err := job.Declare(d.Options())
		if err != nil {
			return nil, fmt.Errorf("ioengine %s: %w", d.Name, err)
		}
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			w.engines[name] = t
		}
		w.order, w.owners = append(w.order, t), append(w.owners, d.Name)
	}
	return w, nil
}

func (w *words) find(name string) (spec, bool) {
	for _, f := range w.own {
		if f.name == name {
			return f.spec, true
		}
	}
	if d := w.job.Lookup(name); d != nil {
		return spec{name, form(d)}, true
	}
	if w.engine != nil {
		if d := w.engine.Lookup(name); d != nil {
			return spec{name, form(d)}, true
		}
	}
	return spec{}, false
}

func (w *words) names(f func(spec)) {
	for _, o := range w.own {
		f(o.spec)
	}
	each(w.job, f)
	if w.engine != nil {
		each(w.engine, f)
	}
}

// all calls f with every job option and every option of every engine.
func (w *words) all(f func(spec)) {
	each(w.job, f)
	for _, t := range w.order {
		// The same name may be a switch in one engine and need a value in another; the parser knows which holds.
		each(t, func(s spec) { f(spec{s.name, argOptional}) })
	}
}

func each(t *job.Table, f func(spec)) {
	for _, d := range t.All() {
		f(spec{d.Name, form(d)})
		for _, a := range d.Aliases {
			f(spec{a, form(d)})
		}
	}
}

// form is argOptional for fio's set-type options; all others need a value.
func form(d *job.Decl) argForm {
	if d.Kind == job.KindFlag {
		return argOptional
	}
	return argRequired
}

func (w *words) letter(c byte) (spec, bool) {
	for _, f := range w.own {
		if f.letter == c && c != 0 {
			return f.spec, true
		}
	}
	return spec{}, false
}

// elsewhere names the engines that have the option.
func (w *words) elsewhere(name string) string {
	var owners []string
	for i, t := range w.order {
		if t.Lookup(name) != nil {
			owners = append(owners, w.owners[i])
		}
	}
	if len(owners) == 0 {
		return ""
	}
	return "it belongs to ioengine " + strings.Join(owners, ", ") + "; give --ioengine before it"
}

// signalNumber is the number of a signal for the message about it.
func signalNumber(s os.Signal) string {
	if n, ok := s.(interface{ Signal() }); ok {
		return fmt.Sprintf("%d", n)
	}
	return s.String()
}

// mergeOnly is what --merge-blktrace-only does.
func mergeOnly(jobs []*job.Job) (int, error) {
	if !slices.ContainsFunc(jobs, func(j *job.Job) bool { return j.MergeBlktraceFile != "" }) {
		return 1, usagef("", "--merge-blktrace-only: no job has merge_blktrace_file")
	}
	if err := run.MergeTraces(jobs); err != nil {
		return 1, err
	}
	return 0, nil
}
