package queue

import (
	"errors"
	"fmt"

	"fiord/engines/uring/ring"
)

// Own are fiord's own options of io_uring and io_uring_cmd: what fio decides by itself. Those of three values are auto (on
// where the kernel has it; empty is the same), 0 (off) and 1 (on, or the job fails).
type Own struct {
	SingleIssuer   string `fio:"single_issuer" def:"auto" vals:"auto|0|1" help:"Tell the kernel that one thread submits: auto where it can (default), 0 never, 1 or fail; since Linux 6.0"`
	DeferTaskrun   string `fio:"defer_taskrun" def:"auto" vals:"auto|0|1" help:"Run completion work only when the job waits for completions: auto where it can (default), 0 never, 1 or fail; since Linux 6.1"`
	CoopTaskrun    string `fio:"coop_taskrun" def:"auto" vals:"auto|0|1" help:"Do not interrupt the job for completion work: auto where it can (default), 0 never, 1 or fail; since Linux 5.19"`
	NoSQArray      string `fio:"no_sqarray" def:"auto" vals:"auto|0|1" help:"Submit without the array of indices: auto where it can (default), 0 never, 1 or fail; since Linux 6.6"`
	RegisterRing   string `fio:"register_ring" def:"auto" vals:"auto|0|1" help:"Enter the kernel by a registered descriptor of the ring: auto where it can (default), 0 never, 1 or fail; since Linux 5.18"`
	RegisteredWait string `fio:"registered_wait" def:"auto" vals:"auto|0|1" help:"Keep the arguments of waits with a time limit in registered memory: auto where it can (default), 0 never, 1 or fail; since Linux 6.13"`
	HybridPoll     bool   `fio:"hybrid_poll" def:"0" help:"With hipri, sleep for part of the expected time before polling; since Linux 6.13"`
	WaitTimeout    int    `fio:"wait_timeout" def:"0" min:"0" max:"1000000000" help:"Time limit of one wait for completions in microseconds, after which it is begun again; default 0 is none"`
	MinWait        int    `fio:"min_wait" def:"0" min:"0" max:"1000000000" help:"Microseconds for which a wait gathers iodepth_batch_complete_min completions before it is content with one; default 0 waits for all; since Linux 6.12"`
	SQEntries      int    `fio:"sq_entries" def:"0" min:"0" max:"32768" help:"Submission entries of the ring; default 0 is iodepth, rounded up to a power of two"`
	CQEntries      int    `fio:"cq_entries" def:"0" min:"0" max:"65536" help:"Completion entries of the ring; default 0 is iodepth, rounded up to a power of two"`
}

// apply changes what the ring is asked to be.
func (o *Own) apply(rc *ring.Config, c *Config) error {
	coop := uint32(ring.IORING_SETUP_COOP_TASKRUN | ring.IORING_SETUP_TASKRUN_FLAG)
	if o.DeferTaskrun == "1" && o.SingleIssuer == "0" {
		return errors.New("defer_taskrun=1 needs single_issuer, which is set to 0")
	}
	if c.SqthreadPoll && (o.DeferTaskrun == "1" || o.CoopTaskrun == "1") {
		return errors.New("defer_taskrun=1 and coop_taskrun=1 do not go with sqthread_poll: its thread does the work")
	}
	for _, f := range []struct {
		want  string
		flags uint32
	}{
		{o.SingleIssuer, ring.IORING_SETUP_SINGLE_ISSUER}, {o.DeferTaskrun, ring.IORING_SETUP_DEFER_TASKRUN},
		{o.CoopTaskrun, coop}, {o.NoSQArray, ring.IORING_SETUP_NO_SQARRAY},
	} {
		switch f.want {
		case "1":
			rc.Flags |= f.flags
		case "0":
			rc.Optional = without(rc.Optional, f.flags)
		}
	}
	if o.SingleIssuer == "0" {
		rc.Optional = without(rc.Optional, ring.IORING_SETUP_DEFER_TASKRUN) // the kernel wants both
	}
	if rc.Flags&ring.IORING_SETUP_DEFER_TASKRUN != 0 {
		rc.Flags |= ring.IORING_SETUP_SINGLE_ISSUER
	}
	if o.HybridPoll {
		if !c.Hipri {
			return errors.New("hybrid_poll needs hipri")
		}
		rc.Flags |= ring.IORING_SETUP_HYBRID_IOPOLL
	}
	wants := map[string]ring.Want{"0": ring.Never, "1": ring.Must}
	rc.RegisterRing, rc.RegisterWait = wants[o.RegisterRing], wants[o.RegisteredWait]
	if rc.RegisterWait == ring.Must {
		rc.Flags |= ring.IORING_SETUP_R_DISABLED
	}
	rc.MinWait = o.MinWait > 0
	return o.sizes(rc)
}

func (o *Own) sizes(rc *ring.Config) error {
	if o.SQEntries > 0 {
		rc.Entries = uint32(o.SQEntries)
		rc.CQEntries = max(rc.CQEntries, rc.Entries)
	}
	if o.CQEntries > 0 {
		if uint32(o.CQEntries) < rc.Entries {
			return fmt.Errorf("cq_entries=%d: fewer than the %d submission entries; lower sq_entries too", o.CQEntries, rc.Entries)
		}
		rc.CQEntries = uint32(o.CQEntries)
	}
	return nil
}

// without takes flags out of every set.
func without(sets []uint32, flags uint32) []uint32 {
	var out []uint32
	for _, s := range sets {
		if s &^= flags; s != 0 {
			out = append(out, s)
		}
	}
	return out
}
