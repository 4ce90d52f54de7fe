// Package run runs jobs: file layout, worker threads, the hot loop, ramp, stonewall, signals and cleanup.
//
// It owns the schedule and the workers. It must not know how options are spelt or how results are rendered.
package run

import (
	"time"

	"fiord/engines"
	"fiord/job"
	"fiord/report"
)

// Config is one run.
type Config struct {
	Jobs     []*job.Job
	Global   []job.Setting
	Drivers  []*engines.Driver
	Version  string
	ReadOnly bool

	BandwidthLog string        // prefix of the aggregate bandwidth logs; empty: none
	Interval     time.Duration // between status dumps; 0: none

	// Live, when not nil, is given the state of the run every 500 ms or so, from the helper's goroutine.
	Live func(report.Status)
	// Dump, when not nil, is given a mid-run result every Interval and on each value of Report.
	Dump   func(*report.Result)
	Report <-chan struct{}
	// Stop asks for an orderly end at the first value, for an immediate one at the second.
	Stop <-chan struct{}
	// Print takes the lines that fio prints while it runs, such as "x: Laying out IO file"; no newline at the end.
	Print func(line string)
}

// Run runs the jobs and returns the result, also when jobs failed. The error is for what kept the run from starting.
func Run(cfg Config) (*report.Result, error) { panic("to be written") }
