// Package report renders a Result: normal, terse, json, json+, table, csv, openmetrics and the live status line.
//
// It owns fio's output formats: key names, order, layout, rounding. It computes nothing but what a format shows, and
// must not know how a job ran.
package report

import (
	"time"

	"fiord/internal/environ"
	"fiord/job"
	"fiord/stats"
)

// Result is everything a run reports. All formats render the same Result.
type Result struct {
	Version     string // "fio-3.42-fiord-0.1.0"
	Time        time.Time
	Jobs        []Job
	Groups      []stats.Group
	Disks       []stats.Disk
	ShowDisk    bool          // false with disk_util=0 everywhere
	Global      []job.Setting // JSON "global options"; empty: the key is absent
	Warnings    []string
	Failed      int  // jobs that ended with an error: fio's exit status
	Interrupted bool // ended by a signal: fio's exit status is 128 more
	Final       bool // false for --status-interval dumps
	Run         RunInfo
	Env         *environ.Environment // nil: not gathered
	Idle        *Idle                // --idle-prof; nil: not asked for
}

// Job is one row of the report: a job, or a group merged by group_reporting.
type Job struct {
	stats.Job
	Given  []job.Setting // JSON "job options"; empty: the key is absent
	EtaSec uint64
}

// RunInfo describes the run as a whole, for fiord's own JSON keys.
type RunInfo struct {
	Kernel, CPU string
	GOMAXPROCS  int
	Clock       string
}

// Idle is what --idle-prof measured, in percent of idle time.
type Idle struct {
	System               float64
	PerCPU               []float64 // nil unless percpu was asked for
	CPUs                 []int     // the numbers of those CPUs
	UnitMean, UnitStdDev float64   // microseconds of one unit of the calibration work
}

// EtaNone as Status.EtaSec says that it is too early for an estimate: the line then ends after its rate limits, as
// fio's does in the first three seconds.
const EtaNone = 1<<31 - 1

// Status is the state of a run for the live line.
type Status struct {
	Jobs                      int    // jobs in the run
	Running                   int    // jobs set up or running
	Files                     int    // open files
	Letters                   string // one letter a job in thread order, fio's: P I C p R W M ... _
	Elapsed                   time.Duration
	EtaSec                    int64             // -1 unknown, EtaNone: too early to say
	Percent                   float64           // done, 0..100; below 0 unknown
	Rate                      [job.NDirs]uint64 // bytes/s
	IOPS                      [job.NDirs]uint64
	WantRate, WantIOPS        uint64 // summed rate limits, 0: none
	MinRate, MinIOPS          uint64 // summed least rates (rate_min, rate_iops_min), 0: none
	UnitBase, KBBase, SigFigs int
	Ramp                      bool
}
