package job

// BasicOptions names the job and says what kind of I/O it does, how, and on what.
type BasicOptions struct {
	Description             string `fio:"description" group:"general/desc" help:"Free-form text describing the job; it has no effect on the run"`
	Name                    string `fio:"name" group:"general/desc" help:"Name that identifies this job in output and in generated file names"`
	WaitFor                 string `fio:"wait_for" group:"general/desc" help:"Hold this job back until every worker of the named job has finished"`
	Filename                string `fio:"filename" maxlen:"4096" prio:"-1" group:"file/filename" help:"Target file or device to use; separate several with colons"`
	FileType                string `fio:"filetype" def:"none" vals:"none|file|block|char" group:"file/io_basic" help:"Treat all files as this type (file, block or char) and skip detecting it; default none"`
	Directory               string `fio:"directory" group:"file/filename" help:"Directory prepended to file names; a colon-separated list spreads clones over several"`
	FilenameFormat          string `fio:"filename_format" def:"$jobname.$jobnum.$filenum" prio:"-1" group:"file/filename" help:"Template for generated file names; default $jobname.$jobnum.$filenum"`
	UniqueFilename          bool   `fio:"unique_filename" def:"1" group:"file/filename" help:"For network clients, prefix generated file names with the client address; on by default"`
	LockFile                string `fio:"lockfile" def:"none" vals:"none|exclusive|readwrite" parent:"filename" prio:"1" group:"file/filename" help:"Lock files around I/O: none (default), exclusive, or readwrite"`
	OpenDir                 string `fio:"opendir" group:"file/filename" help:"Add every file found under this one directory tree to the job"`
	RW                      RWMode `fio:"rw" alias:"readwrite" def:"read" vals:"read|write|trim|randread|randwrite|randtrim|rw|readwrite|randrw|trimwrite|randtrimwrite" group:"io/io_basic" help:"I/O direction and pattern, such as read, randwrite or randrw; default read"`
	RWSequencer             string `fio:"rw_sequencer" def:"sequential" vals:"sequential|identical" group:"io/io_basic" help:"How an offset count on rw picks offsets: sequential (default) or identical"`
	IOEngine                string `fio:"ioengine" def:"psync" group:"io/io_basic" help:"Method used to issue I/O, such as psync, libaio or io_uring; default psync"`
	IODepth                 int    `fio:"iodepth" def:"1" min:"1" group:"io/io_basic" help:"Most requests an async engine may have outstanding at once; default 1"`
	IODepthBatch            int    `fio:"iodepth_batch" alias:"iodepth_batch_submit" def:"1" parent:"iodepth" group:"io/io_basic" help:"Number of I/Os to hand to the engine in one submission; default 1"`
	IODepthBatchCompleteMin int    `fio:"iodepth_batch_complete_min" alias:"iodepth_batch_complete" def:"1" min:"0" parent:"iodepth" group:"io/io_basic" help:"Fewest completions to collect in one reap; default 1, 0 means do not wait"`
	IODepthBatchCompleteMax int    `fio:"iodepth_batch_complete_max" min:"0" parent:"iodepth" group:"io/io_basic" help:"Most completions to collect in one reap; defaults to the minimum setting"`
	IODepthLow              int    `fio:"iodepth_low" parent:"iodepth" group:"io/io_basic" help:"Queue level to drain to before filling it again; defaults to iodepth"`
	SerializeOverlap        bool   `fio:"serialize_overlap" def:"0" parent:"iodepth" group:"io/io_basic" help:"Avoid having in-flight I/Os that touch overlapping ranges; off by default"`
	IOSubmitMode            string `fio:"io_submit_mode" def:"inline" vals:"inline|offload" group:"io/io_basic" help:"Submit I/O from the job thread (inline, default) or from separate threads (offload)"`
}
