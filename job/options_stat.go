package job

// StatOptions says what is measured and reported.
type StatOptions struct {
	ClatPercentiles      bool      `fio:"clat_percentiles" def:"1" group:"stat" help:"Report percentiles of completion latency; on by default"`
	LatPercentiles       bool      `fio:"lat_percentiles" def:"0" group:"stat" help:"Report percentiles of total latency; off by default"`
	SlatPercentiles      bool      `fio:"slat_percentiles" def:"0" group:"stat" help:"Report percentiles of submission latency; off by default"`
	PercentileList       []float64 `fio:"percentile_list" def:"1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99" min:"0" max:"100" items:"20" group:"stat" help:"Colon-separated percentiles to report, up to 20 values from 0 to 100"`
	SignificantFigures   int       `fio:"significant_figures" def:"4" min:"1" max:"10" group:"stat" help:"Digits of precision for values in normal text output; default 4"`
	DiskUtil             bool      `fio:"disk_util" def:"1" group:"stat" help:"Collect disk utilisation figures where supported; on by default"`
	GTODReduce           bool      `fio:"gtod_reduce" def:"0" group:"stat" help:"Make fewer clock calls by turning off most latency and bandwidth measurement"`
	DisableLat           bool      `fio:"disable_lat" def:"0" parent:"gtod_reduce" group:"stat" help:"Skip measurement of total latency; off by default"`
	DisableClat          bool      `fio:"disable_clat" def:"0" parent:"gtod_reduce" group:"stat" help:"Skip measurement of completion latency; off by default"`
	DisableSlat          bool      `fio:"disable_slat" def:"0" parent:"gtod_reduce" group:"stat" help:"Skip measurement of submission latency; off by default"`
	DisableBWMeasurement bool      `fio:"disable_bw_measurement" alias:"disable_bw" def:"0" parent:"gtod_reduce" group:"stat" help:"Skip bandwidth sampling; off by default"`
	GTODCPU              int       `fio:"gtod_cpu" missing:"each thread reads its own clock; there is no thread that reads it for others" group:"general/clock" help:"Dedicate this CPU to reading the clock on behalf of the jobs"`
	JobStartClockID      int       `fio:"job_start_clock_id" group:"general/clock" help:"Clock ID used for the job start time in JSON; default 0, the realtime clock"`
}
