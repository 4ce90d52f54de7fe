package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"fiord/job"
	"fiord/report"
)

// debugKinds are fio's debug categories; why is empty for those that fiord traces.
var debugKinds = []struct{ name, help, why string }{
	{"process", "states of the workers, each time one changes", ""},
	{"file", "what happens to files while they are laid out", ""},
	{"parse", "each option as it was taken from the command line and the job files", ""},
	{"job", "each job as it will run; job:N for job number N alone", ""},
	{"rate", "bandwidth and IOPS, each time the status is taken", ""},
	{"io", "", noTrace}, {"mem", "", noTrace}, {"blktrace", "", noTrace}, {"verify", "", noTrace},
	{"random", "", noTrace}, {"diskutil", "", noTrace}, {"mutex", "", noTrace}, {"profile", "", noTrace},
	{"time", "", noTrace}, {"net", "", noTrace}, {"compress", "", noTrace}, {"steadystate", "", noTrace},
	{"helperthread", "", noTrace}, {"zbd", "", noTrace}, {"sprandom", "", noTrace},
}

const noTrace = "fiord does not trace it"

// debugSet says what is traced.
type debugSet struct {
	on  map[string]bool
	job int // the one job number that job traces; 0: all
}

func debugNames() []string {
	var names []string
	for _, k := range debugKinds {
		if k.why == "" {
			names = append(names, k.name)
		}
	}
	return names
}

// setDebug reads the value of --debug. A question mark or "help" lists the categories and ends the command, as in fio.
func (c *command) setDebug(list string) error {
	if list == "?" || list == "help" {
		for _, k := range debugKinds {
			if k.why == "" {
				fmt.Fprintf(c.env.Stdout, "%-10s %s\n", k.name, k.help)
			}
		}
		fmt.Fprintf(c.env.Stdout, "%-10s %s\n", "all", "all of these")
		c.args.stop = true
		return nil
	}
	for word := range strings.SplitSeq(list, ",") {
		if err := c.set.debug.add(word); err != nil {
			return err
		}
	}
	return nil
}

func (d *debugSet) add(word string) error {
	if d.on == nil {
		d.on = map[string]bool{}
	}
	if word == "all" {
		for _, n := range debugNames() {
			d.on[n] = true
		}
		return nil
	}
	name, number, numbered := strings.Cut(word, ":")
	for _, k := range debugKinds {
		switch {
		case k.name != name:
		case k.why != "":
			return usagef("", "--debug: %s: %s", name, k.why)
		case numbered && name != "job":
			return usagef("", "--debug: %s: takes no job number", name)
		case numbered:
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return usagef("", "--debug: job: want a job number above 0, got %q", number)
			}
			d.job = n
			fallthrough
		default:
			d.on[name] = true
			return nil
		}
	}
	return usagef("want "+strings.Join(debugNames(), ", ")+" or all", "--debug: unknown category %q", word)
}

// tracer writes traces, a line each, from any goroutine.
type tracer struct {
	set debugSet
	mu  sync.Mutex
	w   io.Writer

	letters string // of the last status
}

func (t *tracer) printf(kind, format string, args ...any) {
	if !t.set.on[kind] {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.w, "%-8s %s\n", kind, fmt.Sprintf(format, args...))
}

// jobs traces the jobs as loaded.
func (t *tracer) jobs(jobs []*job.Job) {
	for _, j := range jobs {
		if t.set.on["parse"] && j.SubJob == 0 {
			t.settings(j, "global", j.Global)
			t.settings(j, "section", j.Given)
		}
		if t.set.job != 0 && t.set.job != j.Number {
			continue
		}
		t.printf("job", "%d: %s from %s: clone %d, group %d, stonewall %d, ioengine %s, rw %s, iodepth %d",
			j.Number, j.Name, origin(j), j.SubJob, j.Group, j.Stonewall, j.IOEngine, j.RW.Text, j.IODepth)
		t.printf("file", "%d: %s: filename %q, directory %q, nrfiles %d", j.Number, j.Name, j.Filename, j.Directory, j.NrFiles)
	}
}

// origin is where a job was declared.
func origin(j *job.Job) string {
	if j.Line == 0 {
		return "the command line"
	}
	return fmt.Sprintf("%s:%d", j.Source, j.Line)
}

func (t *tracer) settings(j *job.Job, from string, list []job.Setting) {
	for _, s := range list {
		text := s.Name
		if !s.Flag {
			text += "=" + s.Value
		}
		t.printf("parse", "%s: %s: %s", j.Name, from, text)
	}
}

// line traces what the run says about files.
func (t *tracer) line(text string) { t.printf("file", "%s", text) }

// wantsStatus reports whether status must be called.
func (t *tracer) wantsStatus() bool { return t.set.on["process"] || t.set.on["rate"] }

// status traces the state of the run. It is called from one goroutine.
func (t *tracer) status(s report.Status) {
	if s.Letters != t.letters {
		t.printf("process", "%v: %d of %d running: %s", s.Elapsed, s.Running, s.Jobs, s.Letters)
		t.letters = s.Letters
	}
	for d := range job.Dir(job.NDirs) {
		if s.IOPS[d] > 0 {
			t.printf("rate", "%v: %s: %d bytes/s, %d IOPS", s.Elapsed, d, s.Rate[d], s.IOPS[d])
		}
	}
}
