package uringcmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fiord/engines/cmdprio"
	"fiord/engines/uring/queue"
	"fiord/engines/uringcmd/nvme"
	"fiord/job"
)

// Options are the options of io_uring_cmd, in the order of fio's table, which it shares with io_uring.
type Options struct {
	Hipri           bool   `fio:"hipri" flag:"1" help:"Poll for completions rather than rely on interrupts; needs poll queues"`
	Readfua         bool   `fio:"readfua" def:"0" help:"Set force unit access on passthrough reads; off by default"`
	Writefua        bool   `fio:"writefua" def:"0" help:"Set force unit access on passthrough writes; off by default"`
	WriteMode       string `fio:"write_mode" def:"write" help:"Passthrough command sent for writes: write (default), uncor, zeroes, verify or zone_append (with zonemode=zbd), or a mix such as write/60:zeroes/40"`
	VerifyMode      string `fio:"verify_mode" def:"read" vals:"read|compare" help:"Passthrough command used to verify: read (default) or compare"`
	Fixedbufs       bool   `fio:"fixedbufs" flag:"1" help:"Register I/O buffers with the kernel once at start"`
	Registerfiles   bool   `fio:"registerfiles" flag:"1" help:"Register the files with the kernel once at start"`
	SqthreadPoll    bool   `fio:"sqthread_poll" flag:"1" help:"Let a kernel thread poll the submission queue"`
	SqthreadPollCPU int    `fio:"sqthread_poll_cpu" help:"CPU on which the submission polling thread runs"`
	Nonvectored     int    `fio:"nonvectored" def:"-1" help:"Use plain rather than vectored commands; default -1 does"`
	Uncached        int    `fio:"uncached" missing:"passthrough commands know no page cache" help:"Do buffered I/O without keeping the data in the page cache afterwards"`
	Nowait          bool   `fio:"nowait" missing:"the kernel has no such flag for passthrough commands" help:"Fail an I/O that would block rather than wait for it"`
	ForceAsync      int    `fio:"force_async" help:"Have the kernel run one out of this many requests asynchronously from the start"`
	CmdType         string `fio:"cmd_type" def:"nvme" vals:"nvme|bsg|null" help:"Passthrough command family: nvme (default) or bsg; null sends NVMe commands to /dev/null, which shows the cost of the software alone"`
	CdbLen          string `fio:"cdb_len" def:"0" vals:"0|10|16|32" help:"SCSI command block length for bsg: 10, 16, 32, or 0 (default) to fit each request"`
	VerifyBytchk    string `fio:"verify_bytchk" def:"0" vals:"0|1|3" help:"SCSI VERIFY byte check mode for bsg: 0 (default), 1 or 3"`
	ReadMode        string `fio:"read_mode" def:"read" vals:"read|prefetch" help:"Command sent for bsg reads: read (default) or prefetch"`
	cmdprio.Options
	MdPerIOSize int    `fio:"md_per_io_size" def:"0" min:"0" help:"Size in bytes of the separate metadata buffer for each I/O; default 0"`
	PIAct       bool   `fio:"pi_act" def:"1" help:"Protection information action bit; when on (default) the device may handle it"`
	PIChk       string `fio:"pi_chk" help:"Protection fields to check: GUARD, REFTAG and APPTAG, comma-separated"`
	Apptag      int    `fio:"apptag" def:"0x1234" help:"Application tag value for protection information; default 0x1234"`
	ApptagMask  int    `fio:"apptag_mask" def:"0xffff" help:"Mask applied to the application tag when checking; default 0xffff"`
	Deac        bool   `fio:"deac" def:"0" help:"Ask the device to deallocate blocks with write zeroes commands; off by default"`
	queue.Own
}

// defaults are the options of a job that gives none.
func defaults() *Options {
	return &Options{WriteMode: "write", VerifyMode: "read", Nonvectored: -1, CmdType: "nvme", PIAct: true, Apptag: 0x1234,
		ApptagMask: 0xffff}
}

// check refuses what no kernel or drive could do.
func (o *Options) check(j *job.Job) error {
	switch {
	case o.Fixedbufs && o.Nonvectored == 0:
		return errors.New("fixedbufs=1 and nonvectored=0: commands with registered buffers are not vectored")
	case o.CmdprioBSSplit != "" || o.CmdprioPercentage != [job.NDirs]int{}:
		return errors.New("cmdprio: passthrough commands carry no I/O priority")
	case o.CmdType == "null" && o.Hipri:
		return errors.New("hipri=1: /dev/null has nothing to poll")
	case j.SyncFileRange.Flags != 0:
		return errors.New("sync_file_range: a drive has no such command; fsync sends a flush")
	case o.VerifyMode == "compare" && j.Verify != "" && j.Verify != "0" && j.Verify != "pattern":
		return fmt.Errorf("verify_mode=compare: needs verify=pattern: with verify=%s blocks have headers with the time of their write, which no command could repeat",
			j.Verify)
	case appends(o) && j.ZoneMode != "zbd":
		return errors.New("write_mode=zone_append: needs zonemode=zbd")
	case j.Atomic:
		return errors.New("atomic=1: passthrough commands know no atomic writes but those that the drive promises anyway")
	}
	if o.CmdType == "bsg" {
		return o.checkBSG(j)
	}
	for _, only := range []struct{ name, value, def string }{
		{"cdb_len", o.CdbLen, "0"}, {"verify_bytchk", o.VerifyBytchk, "0"}, {"read_mode", o.ReadMode, "read"},
	} {
		if only.value != only.def && only.value != "" {
			return fmt.Errorf("%s=%s: it is for cmd_type=bsg", only.name, only.value)
		}
	}
	return nil
}

// checks turns the options on protection information into what each command carries.
func (o *Options) checks() (nvme.Checks, error) {
	c := nvme.Checks{AppTag: uint16(o.Apptag), AppMask: uint16(o.ApptagMask)}
	if o.Apptag < 0 || o.Apptag > 0xffff {
		return c, fmt.Errorf("apptag=%d: want 0 to 0xffff", o.Apptag)
	}
	if o.ApptagMask < 0 || o.ApptagMask > 0xffff {
		return c, fmt.Errorf("apptag_mask=%d: want 0 to 0xffff", o.ApptagMask)
	}
	if o.PIAct {
		c.Flags |= nvme.PRInfoAct
	}
	flags, err := nvme.ParseChecks(o.PIChk)
	if err != nil {
		return c, fmt.Errorf("pi_chk=%s: %w", o.PIChk, err)
	}
	c.Flags |= flags
	return c, nil
}

// share is one command of write_mode, and how many of 100 writes become it.
type share struct {
	opcode  uint8
	percent int
	flags   uint32 // of dword 12
}

// maxShares is as many as fio takes.
const maxShares = 5

// writeModes reads write_mode: a name, or name/percent:name/percent and so on. As in fio, blank percentages share what
// the others leave.
func (o *Options) writeModes() ([]share, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("write_mode=%s: "+format, append([]any{o.WriteMode}, args...)...)
	}
	if !strings.Contains(o.WriteMode, ":") {
		s, err := o.writeMode(o.WriteMode)
		if err != nil {
			return nil, bad("%w", err)
		}
		s.percent = 100
		return []share{s}, nil
	}
	var shares []share
	total, blank := 0, 0
	for entry := range strings.SplitSeq(o.WriteMode, ":") {
		name, text, ok := strings.Cut(entry, "/")
		if !ok {
			return nil, bad("%q has no percentage", entry)
		}
		s, err := o.writeMode(name)
		if err != nil {
			return nil, bad("%w", err)
		}
		if s.percent = -1; text == "" {
			blank++
		} else if s.percent, err = strconv.Atoi(text); err != nil || s.percent < 0 || s.percent > 100 {
			return nil, bad("want a percentage, got %q", text)
		} else {
			total += s.percent
		}
		shares = append(shares, s)
	}
	switch {
	case len(shares) > maxShares:
		return nil, bad("more than %d commands", maxShares)
	case total > 100:
		return nil, bad("the percentages add up to %d", total)
	case blank == 0 && total != 100:
		return nil, bad("the percentages add up to %d, not to 100", total)
	case blank > 0:
		for i := range shares {
			if shares[i].percent < 0 {
				shares[i].percent = (100 - total) / blank
			}
		}
	}
	sum := 0
	for _, s := range shares {
		sum += s.percent
	}
	if rest := 100 - sum; rest > 0 {
		// fio differs: there, a draw from the rest that does not divide evenly ends the job.
		shares[len(shares)-1].percent += rest
	}
	return shares, nil
}

func (o *Options) writeMode(name string) (share, error) {
	var s share
	switch name {
	case "", "write":
		s.opcode = nvme.OpWrite
		if o.Writefua {
			s.flags = nvme.FUA
		}
	case "uncor":
		s.opcode = nvme.OpWriteUncor
	case "zeroes":
		s.opcode = nvme.OpWriteZeroes
		if o.Deac {
			s.flags = nvme.Deallocate
		}
		if o.Writefua {
			s.flags |= nvme.FUA
		}
	case "verify":
		s.opcode = nvme.OpVerify
		if o.Writefua {
			s.flags = nvme.FUA
		}
	case "zone_append":
		s.opcode = nvme.OpZoneAppend
		if o.Writefua {
			s.flags = nvme.FUA
		}
	default:
		return s, fmt.Errorf("want write, uncor, zeroes, verify or zone_append, got %q", name)
	}
	return s, nil
}
