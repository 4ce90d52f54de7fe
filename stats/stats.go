// Package stats holds what was measured.
//
// It owns histograms, sums, percentiles, samples and their merging, in fio's shapes so that percentiles agree to the
// digit, and what the block devices did. It must not know how anything is formatted, and takes no time itself except
// between looks at a block device.
package stats

import "fiord/job"

// Latency is one kind of latency in one direction, in nanoseconds. Hist is nil where no percentiles were asked for.
type Latency struct {
	Sum
	Hist *Hist
}

// PerSecond is n events in ms milliseconds, by whole numbers as fio divides. fio differs: 1000*n wraps around there, which
// the null engine reaches with large blocks.
func PerSecond(n, ms uint64) uint64 {
	if ms == 0 {
		return 0
	}
	return n/ms*1000 + n%ms*1000/ms
}

// Dir is what one job, or a group, did in one direction.
type Dir struct {
	IOs     uint64 // completed I/Os (fio's total_ios)
	Bytes   uint64 // bytes moved
	Short   uint64 // short transfers
	Dropped uint64 // I/Os dropped
	Runtime uint64 // milliseconds in which this direction ran

	Slat, Clat, Lat Latency
	BW, IOPS        Sample
	BWAgg           float64 // this direction's mean as percent of the group's
	Prios           []Prio  // per I/O priority, where several were used
}

// Prio is the completion (or total) latency of the I/Os of one priority.
type Prio struct {
	Value uint16 // ioprio value
	Latency
}

// Job is what one job measured, or what a group of jobs did when merged by group_reporting.
type Job struct {
	Name, Desc string
	Group      int
	Number     int    // thread number
	Pid        int    // thread id of the worker
	Members    int    // jobs merged into this one
	Last       int    // thread number of the last of them, whose options the report shows
	IOPrio     uint16 // the job's own ioprio value, which I/Os without one of their own have
	JobStart   int64  // ms since the epoch (or of job_start_clock_id)
	Error      int    // first errno that ended the job
	ErrorText  string // what failed, for the report
	Elapsed    uint64 // seconds since the start of the run, rounded up as fio does

	FirstError int    // first error that continue_on_error passed over
	TotalErr   uint64 // how many it passed over
	Continue   bool   // continue_on_error was on

	Dirs    [job.NDirs]Dir
	SyncIOs uint64
	SyncLat Latency
	RunMs   uint64 // total run time in ms, JSON job_runtime

	UserNs, SysNs       uint64 // CPU time of the worker
	Ctx, MajFlt, MinFlt uint64

	Depth          [7]uint64 // I/Os issued at depth 1,2,4,..,>=64 (fio's io_u_map)
	Submit         [7]uint64 // submits of 0,1-4,5-8,9-16,17-32,33-64,>=65 I/Os
	Complete       [7]uint64 // the same of reaps
	Submits, Reaps uint64    // totals behind Submit and Complete

	LatNs, LatUs [10]uint64 // completion latencies below 2,4,10,20,50,100,250,500,750,1000
	LatMs        [12]uint64 // and below 2 s, and more

	Opt Show // what decides how it is shown

	LatencyDepth                     int
	LatencyTargetNs, LatencyWindowUs uint64
	LatencyPercentile                float64

	Steady          *Steady // nil without steadystate
	ZoneResets      uint64
	CountZoneResets bool

	Extra Extra // fiord's own numbers
}

// Show is how a job asked to be reported.
type Show struct {
	Unified                  string // none, mixed, both
	SlatPct, ClatPct, LatPct bool
	Percentiles              []float64 // as listed, see PercentileList
	SigFigs                  int
	KBBase, UnitBase         int
	DisablePrio              bool
	DisableLat               bool
	GroupReporting           bool // merged with its neighbours in the group
	NoStats                  bool // stats=0: left out of the report
}

// Extra is what fiord reports beyond fio, under the JSON key "fiord".
type Extra struct {
	SubmitCalls, ReapCalls  uint64   // system calls
	SubmittedIOs, ReapedIOs uint64   // I/Os they carried
	Features                []string // kernel features that were really on
	GCCycles                uint64   // collector cycles inside the run
	Clock                   string   // clock source
	CountsCalls             bool     // the engine counts its system calls; else SubmitCalls and ReapCalls say nothing
	CPUs                    []int    // CPUs that the worker could run on, ascending; nil: not asked for
}

// Steady is the state of a steadystate search.
type Steady struct {
	Kind                        string
	Limit                       float64
	Percent                     bool
	Attained                    bool
	DurationMs                  uint64
	Slope, Deviation, Criterion float64
	IOPS, BW, Lat               []uint64
}

// Group is what the jobs of one group did together in each direction, for the "Run status group" lines.
type Group struct {
	MinRun, MaxRun   [job.NDirs]uint64 // ms
	MinBW, MaxBW     [job.NDirs]uint64 // bytes/s
	Bytes            [job.NDirs]uint64
	AggBW            [job.NDirs]uint64 // bytes/s
	KBBase, UnitBase int
	Unified          string
	Index            int
	SigFigs          int // digits of numbers in the normal report, 0: 4
}

// Disk is what one block device did during the run, from /sys/block/NAME/stat.
type Disk struct {
	Name                        string
	IOs, Merges, Sectors, Ticks [2]uint64 // read, write
	InQueue                     uint64
	IOTicks                     uint64  // ms
	Ms                          uint64  // length of the run
	Util                        float64 // percent
	Slaves                      []Disk
	Agg                         *DiskAgg // averages over Slaves
}

// DiskAgg are a disk's slaves together.
type DiskAgg struct {
	IOs, Merges, Sectors, Ticks [2]uint64
	InQueue                     uint64
	IOTicks                     uint64
	MaxUtil                     float64
	SlaveCount                  int
}
