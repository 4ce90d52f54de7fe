package job

// IologOptions says which I/O logs are written and replayed.
type IologOptions struct {
	WriteIolog           string    `fio:"write_iolog" group:"io/iolog" help:"Record the issued I/O pattern to this file for later replay"`
	ReadIolog            string    `fio:"read_iolog" group:"io/iolog" help:"Replay I/O from this recorded log or blktrace file"`
	ReadIologChunked     bool      `fio:"read_iolog_chunked" def:"0" parent:"read_iolog" group:"io/iolog" help:"Load the replay log piece by piece rather than all at once; off by default"`
	ReplayNoStall        bool      `fio:"replay_no_stall" def:"0" parent:"read_iolog" group:"io/iolog" help:"Replay as fast as possible, keeping order but ignoring the recorded timing"`
	ReplayRedirect       string    `fio:"replay_redirect" parent:"read_iolog" group:"io/iolog" help:"Send all replayed I/O to this one device in place of the recorded ones"`
	ReplayScale          int       `fio:"replay_scale" def:"1" parent:"read_iolog" group:"io/iolog" help:"Divide replayed byte offsets by this factor; default 1"`
	ReplayAlign          int       `fio:"replay_align" parent:"read_iolog" group:"io/iolog" help:"Align replayed byte offsets to this power of two"`
	ReplayTimeScale      int       `fio:"replay_time_scale" def:"100" min:"1" parent:"read_iolog" group:"io/iolog" help:"Replay speed as a percentage of the recorded rate; default 100"`
	ReplaySkip           DirSet    `fio:"replay_skip" parent:"read_iolog" group:"io/iolog" help:"Comma-separated I/O kinds left out of replay: read, write, trim, sync"`
	MergeBlktraceFile    string    `fio:"merge_blktrace_file" group:"io/iolog" help:"Combine several blktrace logs into this file and replay the result"`
	MergeBlktraceScalars []float64 `fio:"merge_blktrace_scalars" items:"20" group:"io/iolog" help:"Percentage by which to scale event times of each trace being merged"`
	MergeBlktraceIters   []float64 `fio:"merge_blktrace_iters" items:"20" group:"io/iolog" help:"Number of times each trace is repeated in the merge"`
	ExecPrerun           string    `fio:"exec_prerun" group:"general" help:"Shell command to run before the job starts"`
	ExecPostrun          string    `fio:"exec_postrun" group:"general" help:"Shell command to run after the job ends"`
	IOScheduler          string    `fio:"ioscheduler" group:"file" help:"Switch the target device to this kernel I/O scheduler before running"`
}
