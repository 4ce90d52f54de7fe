package iolog

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"fiord/job"
)

// JobLogs are the series of one job; those that the job does not ask for are nil. Slat, Clat, Lat and Hist belong to
// the worker's goroutine, and so do Bw and Iops where PerIO; else those belong to whoever samples.
type JobLogs struct {
	Bw, Iops, Slat, Clat, Lat *Series
	Hist                      *HistLog
	sampled                   []*Series // of Bw and Iops those that a sampler writes; never changed
	alternate                 bool
}

// NewJobLogs opens the logs that the job asks for, nil when there are none. Files that earlier jobs of the run opened
// for several jobs (per_job_logs=0) are found in shared.
func NewJobLogs(j *job.Job, shared *Registry) (*JobLogs, error) {
	if j.LogIssueTime && (!j.WriteLatLog.On || !j.LogOffset) {
		return nil, errors.New("log_issue_time: needs write_lat_log and log_offset")
	}
	if j.LogStoreCompressed && j.WriteHistLog.On {
		return nil, errors.New("log_store_compressed: the format of compressed logs has no place for the histograms of write_hist_log")
	}
	b := builder{job: j, shared: shared}
	l := &JobLogs{alternate: j.LogAlternateEpoch}
	if j.WriteLatLog.On {
		if !disabled(j, "disable_lat", j.DisableLat) {
			b.series(&l.Lat, j.WriteLatLog, "lat", b.config(j.LogAvgMsec, false))
		}
		if !disabled(j, "disable_slat", j.DisableSlat) {
			b.series(&l.Slat, j.WriteLatLog, "slat", b.config(j.LogAvgMsec, false))
		}
		if !disabled(j, "disable_clat", j.DisableClat) {
			b.series(&l.Clat, j.WriteLatLog, "clat", b.config(j.LogAvgMsec, false))
		}
	}
	if j.WriteHistLog.On {
		if f := b.open(j.WriteHistLog, "clat_hist"); f != nil {
			l.Hist = newHistLog(f, int64(j.LogHistMsec), j.LogHistCoarseness)
			b.opened++
		}
	}
	if j.WriteBWLog.On {
		b.series(&l.Bw, j.WriteBWLog, "bw", b.config(rateWindow(j, "bwavgtime", j.BWAvgTime), true))
	}
	if j.WriteIOPSLog.On {
		b.series(&l.Iops, j.WriteIOPSLog, "iops", b.config(rateWindow(j, "iopsavgtime", j.IOPSAvgTime), true))
	}
	if b.err != nil {
		return nil, errors.Join(b.err, l.Close(0))
	}
	if b.opened == 0 {
		return nil, nil
	}
	for _, s := range []*Series{l.Bw, l.Iops} {
		if s != nil && !s.PerIO() {
			l.sampled = append(l.sampled, s)
		}
	}
	return l, nil
}

// SampleTimes are the periods in which bandwidth and IOPS are sampled: bwavgtime and iopsavgtime, but log_avg_msec for
// a job that logs them and does not give these (fio's add_job). They are 0 where each I/O is a sample of its own,
// because the log has a line for each.
func SampleTimes(j *job.Job) (bw, iops time.Duration) {
	return sampleTime(j, j.WriteBWLog.On, "bwavgtime", j.BWAvgTime), sampleTime(j, j.WriteIOPSLog.On, "iopsavgtime", j.IOPSAvgTime)
}

func sampleTime(j *job.Job, logged bool, option string, ms int) time.Duration {
	if logged && (rateWindow(j, option, ms) == 0 || !j.IsSet(option)) {
		ms = rateWindow(j, option, ms)
	}
	return time.Duration(ms) * time.Millisecond
}

// rateWindow is the averaging window of a bandwidth or IOPS log.
func rateWindow(j *job.Job, option string, value int) int {
	if j.IsSet(option) {
		return min(j.LogAvgMsec, value)
	}
	return j.LogAvgMsec
}

// disabled reports whether a latency is not measured; gtod_reduce stands for all that are not set apart.
func disabled(j *job.Job, option string, value bool) bool {
	return value || j.GTODReduce && !j.IsSet(option)
}

// builder opens the logs of a job until one fails.
type builder struct {
	job    *job.Job
	shared *Registry
	opened int
	err    error
}

func (b *builder) config(avgMs int, slack bool) config {
	j := b.job
	c := config{avgMs: int64(avgMs), entries: j.LogEntries, offset: j.LogOffset, prio: j.LogPrio, issue: j.LogIssueTime,
		compress: j.LogCompression, store: j.LogStoreCompressed, cpus: []int(j.LogCompressionCPUs), slack: slack}
	if c.store && c.compress == 0 {
		c.compress = defaultCompression
	}
	switch j.LogWindowValue {
	case "max", "1":
		c.window = Maximum
	case "both":
		c.window = Both
	}
	return c
}

func (b *builder) series(s **Series, name job.LogName, kind string, c config) {
	if f := b.open(name, kind); f != nil {
		*s = newSeries(f, c)
		b.opened++
	}
}

// defaultCompression is log_compression of a job that has log_store_compressed alone.
const defaultCompression = 1 << 20

// open opens PREFIX_KIND.NUMBER.log, or PREFIX_KIND.log where all jobs share it. Compressed logs end in .log.fz.
func (b *builder) open(name job.LogName, kind string) *file {
	if b.err != nil {
		return nil
	}
	path := logPath(b.job, name, kind)
	f, err := b.shared.open(path, !b.job.PerJobLogs)
	b.err = err
	return f
}

// logPath is the file of a log.
func logPath(j *job.Job, name job.LogName, kind string) string {
	prefix := name.Prefix
	if prefix == "" {
		prefix = j.Name
	}
	suffix := "log"
	if j.LogStoreCompressed {
		suffix = "log.fz"
	}
	if !j.PerJobLogs {
		return fmt.Sprintf("%s_%s.%s", prefix, kind, suffix)
	}
	return fmt.Sprintf("%s_%s.%d.%s", prefix, kind, j.Number, suffix)
}

// LogPath is a log that a job writes, and the option that asks for it.
type LogPath struct{ Option, Path string }

// LogPaths lists the files that NewJobLogs may open.
func LogPaths(j *job.Job) []LogPath {
	var out []LogPath
	for _, l := range []struct {
		option string
		name   job.LogName
		kinds  []string
	}{
		{"write_lat_log", j.WriteLatLog, []string{"lat", "slat", "clat"}},
		{"write_hist_log", j.WriteHistLog, []string{"clat_hist"}},
		{"write_bw_log", j.WriteBWLog, []string{"bw"}},
		{"write_iops_log", j.WriteIOPSLog, []string{"iops"}},
	} {
		for _, kind := range l.kinds {
			if l.name.On {
				out = append(out, LogPath{l.option, logPath(j, l.name, kind)})
			}
		}
	}
	return out
}

// all are the series that there are.
func (l *JobLogs) all() []*Series {
	var out []*Series
	for _, s := range []*Series{l.Bw, l.Lat, l.Slat, l.Clat, l.Iops} {
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}

// Begin sets when time 0 is of the logs that the worker writes, as a clock.Now value. epochMs is the time by
// log_alternate_epoch_clock_id at that moment; it counts only with log_alternate_epoch. It must come before the first Add
// of any of them.
func (l *JobLogs) Begin(now, epochMs int64) {
	if !l.alternate {
		epochMs = 0
	}
	for _, s := range l.all() {
		if !slices.Contains(l.sampled, s) {
			s.Begin(now, epochMs)
		}
	}
	if l.Hist != nil {
		l.Hist.Begin(now, epochMs)
	}
}

// BeginSampled is Begin for the logs that a sampler writes. It is the sampler's to call.
func (l *JobLogs) BeginSampled(now, epochMs int64) {
	if !l.alternate {
		epochMs = 0
	}
	for _, s := range l.sampled {
		s.Begin(now, epochMs)
	}
}

// CloseWorker closes, as of now, the logs that the worker writes. A closed log is nil afterwards.
func (l *JobLogs) CloseWorker(now int64) error {
	var errs []error
	for _, s := range []**Series{&l.Lat, &l.Slat, &l.Clat} {
		errs = append(errs, closeSeries(s, now))
	}
	for _, s := range []**Series{&l.Bw, &l.Iops} {
		if *s != nil && (*s).PerIO() {
			errs = append(errs, closeSeries(s, now))
		}
	}
	if l.Hist != nil {
		errs = append(errs, l.Hist.Close())
		l.Hist = nil
	}
	return errors.Join(errs...)
}

// CloseSampled closes, as of now, the bandwidth and IOPS logs that a sampler writes. A closed log is nil afterwards.
func (l *JobLogs) CloseSampled(now int64) error {
	var errs []error
	for _, s := range []**Series{&l.Bw, &l.Iops} {
		if *s != nil && !(*s).PerIO() {
			errs = append(errs, closeSeries(s, now))
		}
	}
	return errors.Join(errs...)
}

// Close closes, as of now, all logs still open.
func (l *JobLogs) Close(now int64) error {
	return errors.Join(l.CloseWorker(now), l.CloseSampled(now))
}

func closeSeries(s **Series, now int64) error {
	if *s == nil {
		return nil
	}
	err := (*s).Close(now)
	*s = nil
	return err
}
