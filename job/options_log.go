package job

// LogOptions says which time series are written.
type LogOptions struct {
	PerJobLogs               bool    `fio:"per_job_logs" def:"1" group:"log" help:"Write separate log files for each clone; on by default"`
	WriteBWLog               LogName `fio:"write_bw_log" group:"log" help:"Log bandwidth over time, to files with this prefix or the job name"`
	WriteLatLog              LogName `fio:"write_lat_log" group:"log" help:"Log latencies over time, to files with this prefix or the job name"`
	WriteIOPSLog             LogName `fio:"write_iops_log" group:"log" help:"Log operation rate over time, to files with this prefix or the job name"`
	LogEntries               int     `fio:"log_entries" def:"1024" min:"1024" max:"1048576" group:"log" help:"Number of log records allocated up front; default 1024"`
	LogAvgMsec               int     `fio:"log_avg_msec" def:"0" group:"log" help:"Aggregate log samples over this many milliseconds; 0 (default) logs each I/O"`
	LogHistMsec              int     `fio:"log_hist_msec" def:"0" group:"log" help:"Milliseconds between latency histogram log records; 0 (default) disables them"`
	LogHistCoarseness        int     `fio:"log_hist_coarseness" def:"0" min:"0" max:"6" group:"log" help:"Histogram log resolution from 0 to 6, each step halving the bins; default 0"`
	WriteHistLog             LogName `fio:"write_hist_log" group:"log" help:"Log completion latency histograms, to files with this prefix or the job name"`
	LogWindowValue           string  `fio:"log_window_value" alias:"log_max_value" def:"avg" vals:"avg|max|both|0|1" group:"log" help:"Value logged per averaging window: avg (default), max or both"`
	LogOffset                bool    `fio:"log_offset" def:"0" group:"log" help:"Include the byte offset of each I/O in the logs; off by default"`
	LogPrio                  bool    `fio:"log_prio" def:"0" group:"log" help:"Include the I/O priority of each entry in the logs; off by default"`
	LogIssueTime             bool    `fio:"log_issue_time" def:"0" group:"log" help:"Include the time each command was issued in the logs; off by default"`
	LogCompression           int     `fio:"log_compression" min:"1024" max:"536870912" group:"log" help:"Compress log data in memory once it reaches this many bytes"`
	LogCompressionCPUs       CPUSet  `fio:"log_compression_cpus" parent:"log_compression" group:"log" help:"CPUs on which log compression may run"`
	LogStoreCompressed       bool    `fio:"log_store_compressed" group:"log" help:"Leave the stored log files compressed; off by default"`
	LogAlternateEpoch        bool    `fio:"log_alternate_epoch" alias:"log_unix_epoch" group:"log" help:"Use timestamps of the chosen clock in logs rather than time since job start"`
	LogAlternateEpochClockID int     `fio:"log_alternate_epoch_clock_id" group:"log" help:"Clock ID for alternate log timestamps; default 0, the realtime clock"`
	BlockErrorPercentiles    bool    `fio:"block_error_percentiles" def:"0" group:"log" missing:"block error percentiles are not built yet" help:"Track trim block errors and print a histogram of trims until failure"`
	BWAvgTime                int     `fio:"bwavgtime" def:"500" parent:"write_bw_log" group:"log" help:"Bandwidth averaging window in milliseconds; default 500"`
	IOPSAvgTime              int     `fio:"iopsavgtime" def:"500" parent:"write_iops_log" group:"log" help:"IOPS averaging window in milliseconds; default 500"`
	GroupReporting           bool    `fio:"group_reporting" flag:"1" group:"stat" help:"Show combined results for each group rather than for each job"`
	Stats                    bool    `fio:"stats" def:"1" group:"stat" help:"Include this job in the reported statistics; on by default"`
}
