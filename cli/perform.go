package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"fiord/report"
	"fiord/run"
)

// perform runs the loaded jobs and reports.
func (c *command) perform(l *loaded, trace *tracer) (int, error) {
	cfg := run.Config{
		Jobs: l.jobs, Global: l.global, Drivers: c.drivers, Version: Version, ReadOnly: c.set.readOnly,
		Idle: c.set.idle, AuxPath: c.set.auxPath, Trigger: c.set.trigger, BandwidthLog: c.set.bandwidthLog, Interval: c.set.statusInterval,
	}
	if err := c.checkOutputs(&cfg); err != nil {
		return 1, err
	}
	out := c.env.Stdout
	if c.set.output != "" {
		f, err := c.env.Create(c.set.output)
		if err != nil {
			return 1, fmt.Errorf("--output: %w", err)
		}
		defer f.Close() // for the ways out by error; the good one checks
		out = f
	}
	o := &outlet{w: out, set: c.set, trace: trace, live: c.liveLine(), errs: c.env.Stderr}
	if c.set.has(report.Normal) {
		o.print(func(w io.Writer) error { return report.Header(w, Version, l.jobs) })
	}
	if !c.set.document() {
		printNotes(c.env.Stderr, l.notes)
	}

	sig := c.watch(o)
	cfg.Dump, cfg.Report, cfg.Stop = o.dump, sig.report, sig.stop
	cfg.Print, cfg.Failed, cfg.Warn = o.line, o.failed, o.warn
	cfg.Environment = c.set.ownKeys || c.set.has(report.CSV) || c.set.has(report.Metrics)
	if o.live != nil || trace.wantsStatus() {
		cfg.Live, cfg.LiveEvery = o.status, c.set.etaInterval
	}
	r, err := c.runJobs(cfg)
	sig.end()
	o.endLive()
	switch {
	case errors.Is(err, run.ErrAborted):
		c.dropEmpty()
		return statusAborted, err
	case err != nil && r == nil:
		c.dropEmpty()
		c.printErrors(o.warnings)
		return 1, err
	}
	c.tell(l.notes, r, o)
	o.result(r)
	if err := errors.Join(err, o.close()); err != nil {
		c.dropEmpty()
		return max(1, exitStatus(r)), err
	}
	return exitStatus(r), nil
}

// dropEmpty removes the file of a report that has got none.
func (c *command) dropEmpty() {
	if st, err := os.Lstat(c.set.output); err == nil && st.Mode().IsRegular() && st.Size() == 0 {
		_ = os.Remove(c.set.output) // without it the file is empty, which says the same
	}
}

// checkOutputs refuses what would write over the data of a job, over a job file or over another output.
func (c *command) checkOutputs(cfg *run.Config) error {
	report := run.Place{What: "standard output", Info: c.env.stdoutFile()}
	if c.set.output != "" {
		report = run.Place{What: "--output", Path: c.set.output}
	}
	var inputs []run.Place
	for _, f := range c.args.operands {
		if f != "-" {
			inputs = append(inputs, run.Place{What: "job file", Path: f})
		}
	}
	return run.CheckOutputs(cfg, report, inputs)
}

// tell shows what there is to say about the run beside its numbers: on standard error, or in the document of a run that
// succeeded, whose standard error stays empty. The document of a run that failed has fio's keys alone.
func (c *command) tell(loaded []string, r *report.Result, o *outlet) {
	notes := r.Warnings
	r.Warnings = nil
	switch {
	case !c.set.document():
		printNotes(c.env.Stderr, notes)
		return
	case exitStatus(r) != 0:
		printNotes(c.env.Stderr, slices.Concat(loaded, notes))
		c.printErrors(o.warnings)
		if !c.set.ownKeys {
			return
		}
	}
	r.Warnings = slices.Concat(loaded, notes, o.warnings)
}

// statusAborted is the status of a run that a second signal ended at once.
const statusAborted = 128

// exitStatus is fio's: the number of failed jobs, and 128 more when a signal ended the run. fio differs: its sum wraps
// at 256, so that 256 failed jobs look like success.
func exitStatus(r *report.Result) int {
	if r.Interrupted {
		return min(128+r.Failed, 255)
	}
	return min(r.Failed, 255)
}

// outlet is where a run writes: the report file or standard output, and the status line between. Its methods may be
// called from any goroutine.
type outlet struct {
	mu    sync.Mutex
	w     io.Writer
	set   *settings
	trace *tracer
	live  *report.Live // nil: no status line
	errs  io.Writer
	err   error // the first failed write

	warnings []string // error lines kept for a document
}

// print renders into memory first, so that a document is written whole or not at all.
func (o *outlet) print(render func(io.Writer) error) {
	var b bytes.Buffer
	err := render(&b)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clear()
	if err == nil {
		_, err = o.w.Write(b.Bytes())
	}
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("write report: %w", err)
	}
}

// line prints what the run says while it runs; the machine formats have no place for it.
func (o *outlet) line(text string) {
	o.trace.line(text)
	if o.set.has(report.Normal) {
		o.print(func(w io.Writer) error { _, err := fmt.Fprintln(w, text); return err })
	}
}

// failed takes a line that says why a job ended. fio prints such a line in every format; a document has no place for it.
func (o *outlet) failed(text string) {
	switch {
	case o.set.has(report.Normal):
		o.line(text)
	case o.set.document():
		o.warn(text)
	case o.set.has(report.Terse):
		o.print(func(w io.Writer) error { _, err := fmt.Fprintln(w, text); return err })
	}
}

// dump prints a result of the run as it stands; notes wait for the last one.
func (o *outlet) dump(r *report.Result) {
	if !o.set.ownKeys {
		r.Warnings = nil
	}
	o.result(r)
}

// warn takes an error line of the run. A document on standard output holds it, and then standard error gets it only
// when a job has failed: there are scripts that take any text there for failure.
func (o *outlet) warn(text string) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "fiord: "), "fio: ")
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.set.document() {
		o.warnings = append(o.warnings, text)
		return
	}
	o.clear()
	complainLine(o.errs, text)
}

// result prints a result in all formats.
func (o *outlet) result(r *report.Result) {
	o.print(func(w io.Writer) error {
		return report.Write(w, r, report.Options{Formats: o.set.formats, TerseVersion: o.set.terseVersion, Own: o.set.ownKeys})
	})
}

func (o *outlet) status(s report.Status) {
	o.trace.status(s)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.live != nil && o.live.Update(s) != nil {
		o.live = nil // the terminal has gone; the report may still have a file
	}
}

// clear takes the status line off the terminal. The lock must be held.
func (o *outlet) clear() {
	if o.live != nil && o.live.Clear() != nil {
		o.live = nil
	}
}

func (o *outlet) endLive() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clear()
	o.live = nil
}

// close ends the output and returns the first error of writing it.
func (o *outlet) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f, ok := o.w.(io.Closer); ok && o.set.output != "" {
		if err := f.Close(); err != nil && o.err == nil {
			o.err = fmt.Errorf("write report: %w", err)
		}
	}
	return o.err
}

// signals turns the signals of the process into requests to the run.
type signals struct {
	stop   chan struct{} // one value a SIGINT or SIGTERM: first end in order, then at once
	report chan struct{} // one value a SIGUSR1
	done   chan struct{}
	off    func()
	ended  sync.WaitGroup
}

// watch begins to turn signals into requests.
func (c *command) watch(o *outlet) *signals {
	s := &signals{stop: make(chan struct{}, 2), report: make(chan struct{}, 1), done: make(chan struct{})}
	in, off := c.env.Signals()
	s.off = off
	s.ended.Go(func() {
		for {
			select {
			case <-s.done:
				return
			case got := <-in:
				s.pass(got, o)
			}
		}
	})
	return s
}

func (s *signals) pass(got os.Signal, o *outlet) {
	to := s.stop
	if got == syscall.SIGUSR1 {
		to = s.report
	} else {
		o.line(fmt.Sprintf("\nfiord: terminating on signal %s", signalNumber(got)))
	}
	select {
	case to <- struct{}{}:
	default: // enough of them are waiting
	}
}

// end gives the signals back their default effect.
func (s *signals) end() {
	s.off()
	close(s.done)
	s.ended.Wait()
}

// liveLine makes the status line, or nothing where it would not be seen: fio shows it on a terminal only, unless
// --eta=always, and never among the lines of a machine format.
func (c *command) liveLine() *report.Live {
	machine := !c.set.has(report.Normal) && !c.set.has(report.Table) && c.set.output == ""
	if c.set.eta == "never" || machine || (c.set.eta == "auto" && !c.env.Terminal()) {
		return nil
	}
	return &report.Live{Out: plain(c.env.Stdout), Width: c.env.Width, NewLine: c.set.etaNewline}
}
