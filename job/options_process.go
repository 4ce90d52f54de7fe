package job

// ProcessOptions says how the mix, the priority and the pauses of a job are set.
type ProcessOptions struct {
	LockMem             uint64     `fio:"lockmem" def:"0" group:"general" help:"Amount of memory to pin in bytes, to mimic a machine with less RAM; default 0"`
	RWMixRead           int        `fio:"rwmixread" inverse:"rwmixwrite" def:"50" max:"100" group:"io/rwmix" help:"Share of reads in a mixed workload, as a percentage; default 50"`
	RWMixWrite          int        `fio:"rwmixwrite" inverse:"rwmixread" def:"50" max:"100" group:"io/rwmix" help:"Share of writes in a mixed workload, as a percentage; default 50"`
	Rwmixcycle          Deprecated `fio:"rwmixcycle" group:"io/rwmix" deprecated:"hard" help:"Obsolete setting that no longer has any effect"`
	Comm                string     `fio:"comm" group:"general/desc" help:"Name given to the job process or thread as seen by system tools"`
	Nice                int        `fio:"nice" def:"0" min:"-20" max:"19" group:"general/cred" help:"Scheduling nice value the job runs with; default 0"`
	Prio                int        `fio:"prio" min:"0" max:"7" group:"general/cred" help:"I/O priority value within the class; a lower number is a higher priority"`
	PrioClass           int        `fio:"prioclass" min:"0" max:"3" group:"general/cred" help:"I/O priority class of the job, as a number used by ionice"`
	PrioHint            int        `fio:"priohint" min:"0" max:"1023" group:"general/cred" help:"I/O priority hint of the job, for example to choose a command duration limit"`
	ThinkTime           int        `fio:"thinktime" def:"0" unit:"us" group:"io/thinktime" help:"Pause after I/O completes, in microseconds unless a unit is given; default 0"`
	ThinkTimeSpin       int        `fio:"thinktime_spin" def:"0" unit:"us" parent:"thinktime" group:"io/thinktime" help:"Part of the think time spent busy on the CPU, in microseconds; default 0"`
	Thinkcycles         int        `fio:"thinkcycles" def:"0" parent:"thinktime" group:"io/thinktime" help:"Number of CPU cycles to stall after each I/O completes; default 0"`
	ThinkTimeBlocks     int        `fio:"thinktime_blocks" def:"1" parent:"thinktime" group:"io/thinktime" help:"Number of blocks between think time pauses; default 1"`
	ThinkTimeBlocksType string     `fio:"thinktime_blocks_type" def:"complete" vals:"complete|issue" parent:"thinktime" group:"io/thinktime" help:"Count think time blocks on complete (default) or on issue"`
	ThinkTimeIotime     int        `fio:"thinktime_iotime" def:"0" unit:"s" parent:"thinktime" group:"io/thinktime" help:"Do I/O for this long between think time pauses, in seconds unless a unit is given"`
}
