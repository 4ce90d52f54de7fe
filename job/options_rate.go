package job

import "time"

// RateOptions limits rates and latencies.
type RateOptions struct {
	Rate                PerDir[uint64] `fio:"rate" group:"io/rate" help:"Cap bandwidth at this many bytes per second, optionally per direction"`
	RateMin             PerDir[uint64] `fio:"rate_min" alias:"ratemin" parent:"rate" group:"io/rate" help:"End the job if bandwidth drops below this many bytes per second"`
	RateIOPS            PerDir[int]    `fio:"rate_iops" group:"io/rate" help:"Cap I/O operations per second, optionally per direction"`
	RateIOPSMin         PerDir[int]    `fio:"rate_iops_min" parent:"rate_iops" group:"io/rate" help:"End the job if the operation rate drops below this many IOPS"`
	RateProcess         string         `fio:"rate_process" def:"linear" vals:"linear|poisson" parent:"rate" group:"io/rate" help:"Spacing of rate-limited I/O: linear (default) or poisson"`
	RateCycle           int            `fio:"rate_cycle" alias:"ratecycle" def:"1000" parent:"rate" group:"io/rate" help:"Window in milliseconds over which minimum rates are averaged; default 1000"`
	RateIgnoreThinkTime bool           `fio:"rate_ignore_thinktime" parent:"rate" group:"io/rate" help:"Do not speed up after think time to catch up with the set rate"`
	MaxLatency          PerDir[uint64] `fio:"max_latency" unit:"us" group:"io/latprof" help:"End the job if an I/O takes longer than this, in microseconds unless a unit is given"`
	LatencyTarget       time.Duration  `fio:"latency_target" unit:"us" group:"io/latprof" help:"Search for the queue depth that keeps latency under this, in microseconds by default"`
	LatencyWindow       time.Duration  `fio:"latency_window" unit:"us" group:"io/latprof" help:"Sampling period for the latency target search, in microseconds unless a unit is given"`
	LatencyPercentile   float64        `fio:"latency_percentile" def:"100" min:"0" max:"100" items:"1" group:"io/latprof" help:"Percentage of I/Os that must meet the latency target; default 100"`
	LatencyRun          bool           `fio:"latency_run" def:"0" group:"io/latprof" help:"Keep adjusting depth to the latency target rather than stop once found; off by default"`
}
