package job

import "time"

// RuntimeOptions says how often and how long the job runs, and in which memory.
type RuntimeOptions struct {
	Loops       int           `fio:"loops" def:"1" group:"general/runtime" help:"Repeat the job this many times; default 1"`
	NumJobs     int           `fio:"numjobs" def:"1" group:"general/runtime" help:"Number of identical clones of this job to start; default 1"`
	StartDelay  TimeRange     `fio:"startdelay" def:"0" unit:"s" group:"general/runtime" help:"Wait before starting the job, in seconds unless a unit is given; a range is randomised"`
	Runtime     time.Duration `fio:"runtime" alias:"timeout" def:"0" unit:"s" group:"general/runtime" help:"Stop after this long, in seconds unless a unit is given; 0 (default) sets no limit"`
	TimeBased   bool          `fio:"time_based" flag:"1" group:"general/runtime" help:"Run for the whole runtime, repeating the workload if it finishes early"`
	VerifyOnly  bool          `fio:"verify_only" flag:"1" group:"general/runtime" help:"Check data left by an earlier run of the same workload without writing anything"`
	RampTime    time.Duration `fio:"ramp_time" unit:"s" group:"general/runtime" help:"Warm-up time left out of the statistics, in seconds unless a unit is given"`
	RampSize    uint64        `fio:"ramp_size" min:"1" group:"general/runtime" help:"Amount of warm-up I/O left out of the statistics, in bytes unless a unit is given"`
	ClockSource string        `fio:"clocksource" vals:"gettimeofday|clock_gettime|cpu" group:"general/clock" help:"Clock used for timing: gettimeofday, clock_gettime or cpu"`
	Mem         string        `fio:"mem" alias:"iomem" def:"malloc" vals:"malloc|shm|shmhuge|mmap|mmapshared|mmaphuge" group:"io" help:"Where I/O buffers come from, such as malloc (default), shm, mmap or a hugepage variant"`
	IomemAlign  int           `fio:"iomem_align" alias:"mem_align" def:"0" min:"0" parent:"iomem" group:"io" help:"Byte alignment of the I/O buffers in memory; default 0"`
}
