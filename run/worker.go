package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fiord/clock"
	"fiord/engines"
	"fiord/internal/sys"
	"fiord/iolog"
	"fiord/job"
	"fiord/report"
	"fiord/run/layout"
	"fiord/stats"
	"fiord/workload"
)

// worker runs one job on one OS thread of its own. Everything but the embedded published words belongs to that thread
// once main has started, and to the scheduler before and after.
type worker struct {
	published

	r   *runner
	job *job.Job
	drv *engines.Driver

	delay    time.Duration // start delay, drawn once
	gate     *gate         // where it waits for those that start with it; nil: there are none
	gathered bool          // it has been there
	released int64         // clock.Now when the gate let it go; 0: it did not wait

	set    *layout.Set
	gen    *workload.Generator
	filler *workload.Filler     // nil: buffers stay as they are
	logs   *iolog.JobLogs       // nil: none
	trace  *iolog.Trace         // nil: none
	replay *replay              // nil: I/Os come from the generator
	flow   *flowShare           // nil: the job is in no flow
	locks  *locker              // nil: no locks around submissions
	zones  *zones               // nil: no zonemode=zbd
	vfy    *verifier            // nil: the job does not verify
	ranger engines.RangeTrimmer // nil: a trim has one range

	eng   engines.Engine
	off   *offload           // not nil: it is eng, for other threads do the I/O
	doer  engines.SyncEngine // not nil: I/O is done inside Do and never in flight
	arena *sys.Arena
	maps  []*sys.Arena // of the random maps

	single engines.SingleSubmitter // not nil: eng, and passSingle is to be used

	loop  loop // the hot loop's own state
	rate  *rates
	lat   *latTarget // nil: none
	think *think

	st          stats.Job
	usage       sys.Usage // at the start of the measured part
	callsBefore [2]uint64 // system calls for submits and reaps before it
	snap        snapshot
	ended       chan struct{}    // closed when the worker has ended
	steady      *steadyUnit      // nil: no steadystate
	sampler     *stats.Sampler   // the helper's
	sampledFrom int64            // the helper's: the epoch it samples from
	locked      *sys.Locked      // lockmem
	elapsed     [job.NDirs]int64 // ns each direction has run, over all passes
	start       int64            // clock.Now at the start of the pass
	before      uint64           // bytes moved before the pass, or rampedOver
	ramping     bool
	special     bool // next must look further than the generator
	errShown    int  // io_u errors printed
	refused     bool // failed by an option of its own: fio reports error 0

	watched bool                // finished I/Os are logged or held against limits
	maxLat  [job.NDirs]int64    // max_latency in ns, 0: none
	node    string              // the NUMA node of auto_numa, for the report
	near    func() error        // puts a thread on that node; nil: there is none
	ioprio  uint16              // of the thread
	prios   [job.NDirs][]uint16 // priorities that I/Os can get from the engine; nil: all the same
}

func newWorker(r *runner, j *job.Job, d *engines.Driver) (*worker, error) {
	j = privateJob(j)
	w := &worker{r: r, job: j, drv: d}
	w.st = stats.Job{
		Name: j.Name, Desc: description(j, d), Group: j.Group, Number: j.Number, Members: 1,
		Continue: j.ContinueOnRead || j.ContinueOnWrite || j.ContinueOnVerify, LatencyPercentile: 100,
		Opt: showOptions(j),
	}
	w.delay = startDelay(j)
	w.initHists()
	var err error
	if w.logs, err = iolog.NewJobLogs(j, r.registry); err != nil {
		return nil, err
	}
	w.ended, w.snap.ready = make(chan struct{}), make(chan struct{}, 1)
	w.sampler = stats.NewSampler(w.samplerConfig())
	w.watched = w.logs != nil
	for d, us := range j.MaxLatency {
		w.maxLat[d] = int64(us) * 1000
		w.watched = w.watched || us > 0
	}
	if w.filler, err = workload.NewFiller(j, r.cfg.Jobs...); err != nil {
		return nil, err
	}
	if w.vfy, err = newVerifier(w); err != nil {
		return nil, err
	}
	w.zones = newZones(w)
	return w, nil
}

// description is the job's own, and what the engine wants every report to say.
func description(j *job.Job, d *engines.Driver) string {
	if d.Label == nil {
		return j.Description
	}
	return strings.TrimSpace(j.Description + " " + d.Label(j))
}

// showOptions are the options that decide how the job is reported.
func showOptions(j *job.Job) stats.Show {
	return stats.Show{
		Unified: j.UnifiedRWReporting, SlatPct: j.SlatPercentiles, ClatPct: j.ClatPercentiles, LatPct: j.LatPercentiles,
		Percentiles: j.PercentileList, SigFigs: j.SignificantFigures, KBBase: number(j.KBBase), UnitBase: number(j.UnitBase),
		DisableLat: j.DisableLat, GroupReporting: j.GroupReporting, NoStats: !j.Stats,
	}
}

// number is the value of an option whose allowed values are numbers; 0 when it was not given.
func number(value string) int {
	n, _ := strconv.Atoi(value)
	return n
}

// samplerConfig says how bandwidth and IOPS are sampled, and which of the samples are logged.
func (w *worker) samplerConfig() stats.SamplerConfig {
	var c stats.SamplerConfig
	c.BW, c.IOPS = iolog.SampleTimes(w.job)
	if w.logs == nil {
		return c
	}
	into := func(s *iolog.Series) func(now int64, d job.Dir, rate uint64) int64 {
		if s == nil || s.PerIO() {
			return nil
		}
		c.LogAvg = time.Duration(w.job.LogAvgMsec) * time.Millisecond
		return func(now int64, d job.Dir, rate uint64) int64 {
			bs := uint64(0)
			if w.job.MinBS[d] == w.job.MaxBS[d] {
				bs = w.job.MinBS[d]
			}
			return s.Add(now, rate, d, bs, 0, 0, 0)
		}
	}
	c.BWLog, c.IOPSLog = into(w.logs.Bw), into(w.logs.Iops)
	return c
}

// startDelay draws the start delay: a range is uniform, in fio's stream for it.
func startDelay(j *job.Job) time.Duration {
	lo, hi := j.StartDelay.Low, j.StartDelay.High
	if hi <= lo {
		return lo
	}
	rnd := workload.StreamRand(j, workload.StartDelayStream)
	return time.Duration(rnd.Between(uint64(lo/time.Microsecond), uint64(hi/time.Microsecond))) * time.Microsecond
}

// initHists gives the latencies that are to be measured their histograms.
func (w *worker) initHists() {
	for d := range w.st.Dirs {
		w.st.Dirs[d].Slat.Hist = histIf(w.job.SlatPercentiles)
		w.st.Dirs[d].Clat.Hist = histIf(w.job.ClatPercentiles)
		w.st.Dirs[d].Lat.Hist = histIf(w.job.LatPercentiles)
	}
	w.st.SyncLat = stats.Latency{Hist: new(stats.Hist)}
	for d, values := range w.prios {
		w.st.Dirs[d].Prios = nil
		for _, v := range values {
			p := stats.Prio{Value: v, Latency: stats.Latency{Hist: histIf(w.job.ClatPercentiles || w.job.LatPercentiles)}}
			w.st.Dirs[d].Prios = append(w.st.Dirs[d].Prios, p)
		}
	}
}

func histIf(on bool) *stats.Hist {
	if !on {
		return nil
	}
	return new(stats.Hist)
}

// layOut prepares the job's files.
func (w *worker) layOut() {
	env := layout.Env{
		Print: w.r.print, Stop: w.stopping, ReadOnly: w.r.cfg.ReadOnly, Shared: w.r.locks, Filler: w.filler,
		Group: w.r.cfg.Jobs,
	}
	if w.drv.Sizer != nil {
		env.Sizer = w.drv.Sizer(w.job)
	}
	if w.zones != nil {
		env.Zones = w.zones
	}
	set, err := layout.Prepare(w.job, w.drv, env)
	if errors.Is(err, layout.ErrStopped) {
		w.terminate() // asked to, so it is no error of the job
		return
	}
	if err != nil {
		w.failErr(err, "setup")
		return
	}
	w.set = set
	if w.job.DiskUtil && !w.drv.Traits.Diskless {
		for _, f := range set.Files {
			w.r.disks.Add(f.Name)
		}
	}
}

// main is the life of the worker, from the making of its thread to its end.
func (w *worker) main() {
	defer w.r.alive.Done()
	w.gate.born()
	if w.stopping() {
		w.excuse() // it needs no thread: there may be hundreds to make
	} else {
		w.inThread()
	}
	w.enter(stateFinishing)
	w.finish()
	if began := w.epoch.Load() != 0; began && (w.r.exitAll || w.job.ExitAllOnError && w.st.Error != 0) {
		w.r.terminateFor(w) // as in fio, not for a job that could not be set up
	}
	w.enter(stateExited)
	close(w.ended)
	w.r.notify()
}

// inThread prepares and runs the job on a thread of its own, which ends with the goroutine: priorities and masks set on it
// are then gone.
func (w *worker) inThread() {
	runtime.LockOSThread()
	_ = sys.BlockPreemption() // it fails for bad arguments alone
	w.st.Pid = sys.Gettid()
	w.enter(stateInitialized)
	ready := w.prepare()
	w.excuse()
	if !ready {
		return
	}
	if !w.job.CreateOnly { // fio sets it when the I/O begins
		w.st.LatencyDepth = w.job.IODepth
	}
	if len(w.set.Files) > 0 {
		w.run() // a clone whose files all belong to another has nothing to do
	}
}

// run does the passes of the job until keepRunning says no.
func (w *worker) run() {
	w.begin()
	for first := true; w.keepRunning(); first = false {
		if !first { // the first pass starts with the epoch that rates and samples count from
			w.start = clock.Now()
			if err := w.nextPass(); err != nil {
				break
			}
		}
		w.before = w.loop.bytes()
		if w.vfy != nil {
			if !w.cycle() {
				break
			}
			continue
		}
		w.pass()
		w.passTime()
		if w.st.Error != 0 || w.stopping() {
			break
		}
		if w.loop.bytes() == w.before && !w.drv.Traits.NoIO {
			break // a pass that did nothing: another would not either
		}
	}
	w.end()
}

// begin starts the measured part.
func (w *worker) begin() {
	now := w.released
	if now == 0 {
		now = clock.Now()
	}
	w.start = now
	w.st.JobStart = clockMsAt(w.job.JobStartClockID, now)
	w.usage, _ = w.threadUsage()
	if !w.job.CreateOnly {
		w.lat = newLatTarget(w.job, len(w.loop.ios))
	}
	if w.lat != nil {
		w.watched = true
		w.lat.begin(now, 0)
	}
	w.loop.begin(w, now)
	w.rate.begin(now)
	w.think.begin(now)
	if w.logs != nil {
		w.logs.Begin(now, clockMsAt(w.job.LogAlternateEpochClockID, now))
	}
	w.ramping = w.job.RampTime > 0 || w.job.RampSize > 0
	if w.ramping {
		w.enter(stateRamp)
	} else {
		w.enter(stateRunning)
	}
	w.epoch.Store(now)
}

// clockMsAt is what the kernel's clock with the number showed at a moment of clock.Now, in ms.
func clockMsAt(id int, then int64) int64 {
	const tries = 5 // for a thread that loses its CPU between the two clocks
	ms, ago := int64(0), int64(0)
	for range tries {
		before := clock.Now()
		ms = sys.ClockMs(id)
		now := clock.Now()
		if ago = now - then; now-before < 1e6 {
			break
		}
	}
	return ms - ago/1e6
}

// rampedOver stands for the bytes before a pass in which the counts started over.
const rampedOver = ^uint64(0)

// end stops the measured part: total run time and CPU use.
func (w *worker) end() {
	now := clock.Now()
	w.loop.publish(w, now)
	w.oneByOne(&w.st)
	w.addUsage(&w.st)
	w.latencyResult(&w.st)
	w.st.RunMs = uint64(now-w.epoch.Load()) / 1e6
}

// addUsage stores in j what the thread has used since the start of the measured part.
func (w *worker) addUsage(j *stats.Job) {
	u, err := w.threadUsage()
	if err != nil {
		return
	}
	j.UserNs, j.SysNs = uint64(u.User-w.usage.User), uint64(u.Sys-w.usage.Sys)
	j.Ctx = u.VolCtx + u.InvCtx - w.usage.VolCtx - w.usage.InvCtx
	j.MajFlt, j.MinFlt = u.MajFlt-w.usage.MajFlt, u.MinFlt-w.usage.MinFlt
}

// passTime adds the time of the pass to every direction that did I/O: fio's runtime, rounded up to milliseconds.
func (w *worker) passTime() {
	spent := clock.Now() - w.start
	for d := range w.st.Dirs {
		if w.st.Dirs[d].Bytes == 0 || w.vfy != nil && !w.vfy.takesTime(job.Dir(d)) {
			continue
		}
		w.elapsed[d] += spent
		us := w.elapsed[d] / 1000
		w.st.Dirs[d].Runtime = uint64(us+999) / 1000
	}
	w.start = clock.Now()
}

// keepRunning decides whether there is another pass, as fio does.
func (w *worker) keepRunning() bool {
	switch {
	case w.stopping() || w.st.Error != 0 || w.job.CreateOnly:
		return false
	case w.replay != nil:
		return w.replay.once()
	case w.gen.Full():
		return false
	case w.job.TimeBased:
		return true
	case w.loop.loops < w.job.Loops:
		w.loop.loops++
		return true
	}
	if w.vfy != nil && w.vfy.state != nil && w.job.VerifyOnly {
		return false // the state may end before the job does
	}
	return w.gen.More(w.loop.bytes())
}

// nextPass puts files and generator back to the start.
func (w *worker) nextPass() error {
	w.gen.NextPass()
	w.filler.NextPass()
	w.vfy.rewind()
	if p, ok := w.eng.(engines.PassStarter); ok {
		p.NextPass()
	}
	if w.rate != nil {
		w.rate.pacer.NextPass()
	}
	if w.job.UnlinkEachLoop {
		if err := w.set.UnlinkEachLoop(); err != nil {
			w.failErr(err, "unlink")
			return err
		}
	}
	return nil
}

// fail records the first error that ends the job. fn is what fio calls the function that failed.
func (w *worker) fail(errno syscall.Errno, fn string) {
	if w.st.Error != 0 {
		return
	}
	_, file, line, _ := runtime.Caller(1)
	w.st.Error = int(errno)
	w.st.ErrorText = fmt.Sprintf("file:%s:%d, func=%s, error=%s", filepath.Base(file), line, fn, report.ErrnoText(int(errno)))
}

// failErr records an error of the operating system or of fiord's own checks.
func (w *worker) failErr(err error, fn string) {
	if w.st.Error != 0 {
		return
	}
	errno := syscall.EINVAL
	var e syscall.Errno
	known := errors.As(err, &e)
	if known && e != 0 {
		errno = e
	}
	var fe *layout.FileError
	if errors.As(err, &fe) {
		fn = fe.Func()
	}
	_, file, line, _ := runtime.Caller(1)
	w.st.Error = int(errno)
	w.st.ErrorText = fmt.Sprintf("file:%s:%d, func=%s, error=%s", filepath.Base(file), line, fn, report.ErrnoText(int(errno)))
	w.r.warn("job %q: %v", w.job.Name, err)
	if fe != nil && fe.Hint != "" {
		w.r.warn("  %s", fe.Hint)
	}
	w.refused = fe != nil && fe.Refused
}

// announce prints the line that fio prints when a job ends with an error.
func (w *worker) announce() {
	if w.st.Error != 0 {
		w.r.failed(fmt.Sprintf("fio: pid=%d, err=%d/%s", w.st.Pid, w.st.Error, w.st.ErrorText))
	}
}
