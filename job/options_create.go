package job

// CreateOptions says how files are created and closed, and on which CPUs the job runs.
type CreateOptions struct {
	Invalidate        bool   `fio:"invalidate" def:"1" group:"io/io_type" help:"Drop cached pages of the files before I/O starts; on by default"`
	Sync              string `fio:"sync" def:"none" vals:"none|0|sync|1|dsync" group:"io/io_type" help:"Open mode for synchronous writes: none (default), sync or dsync"`
	WriteHint         string `fio:"write_hint" vals:"none|short|medium|long|extreme" group:"engine" help:"Expected lifetime of written data: none, short, medium, long or extreme"`
	CreateSerialize   bool   `fio:"create_serialize" def:"1" group:"file" help:"Lay out the files of different jobs one at a time; on by default"`
	CreateFsync       bool   `fio:"create_fsync" def:"1" group:"file" help:"Flush each file to storage after laying it out; on by default"`
	CreateOnOpen      bool   `fio:"create_on_open" def:"0" group:"file" help:"Create files only when they are opened for I/O; off by default"`
	CreateOnly        bool   `fio:"create_only" def:"0" group:"file" help:"Lay out the files and then stop without running the workload; off by default"`
	AllowFileCreate   bool   `fio:"allow_file_create" def:"1" group:"file/filename" help:"Permit creation of missing files; on by default"`
	AllowMountedWrite bool   `fio:"allow_mounted_write" def:"0" group:"file/filename" help:"Permit writes to a device that is mounted; off by default"`
	PreRead           bool   `fio:"pre_read" def:"0" group:"file" help:"Read files into the page cache before the workload starts; off by default"`
	CPUMask           uint64 `fio:"cpumask" group:"general/cred" help:"Bit mask of the CPUs the job may run on"`
	CPUsAllowed       CPUSet `fio:"cpus_allowed" group:"general/cred" help:"Comma-separated list or ranges of CPUs the job may run on"`
	CPUsAllowedPolicy string `fio:"cpus_allowed_policy" vals:"shared|split" parent:"cpus_allowed" prio:"1" group:"general/cred" help:"Have clones share the allowed CPUs (default) or split them one each"`
	NUMACPUNodes      string `fio:"numa_cpu_nodes" group:"general" help:"NUMA nodes whose CPUs the job may run on, as a list, ranges or all"`
	NUMAMemPolicy     string `fio:"numa_mem_policy" group:"general" help:"NUMA memory policy with its nodes, written as mode:nodelist"`
	GpuDevID          int    `fio:"gpu_dev_id" def:"0" group:"general" missing:"GPU memory needs CUDA, which a static Go binary cannot use" help:"GPU device number for GPUDirect RDMA; default 0"`
	EndFsync          bool   `fio:"end_fsync" def:"0" group:"file" help:"Issue an fsync on each file when a write stage ends; off by default"`
	FsyncOnClose      bool   `fio:"fsync_on_close" def:"0" group:"file" help:"Issue an fsync whenever a file is closed; off by default"`
	EndSyncfs         bool   `fio:"end_syncfs" def:"0" group:"file" help:"Issue one syncfs for all written files when a write stage ends; off by default"`
}
