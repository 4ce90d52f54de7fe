package job

import "time"

// MiscOptions holds the rest: errors, cgroups, credentials, units, flows, steady state.
type MiscOptions struct {
	UnifiedRWReporting       string        `fio:"unified_rw_reporting" def:"none" vals:"none|mixed|both|0|1|2" group:"general" help:"Report directions apart (none, default), merged (mixed) or as both"`
	ContinueOnError          string        `fio:"continue_on_error" def:"none" vals:"none|read|write|io|verify|all|0|1" group:"general/err" help:"Kinds of error that do not end the job, such as read, write, verify, io or all"`
	IgnoreError              IgnoreErrors  `fio:"ignore_error" parent:"rw" group:"general/err" help:"Error codes to tolerate, listed for read, write and verify"`
	ErrorDump                bool          `fio:"error_dump" def:"0" group:"general/err" help:"Print errors even when they are ignored; off by default"`
	Profile                  string        `fio:"profile" vals:"act|tiobench" group:"profile" missing:"the act and tiobench profiles are not built yet" help:"Run a predefined workload profile by name"`
	Cgroup                   string        `fio:"cgroup" group:"general/cgroup" missing:"a job is a thread, and the io controller of cgroup v2 takes whole processes only; start fiord inside the group" help:"Place the job in this control group, creating it if needed"`
	CgroupNodelete           bool          `fio:"cgroup_nodelete" def:"0" parent:"cgroup" group:"general/cgroup" missing:"a job is a thread, and the io controller of cgroup v2 takes whole processes only; start fiord inside the group" help:"Keep control groups made for the job after it ends; off by default"`
	CgroupWeight             int           `fio:"cgroup_weight" min:"100" max:"1000" parent:"cgroup" group:"general/cgroup" missing:"a job is a thread, and the io controller of cgroup v2 takes whole processes only; start fiord inside the group" help:"I/O weight given to the control group of the job"`
	UID                      int           `fio:"uid" group:"general/cred" help:"Run the job under this user ID"`
	GID                      int           `fio:"gid" group:"general/cred" help:"Run the job under this group ID"`
	KBBase                   string        `fio:"kb_base" def:"1024" vals:"1024|1000" prio:"1" group:"general" help:"Meaning of size prefixes in input: 1024 for legacy use (default) or 1000 for SI"`
	UnitBase                 string        `fio:"unit_base" vals:"0|8|1" prio:"1" group:"general" help:"Report rates in bytes (8), in bits (1), or choose automatically (0)"`
	HugepageSize             int           `fio:"hugepage-size" def:"2097152" group:"general" help:"Size in bytes of one huge page; default 2097152"`
	FlowID                   int           `fio:"flow_id" def:"0" group:"io/io_flow" help:"Flow group to which the job belongs; default 0"`
	Flow                     int           `fio:"flow" def:"0" max:"1000" parent:"flow_id" group:"io/io_flow" help:"Weight that sets the share of activity of this job in its flow group; 0 disables"`
	FlowWatermark            Deprecated    `fio:"flow_watermark" group:"io/io_flow" deprecated:"soft" help:"Obsolete flow limit setting; accepted but ignored"`
	FlowSleep                int           `fio:"flow_sleep" def:"0" parent:"flow_id" group:"io/io_flow" help:"Pause in microseconds while flow control holds the job back; 0 does not sleep"`
	Steadystate              SteadyState   `fio:"steadystate" alias:"ss" def:"iops_slope:0.01%" vals:"iops|iops_slope|bw|bw_slope|lat|lat_slope" group:"general/runtime" help:"Metric and limit that define steady state; default iops_slope:0.01%"`
	SteadystateDuration      time.Duration `fio:"steadystate_duration" alias:"ss_dur" def:"0" unit:"s" parent:"steadystate" group:"general/runtime" help:"Window for judging steady state, in seconds by default; 0 disables detection"`
	SteadystateRampTime      time.Duration `fio:"steadystate_ramp_time" alias:"ss_ramp" def:"0" unit:"s" parent:"steadystate" group:"general/runtime" help:"Delay before steady state data is gathered, in seconds by default; default 0"`
	SteadystateCheckInterval time.Duration `fio:"steadystate_check_interval" alias:"ss_interval" def:"1" unit:"s" parent:"steadystate" group:"general/runtime" help:"Time between steady state samples, in seconds by default; default 1"`
}
