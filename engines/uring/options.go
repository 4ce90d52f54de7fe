package uring

import (
	"fiord/engines/cmdprio"
	"fiord/engines/uring/queue"
)

// Options are the options of io_uring, in the order of fio's table, which io_uring shares with io_uring_cmd.
type Options struct {
	Hipri           bool   `fio:"hipri" flag:"1" help:"Poll for completions rather than rely on interrupts"`
	Readfua         bool   `fio:"readfua" def:"0" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"Set force unit access on passthrough reads; off by default"`
	Writefua        bool   `fio:"writefua" def:"0" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"Set force unit access on passthrough writes; off by default"`
	WriteMode       string `fio:"write_mode" def:"write" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"Passthrough command sent for writes: write (default), uncor, zeroes or verify"`
	VerifyMode      string `fio:"verify_mode" def:"read" vals:"read|compare" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"Passthrough command used to verify: read (default) or compare"`
	Fixedbufs       bool   `fio:"fixedbufs" flag:"1" help:"Register I/O buffers with the kernel once at start"`
	Registerfiles   bool   `fio:"registerfiles" flag:"1" help:"Register the files with the kernel once at start"`
	SqthreadPoll    bool   `fio:"sqthread_poll" flag:"1" help:"Let a kernel thread poll the submission queue"`
	SqthreadPollCPU int    `fio:"sqthread_poll_cpu" help:"CPU on which the submission polling thread runs"`
	Nonvectored     int    `fio:"nonvectored" def:"-1" help:"Use plain rather than vectored commands; default -1 decides automatically"`
	Uncached        int    `fio:"uncached" help:"Do buffered I/O without keeping the data in the page cache afterwards"`
	Nowait          bool   `fio:"nowait" help:"Fail an I/O that would block rather than wait for it"`
	ForceAsync      int    `fio:"force_async" help:"Have the kernel run one out of this many requests asynchronously from the start"`
	CmdType         string `fio:"cmd_type" def:"nvme" vals:"nvme|bsg" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"Passthrough command family: nvme (default) or bsg"`
	CdbLen          string `fio:"cdb_len" def:"0" vals:"0|10|16|32" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"SCSI command block length for bsg: 10, 16, 32, or 0 (default) to fit each request"`
	VerifyBytchk    string `fio:"verify_bytchk" def:"0" vals:"0|1|3" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"SCSI VERIFY byte check mode for bsg: 0 (default), 1 or 3"`
	ReadMode        string `fio:"read_mode" def:"read" vals:"read|prefetch" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"Command sent for bsg reads: read (default) or prefetch"`
	cmdprio.Options
	MdPerIOSize int    `fio:"md_per_io_size" def:"0" min:"0" help:"Size in bytes of the separate metadata buffer for each I/O; default 0"`
	PIAct       bool   `fio:"pi_act" def:"1" help:"Protection information action bit; when on (default) the device may handle it"`
	PIChk       string `fio:"pi_chk" help:"Protection fields to check: GUARD, REFTAG and APPTAG, comma-separated"`
	Apptag      int    `fio:"apptag" def:"0x1234" help:"Application tag value for protection information; default 0x1234"`
	ApptagMask  int    `fio:"apptag_mask" def:"0xffff" help:"Mask applied to the application tag when checking; default 0xffff"`
	Deac        bool   `fio:"deac" def:"0" missing:"it is for passthrough commands, those of ioengine=io_uring_cmd" help:"Ask the device to deallocate blocks with write zeroes commands; off by default"`
	queue.Own
}
