package job

import (
	"fmt"
	"reflect"
	"strings"
)

// grouping numbers report groups and stonewalls as jobs are added.
type grouping struct {
	group     int
	inGroup   int // jobs in the current group
	stonewall int
	latSeen   [2]bool // lat_percentiles off and on in the current group
	rampSizes map[uint64]bool
	interval  int64 // steadystate_check_interval of the first job
}

// addJob checks a job, numbers it and adds it with its clones.
func (l *Loader) addJob(j *Job) error {
	fail := func(err error) error {
		return &ParseError{File: j.Source, Line: j.Line, Section: j.Section, Err: err}
	}
	if err := l.check(j); err != nil {
		return fail(err)
	}
	if err := l.group(j); err != nil {
		return fail(err)
	}
	if len(l.jobs)+j.NumJobs > l.MaxJobs {
		return fail(conflict("more than %d jobs", l.MaxJobs))
	}
	l.names[j.Name]++
	first := len(l.jobs)
	for sub := range j.NumJobs {
		c := j
		if sub > 0 {
			clone := *j
			// fio counts its clones down: the second thread is number N-1, the last is 1.
			clone.SubJob, clone.Name = j.NumJobs-sub, j.Section
			clone.Options.Name = j.Section
			clone.Engine = cloneOptions(j.Engine)
			// These belong to the first clone alone.
			clone.Options.Stonewall, clone.NewGroup = false, false
			c = &clone
		}
		c.Number = first + sub + 1
		l.jobs = append(l.jobs, c)
	}
	return nil
}

// check does the work that --parse-only leaves out: what options require of each other, and what is not implemented.
// Under ParseOnly its findings become warnings.
func (l *Loader) check(j *Job) error {
	j.Name = j.Options.Name
	var errs []error
	if j.EngineDoc == nil && !l.ParseOnly {
		if err := l.loadEngine(j); err != nil {
			return err
		}
	}
	errs = append(errs, l.missing(j)...)
	errs = append(errs, l.resolve(j)...)
	if err := l.waitFor(j); err != nil {
		errs = append(errs, err)
	}
	if !l.ParseOnly {
		return firstError(errs)
	}
	for _, err := range errs {
		l.warn(j, err)
	}
	return nil
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *Loader) warn(j *Job, err error) {
	l.warnings = append(l.warnings, fmt.Sprintf("%s: %v", j.Section, err))
}

// waitFor checks that the job waits for one job that stands before it.
func (l *Loader) waitFor(j *Job) error {
	if j.WaitFor == "" {
		return nil
	}
	switch n := l.names[j.WaitFor]; {
	case j.WaitFor == j.Section:
		return conflict("wait_for=%s: a job cannot wait for itself", j.WaitFor)
	case n == 0:
		return conflict("wait_for=%s: no job of that name stands before this one", j.WaitFor)
	case n > 1:
		return conflict("wait_for=%s: %d jobs have that name", j.WaitFor, n)
	}
	return nil
}

// group gives the job its report group and stonewall number, and checks what must agree within a group.
func (l *Loader) group(j *Job) error {
	g := &l.groups
	if j.Options.Stonewall && len(l.jobs) > 0 {
		g.stonewall++
	}
	if (j.Options.Stonewall || j.NewGroup) && g.inGroup > 0 {
		g.group++
		g.inGroup, g.latSeen, g.rampSizes = 0, [2]bool{}, nil
	}
	j.Group, j.Stonewall = g.group, g.stonewall
	g.inGroup++
	if l.ParseOnly {
		return nil
	}
	lat := 0
	if j.LatPercentiles {
		lat = 1
	}
	if j.GroupReporting && j.Stats && g.latSeen[1-lat] {
		return conflict("lat_percentiles differs from other jobs of the group")
	}
	g.latSeen[lat] = true
	if g.rampSizes == nil {
		g.rampSizes = make(map[uint64]bool)
	}
	g.rampSizes[j.RampSize] = true
	if j.RampSize > 0 && len(g.rampSizes) > 1 {
		return conflict("ramp_size differs from other jobs of the group")
	}
	if interval := int64(j.SteadystateCheckInterval); g.interval == 0 {
		g.interval = interval
	} else if g.interval != interval {
		return conflict("steadystate_check_interval differs from other jobs")
	}
	return nil
}

// missing lists the options in effect that fiord does not implement, and the engine if it is one of those.
func (l *Loader) missing(j *Job) []error {
	var errs []error
	add := func(option, value, reason string) {
		errs = append(errs, &NotImplementedError{Job: j.Name, Option: option, Value: value, Reason: reason})
	}
	if j.EngineDoc != nil && j.EngineDoc.Missing != "" {
		add("ioengine", j.IOEngine, j.EngineDoc.Missing)
	}
	for _, d := range l.table.All() {
		if d.Missing != "" && j.set[d.Name] && !l.table.isDefault(&j.Options, d) && j.inEffect(l.table, d) {
			add(d.Name, j.given(d.Name), d.Missing)
		}
	}
	if t, err := l.engineTable(j.EngineDoc); err == nil && t != nil && j.Engine != nil {
		for _, d := range t.All() {
			if d.Missing != "" && j.set[d.Name] && !t.isDefault(j.Engine, d) {
				add(d.Name, j.given(d.Name), d.Missing)
			}
		}
	}
	return errs
}

// given is the last value that the section or [global] gave an option.
func (j *Job) given(name string) string {
	for _, list := range [][]Setting{j.Given, j.Global} {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].Name == name {
				return list[i].Value
			}
		}
	}
	return ""
}

// inEffect reports whether a setting changes anything: many refine another option and mean nothing while that is off.
func (j *Job) inEffect(t *Table, d *Decl) bool {
	switch {
	case d.Name == "steadystate_duration" || d.Name == "flow":
		return true
	case strings.HasPrefix(d.Name, "steadystate"):
		return j.SteadystateDuration > 0
	case strings.HasPrefix(d.Name, "flow_"):
		return j.Flow != 0
	case d.Name != "latency_target" && strings.HasPrefix(d.Name, "latency_"):
		return j.LatencyTarget > 0
	case strings.HasPrefix(d.Name, "merge_blktrace_") && d.Name != "merge_blktrace_file":
		return j.MergeBlktraceFile != ""
	case d.Name == "plids" || d.Name == "plid_select" || d.Name == "dp_scheme":
		return j.FDP || j.Dataplacement != "none"
	case d.Name == "log_store_compressed":
		return true
	}
	if parent := t.Lookup(d.Parent); parent != nil && parent.Missing != "" {
		return !t.isDefault(&j.Options, parent) && j.inEffect(t, parent)
	}
	return true
}

// cloneOptions copies an engine's options struct, so that clones share nothing that an engine may write to.
func cloneOptions(options any) any {
	if options == nil {
		return nil
	}
	fresh := reflect.New(reflect.TypeOf(options).Elem())
	fresh.Elem().Set(reflect.ValueOf(options).Elem())
	return fresh.Interface()
}

// uniqueNames reports whether made-up file names differ between jobs.
func uniqueNames(j *Job) bool {
	f := j.FilenameFormat
	return j.UniqueFilename && strings.Contains(f, "$jobname") && strings.Contains(f, "$jobnum") && strings.Contains(f, "$filenum")
}
