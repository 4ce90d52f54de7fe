package declared

import (
	"fiord/engines"
	"fiord/job"
)

// device is: engines that talk to devices in their own commands.
func device() []*engines.Driver {
	return []*engines.Driver{
		missing("sg", "Sends SCSI commands through the generic SCSI driver.",
			"SCSI commands are not built yet",
			job.Traits{Raw: true, Sync: true}, func() any { return &sgOptions{} }),
		external("xnvme", "Uses NVMe devices through xNVMe.",
			"it needs libxnvme, which a static Go binary cannot use",
			job.Traits{Diskless: true, MemAlign: true, NoExtend: true, Raw: true}, func() any { return &xnvmeOptions{} }),
		external("libzbc", "Uses zoned block devices through libzbc.",
			"it needs libzbc, which a static Go binary cannot use",
			job.Traits{NoExtend: true, Raw: true, Sync: true}, nil),
		external("libblkio", "Uses block devices through libblkio.",
			"it needs libblkio, which a static Go binary cannot use",
			job.Traits{Diskless: true, NoExtend: true}, func() any { return &libblkioOptions{} }),
		external("dev-dax", "Reads and writes persistent memory through a DAX character device.",
			"it needs libpmem, which a static Go binary cannot use",
			job.Traits{Diskless: true, NoExtend: true, Sync: true}, nil),
		external("libpmem", "Reads and writes persistent memory through libpmem.",
			"it needs libpmem, which a static Go binary cannot use",
			job.Traits{Diskless: true, MemAlign: true, NoExtend: true, Raw: true, Sync: true}, nil),
		external("libcufile", "Moves data between files and NVIDIA GPU memory.",
			"it needs the CUDA libraries, which a static Go binary cannot use",
			job.Traits{Sync: true}, func() any { return &libcufileOptions{} }),
		external("libhipfile", "Moves data between files and AMD GPU memory.",
			"it needs the ROCm libraries, which a static Go binary cannot use",
			job.Traits{Sync: true}, func() any { return &libhipfileOptions{} }),
	}
}

// sgOptions are the options of sg.
type sgOptions struct {
	Hipri       bool   `fio:"hipri" flag:"1" help:"Find completions by polling where the device supports it"`
	Readfua     bool   `fio:"readfua" def:"0" help:"Set the force unit access bit on reads; off by default"`
	Writefua    bool   `fio:"writefua" def:"0" help:"Set the force unit access bit on writes; off by default"`
	SgWriteMode string `fio:"sg_write_mode" def:"write" vals:"write|write_and_verify|verify|write_same|same|write_same_ndob|verify_bytchk_00|verify_bytchk_01|verify_bytchk_11|write_stream" help:"SCSI command sent for writes, such as write (default), verify or write_same"`
	StreamID    int    `fio:"stream_id" def:"0" help:"Stream ID for stream writes; 0 (default) opens one and closes it at the end"`
}

// xnvmeOptions are the options of xnvme.
type xnvmeOptions struct {
	Hipri          bool   `fio:"hipri" flag:"1" help:"Find completions by polling where the backend supports it"`
	SqthreadPoll   bool   `fio:"sqthread_poll" flag:"1" help:"Let a kernel thread poll the submission queue"`
	XnvmeBe        string `fio:"xnvme_be" help:"Backend of xNVMe to use, such as linux or spdk"`
	XnvmeMem       string `fio:"xnvme_mem" help:"Memory backend from which xNVMe allocates I/O buffers"`
	XnvmeAsync     string `fio:"xnvme_async" help:"Backend of xNVMe for asynchronous commands, such as io_uring or libaio"`
	XnvmeSync      string `fio:"xnvme_sync" help:"Backend of xNVMe for synchronous commands, such as nvme or psync"`
	XnvmeAdmin     string `fio:"xnvme_admin" help:"Backend of xNVMe for admin commands, such as nvme or block"`
	XnvmeDevNsid   int    `fio:"xnvme_dev_nsid" help:"NVMe namespace ID to open, for backends that need it"`
	XnvmeDevSubnqn string `fio:"xnvme_dev_subnqn" help:"NVMe subsystem qualified name for a fabrics connection"`
	XnvmeIovec     bool   `fio:"xnvme_iovec" flag:"1" help:"Send vectored read and write commands"`
	MdPerIOSize    int    `fio:"md_per_io_size" def:"0" help:"Size in bytes of the separate metadata buffer for each I/O; default 0"`
	PIAct          bool   `fio:"pi_act" def:"1" help:"Protection information action bit; when on (default) the device may handle it"`
	PIChk          string `fio:"pi_chk" help:"Protection fields to check: GUARD, REFTAG and APPTAG, comma-separated"`
	Apptag         int    `fio:"apptag" def:"0x1234" help:"Application tag value for protection information; default 0x1234"`
	ApptagMask     int    `fio:"apptag_mask" def:"0xffff" help:"Mask applied to the application tag when checking; default 0xffff"`
}

// libblkioOptions are the options of libblkio.
type libblkioOptions struct {
	LibblkioDriver                       string `fio:"libblkio_driver" help:"Name of the libblkio driver to use"`
	LibblkioPath                         string `fio:"libblkio_path" help:"Value of the driver path property, set before connecting"`
	LibblkioPreConnectProps              string `fio:"libblkio_pre_connect_props" help:"Extra driver properties, as key=value pairs, set before connecting"`
	LibblkioNumEntries                   int    `fio:"libblkio_num_entries" min:"1" help:"Driver num-entries property, set before starting; meaning varies by driver"`
	LibblkioQueueSize                    int    `fio:"libblkio_queue_size" min:"1" help:"Driver queue-size property, set before starting; meaning varies by driver"`
	LibblkioPreStartProps                string `fio:"libblkio_pre_start_props" help:"Extra driver properties, as key=value pairs, set before starting"`
	Hipri                                bool   `fio:"hipri" flag:"1" help:"Use poll queues for I/O"`
	LibblkioVectored                     bool   `fio:"libblkio_vectored" flag:"1" help:"Issue vectored read and write requests"`
	LibblkioWriteZeroesOnTrim            bool   `fio:"libblkio_write_zeroes_on_trim" flag:"1" help:"Turn trims into write-zeroes requests rather than discards"`
	LibblkioWaitMode                     string `fio:"libblkio_wait_mode" def:"block" vals:"block|eventfd|loop" help:"How to wait for completions: block (default), eventfd or loop"`
	LibblkioForceEnableCompletionEventfd bool   `fio:"libblkio_force_enable_completion_eventfd" flag:"1" help:"Turn on the completion eventfd even when it is not used for waiting"`
}

// libcufileOptions are the options of libcufile.
type libcufileOptions struct {
	GpuDevIds string `fio:"gpu_dev_ids" help:"Colon-separated GPU numbers that jobs are assigned to in turn"`
	CudaIO    string `fio:"cuda_io" def:"cufile" vals:"cufile|posix" help:"Transfer path: cufile (default) straight to the GPU, or posix through host memory"`
}

// libhipfileOptions are the options of libhipfile.
type libhipfileOptions struct {
	GpuDevIds string `fio:"gpu_dev_ids" help:"Colon-separated GPU numbers that jobs are assigned to in turn"`
	RocmIO    string `fio:"rocm_io" def:"hipfile" vals:"hipfile|posix" help:"Transfer path: hipfile (default) straight to the GPU, or posix through host memory"`
}
