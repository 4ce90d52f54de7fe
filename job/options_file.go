package job

// FileOptions says which files there are and how they are synced.
type FileOptions struct {
	NrFiles         int         `fio:"nrfiles" alias:"nr_files" def:"1" group:"file" help:"Number of files each job works on; default 1"`
	OpenFiles       int         `fio:"openfiles" group:"file" help:"Limit on files held open at once; defaults to nrfiles"`
	FileServiceType FileService `fio:"file_service_type" def:"roundrobin" vals:"random|zipf|pareto|normal|gauss|roundrobin|sequential" parent:"nrfiles" group:"file" help:"How the next file is picked: roundrobin (default), random, sequential or a distribution"`
	Fallocate       string      `fio:"fallocate" def:"native" vals:"none|native|posix|keep|truncate|0|1" group:"file" help:"How file space is reserved at layout: none, native (default), posix, keep or truncate"`
	FadviseHint     string      `fio:"fadvise_hint" def:"1" vals:"0|1|random|sequential|noreuse" group:"file" help:"Access pattern advice given to the kernel; on by default and matched to the workload"`
	Fsync           int         `fio:"fsync" def:"0" group:"file" help:"Issue an fsync after this many writes; 0 (default) never does so"`
	Fdatasync       int         `fio:"fdatasync" def:"0" group:"file" help:"Issue an fdatasync after this many writes; 0 (default) never does so"`
	WriteBarrier    int         `fio:"write_barrier" def:"0" group:"io" help:"Turn one write out of this many into a barrier write; 0 (default) disables it"`
	SyncFileRange   SyncRange   `fio:"sync_file_range" vals:"wait_before|write|wait_after" group:"file" help:"Call sync_file_range with the given flags after a set number of writes"`
	Direct          bool        `fio:"direct" inverse:"buffered" def:"0" group:"io/io_type" help:"Bypass the page cache with unbuffered I/O; off by default"`
	Atomic          bool        `fio:"atomic" def:"0" group:"io/io_type" help:"Request atomic direct writes from the storage; off by default"`
	Buffered        bool        `fio:"buffered" inverse:"direct" def:"1" group:"io/io_type" help:"Go through the page cache, the inverse of direct; on by default"`
	Overwrite       bool        `fio:"overwrite" def:"0" group:"file" help:"Lay out files with data before a write job so that it rewrites existing blocks"`
}
