package job

// OwnOptions are the job options of fiord that fio does not have. They come last.
type OwnOptions struct {
	AutoNUMA bool `fio:"auto_numa" def:"0" group:"general" help:"Run the job, with its buffers, on the NUMA node that its device is near to; off by default"`
}
