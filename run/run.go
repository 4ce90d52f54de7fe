// Package run runs jobs: file layout, worker threads, the hot loop, ramp, stonewall, signals and cleanup.
//
// It owns the schedule and the workers. It must not know how options are spelt or how results are rendered.
package run

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fiord/clock"
	"fiord/engines"
	"fiord/iolog"
	"fiord/job"
	"fiord/report"
	"fiord/run/layout"
	"fiord/stats"
	"fiord/zoned"
)

// ErrAborted is returned when a second stop request ended the run at once: there is no result.
var ErrAborted = errors.New("aborted")

// Config is one run.
type Config struct {
	Jobs     []*job.Job
	Global   []job.Setting
	Drivers  []*engines.Driver
	Version  string
	ReadOnly bool

	Trigger      Trigger
	AuxPath      string        // where saved states and dumps go; empty: the current directory
	BandwidthLog string        // prefix of the aggregate bandwidth logs; empty: none
	Interval     time.Duration // between status dumps; 0: none

	// Live, when not nil, is given the state of the run every LiveEvery, from the helper's goroutine.
	Live      func(report.Status)
	LiveEvery time.Duration // 0: a second
	// Dump, when not nil, is given a mid-run result every Interval and on each value of Report.
	Dump   func(*report.Result)
	Report <-chan struct{}
	// Stop asks for an orderly end at the first value, for an immediate one at the second.
	Stop <-chan struct{}
	Idle *IdleProfile // nil: CPU idleness is not measured
	// Environment asks for the machine, devices and file systems in the final result. They are looked at after the run.
	Environment bool

	// Print takes the lines that fio prints while it runs, such as "x: Laying out IO file"; no newline at the end.
	Print func(line string)
	// Failed takes the lines that say why a job ended with an error; no newline at the end. Nil: Print takes them.
	Failed func(line string)
	// Warn takes lines that fio prints to standard error, such as an I/O error; no newline at the end.
	Warn func(line string)
}

// Run runs the jobs and returns the result, also when jobs failed. The error is for what kept the run from starting, or
// ErrAborted.
func Run(cfg Config) (*report.Result, error) {
	r, err := newRunner(cfg)
	if err != nil {
		return nil, err
	}
	return r.run()
}

// run is the run itself, from the layout of the files to the report.
func (r *runner) run() (*report.Result, error) {
	loud := quiet(threads(r.cfg.Jobs))
	defer func() {
		if !r.aborted() { // a worker that is stuck in the kernel may hold its processor, which this waits for
			loud()
		}
	}()
	r.collections = collections()
	if err := r.mergeTraces(); err != nil {
		return nil, err
	}
	stopDone := r.watchStop()
	defer close(stopDone)
	if !r.layOut() {
		return nil, ErrAborted
	}
	idle, err := startIdle(r.cfg.Idle)
	if err != nil {
		return nil, err
	}
	r.idle = idle
	r.disks.Start()
	r.idle.begin()
	r.genesis = clock.Now()
	r.steady = newSteadyUnits(r)
	helperDone := make(chan struct{})
	go r.help(helperDone)
	go r.collectGarbage()
	triggerDone := make(chan struct{})
	go r.watchTrigger(triggerDone)
	r.schedule()
	aborted := r.aborted()
	if !aborted {
		r.alive.Wait()
	}
	close(r.over)
	<-helperDone
	if aborted {
		return nil, ErrAborted // workers may be stuck in the kernel
	}
	select {
	case <-triggerDone:
	case <-r.quit:
		return nil, ErrAborted
	}
	for _, tell := range r.unsaved {
		tell()
	}
	r.noteIdle()
	r.disks.Update()
	if err := r.idle.end(); err != nil {
		r.warn("%v", err)
	}
	return r.result(true), r.closeLogs()
}

// runner is one run.
type runner struct {
	cfg      Config
	workers  []*worker
	registry *iolog.Registry
	agg      *iolog.AggLogs
	disks    *stats.DiskUtil
	locks    *layout.Registry // of files being laid out
	overlap  *overlapTable
	zones    zoned.Registry
	exitAll  bool

	idle      *idleMeter
	fileLocks fileLocks // lockfile
	waits     bool      // some job has wait_for
	gates     gates     // of jobs that start together
	patience  time.Duration
	steady    []*steadyUnit

	genesis int64         // clock.Now when the run began
	wake    chan struct{} // a worker's state has changed
	quit    chan struct{} // closed by the second stop request
	over    chan struct{} // closed when all workers have ended
	alive   sync.WaitGroup

	collections int64 // garbage collections before the run

	pulled  atomic.Bool // the trigger wants states, also of jobs that save their own
	unsaved []func()    // what is to be done, when all is over, for states that the trigger could not save

	interrupted bool
	mu          sync.Mutex // guards warnings
	warnings    []string
}

// newRunner makes the workers without starting anything.
func newRunner(cfg Config) (*runner, error) {
	r := &runner{cfg: cfg, wake: make(chan struct{}, 1), quit: make(chan struct{}), over: make(chan struct{}),
		registry: iolog.NewRegistry(), disks: stats.NewDiskUtil(), locks: new(layout.Registry),
		overlap: newOverlapTable(), exitAll: exitAll(cfg.Jobs), patience: gatePatience}
	if err := useClock(cfg.Jobs); err != nil {
		return nil, err
	}
	if err := checkThreads(cfg.Jobs); err != nil {
		return nil, err
	}
	for _, j := range cfg.Jobs { // before any log is opened
		d := driverOf(cfg.Drivers, j.IOEngine)
		if d == nil {
			return nil, fmt.Errorf("job %q: ioengine %q: no such engine", j.Name, j.IOEngine)
		}
		if offloaded(j) && d.Traits.NoOffload {
			return nil, fmt.Errorf("job %q: io_submit_mode=offload: ioengine %s cannot be used with it; synchronous engines can", j.Name, d.Name)
		}
		if d.Probe != nil {
			if err := d.Probe(); err != nil {
				return nil, fmt.Errorf("job %q: ioengine %s: %w", j.Name, d.Name, err)
			}
		}
	}
	if err := checkMounts(cfg.Jobs); err != nil {
		return nil, err
	}
	for _, j := range cfg.Jobs {
		w, err := newWorker(r, j, driverOf(cfg.Drivers, j.IOEngine))
		if err != nil {
			return nil, fmt.Errorf("job %q: %w", j.Name, err)
		}
		r.workers = append(r.workers, w)
		r.waits = r.waits || j.WaitFor != ""
	}
	r.joinFlows()
	if cfg.BandwidthLog != "" {
		agg, err := iolog.NewAggLogs(cfg.BandwidthLog)
		if err != nil {
			return nil, fmt.Errorf("--bandwidth-log: %w", err)
		}
		r.agg = agg
	}
	return r, nil
}

// driverOf finds an engine by its name or an alias; nil: there is none.
func driverOf(drivers []*engines.Driver, name string) *engines.Driver {
	for _, d := range drivers {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d
		}
	}
	return nil
}

// useClock selects the clock that the jobs name: it is one for the run, so they must agree.
func useClock(jobs []*job.Job) error {
	name := ""
	for _, j := range jobs {
		if j.ClockSource != "" && name != "" && j.ClockSource != name {
			return fmt.Errorf("job %q: clocksource=%s, but another job has %s: a run has one clock", j.Name, j.ClockSource, name)
		}
		if j.ClockSource != "" {
			name = j.ClockSource
		}
	}
	if err := clock.Use(name); err != nil {
		return fmt.Errorf("clocksource %q: %w", name, err)
	}
	return nil
}

// checkMounts refuses the whole run when any job would write to a mounted device, before anything is touched.
func checkMounts(jobs []*job.Job) error {
	for _, j := range jobs {
		if err := layout.CheckMounts(j); err != nil {
			return fmt.Errorf("job %q: %w", j.Name, err)
		}
	}
	return nil
}

// layOut prepares the files of all jobs with create_serialize before any worker starts. It reports false when a second
// stop request came meanwhile, in which case it may still be at it.
func (r *runner) layOut() bool {
	done := make(chan struct{})
	go func() {
		r.layOutAll()
		close(done)
	}()
	select {
	case <-done:
		return !r.aborted()
	case <-r.quit:
		select {
		case <-done: // the first stop request has ended it: what it made is removed
		case <-time.After(layOutGrace):
		}
		return false
	}
}

// layOutGrace is how long a second stop request waits for a layout to remove what it has made.
const layOutGrace = time.Second

// layOutAll prepares the files, one job after the other.
func (r *runner) layOutAll() {
	for _, w := range r.workers {
		if !w.job.CreateSerialize || w.job.ReadIolog != "" || w.stopping() {
			continue
		}
		w.enter(stateSettingUp)
		if w.layOut(); w.st.Error != 0 {
			// No thread of the job will say why it ended. fio tells it on standard error, too.
			r.warn("pid=%d, err=%d/%s", w.st.Pid, w.st.Error, w.st.ErrorText)
			w.enter(stateReaped)
			continue
		}
		w.enter(stateNotCreated)
	}
}

// watchStop passes the stop requests on until the returned channel is closed.
func (r *runner) watchStop() chan struct{} {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-r.cfg.Stop:
				if r.interrupt() {
					close(r.quit)
					return
				}
			case <-done:
				return
			}
		}
	}()
	return done
}

// interrupt ends the run in order and reports whether that had been asked for before.
func (r *runner) interrupt() bool {
	r.mu.Lock()
	again := r.interrupted
	r.interrupted = true
	r.mu.Unlock()
	r.terminateAll()
	return again
}

func (r *runner) aborted() bool {
	select {
	case <-r.quit:
		return true
	default:
		return false
	}
}

// note keeps a warning for the report.
func (r *runner) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// print shows a line as it happens.
func (r *runner) print(line string) {
	if r.cfg.Print != nil {
		r.cfg.Print(line)
	}
}

// failed shows why a job ended.
func (r *runner) failed(line string) {
	if r.cfg.Failed != nil {
		r.cfg.Failed(line)
		return
	}
	r.print(line)
}

// warn shows an error line as it happens, or keeps it for the report where nobody listens.
func (r *runner) warn(format string, args ...any) {
	if r.cfg.Warn != nil {
		r.cfg.Warn(fmt.Sprintf(format, args...))
		return
	}
	r.note(format, args...)
}
