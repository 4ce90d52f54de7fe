package run

import (
	"errors"
	"runtime"
	"time"

	"fiord/clock"
	"fiord/internal/sys"
	"fiord/job"
	"fiord/report"
	"fiord/stats"
)

// result makes the report of the run: final, or of the moment.
func (r *runner) result(final bool) *report.Result {
	var jobs []*stats.Job
	if final {
		for _, w := range r.workers {
			w.sampler.Store(&w.st)
			jobs = append(jobs, &w.st)
		}
	} else {
		jobs = r.snapshots()
		for i, w := range r.workers {
			w.sampler.Store(jobs[i])
		}
	}
	now := clock.Now()
	res := &report.Result{Version: r.cfg.Version, Time: time.Now(), Global: r.cfg.Global, Final: final,
		Run: report.RunInfo{Kernel: sys.KernelRelease(), CPU: sys.CPUModel(), GOMAXPROCS: runtime.GOMAXPROCS(0), Clock: clock.Source()}}
	cycles := uint64(collections() - r.collections)
	for i, j := range jobs {
		if u := r.workers[i].steady; u != nil {
			j.Steady = u.search.State()
		}
		j.Extra.GCCycles = cycles
		j.Elapsed = uint64(now-r.genesis)/1e9 + 1
		if w := r.workers[i]; w.refused && j.Error != 0 {
			c := *j
			c.Error = 0
			j, jobs[i] = &c, &c
			if final {
				res.Failed++
			}
		} else if final && w.st.Error != 0 {
			res.Failed++
		}
	}
	rows, groups := stats.BuildGroups(jobs)
	res.Groups = groups
	for _, row := range rows {
		res.Jobs = append(res.Jobs, report.Job{Job: *row, Given: r.given(row.Last), EtaSec: r.etaFor(final, now)})
	}
	r.disksInto(res)
	if final && r.cfg.Environment {
		res.Env = r.environment()
	}
	res.Idle, _ = r.idle.read() // the end has told of an error
	r.mu.Lock()
	res.Warnings = append(stats.BaseNotes(jobs), r.warnings...)
	res.Interrupted = r.interrupted
	r.mu.Unlock()
	return res
}

// etaFor is the JSON key eta: fio's INT_MAX while there is no estimate and when the run is over early.
func (r *runner) etaFor(final bool, now int64) uint64 {
	if final {
		if now-r.genesis < settle*int64(time.Second) {
			return report.EtaNone
		}
		return 0
	}
	return uint64(max(0, r.eta(now)))
}

// given are the options as given of the job with the thread number.
func (r *runner) given(number int) []job.Setting {
	for _, w := range r.workers {
		if w.job.Number == number {
			return w.job.Given
		}
	}
	return nil
}

// disksInto adds the devices unless every job said disk_util=0.
func (r *runner) disksInto(res *report.Result) {
	for _, w := range r.workers {
		res.ShowDisk = res.ShowDisk || w.job.DiskUtil
	}
	if res.ShowDisk {
		res.Disks = r.disks.Result()
	}
}

// closeLogs ends what the jobs share.
func (r *runner) closeLogs() error {
	var errs []error
	for _, w := range r.workers {
		if w.logs != nil {
			errs = append(errs, w.logs.Close(clock.Now()))
		}
	}
	if r.agg != nil {
		errs = append(errs, r.agg.Close())
	}
	return errors.Join(errs...)
}
