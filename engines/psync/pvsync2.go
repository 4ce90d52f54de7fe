package psync

import (
	"math/rand/v2"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"fiord/engines"
	"fiord/engines/fileop"
	"fiord/job"
)

// Options are the options of pvsync2.
type Options struct {
	Hipri           bool `fio:"hipri" flag:"1" help:"Mark I/Os as high priority so that completions are polled"`
	HipriPercentage int  `fio:"hipri_percentage" def:"100" min:"0" max:"100" help:"Percentage of I/Os marked high priority when hipri is set; default 100"`
	Uncached        int  `fio:"uncached" help:"Do buffered I/O without keeping the data in the page cache afterwards"`
	Nowait          bool `fio:"nowait" help:"Fail an I/O that would block rather than wait for it"`
}

func pvsync2() *engines.Driver {
	return &engines.Driver{
		Name: "pvsync2", Doc: "Calls preadv2 or pwritev2 with per-request flags, one at a time.",
		Traits:  job.Traits{Sync: true, Atomic: true},
		Options: func() any { return &Options{HipriPercentage: 100} },
		Open: func(w *engines.Worker, options any) (engines.Engine, error) {
			return engines.Adapt(newVector2(w, *options.(*Options)), w.Depth), nil
		},
	}
}

// vector2 is the pvsync2 engine.
type vector2 struct {
	base
	iov              syscall.Iovec
	flags            uintptr // of every transfer
	write            uintptr // of writes besides
	hipri            bool
	hipriBelow       uint32 // draws from 0 to 99 below it set RWF_HIPRI
	hipriRandomState rand.PCG
}

func newVector2(w *engines.Worker, o Options) *vector2 {
	v := &vector2{base: newBase(w), hipri: o.Hipri, hipriBelow: uint32(o.HipriPercentage)}
	v.hipriRandomState.Seed(w.Job.RandSeed, uint64(w.Job.Number))
	if o.Uncached != 0 && !w.Job.Direct {
		v.flags |= unix.RWF_DONTCACHE
	}
	if o.Nowait {
		v.flags |= unix.RWF_NOWAIT
	}
	if w.Job.Atomic {
		v.write |= unix.RWF_ATOMIC
	}
	return v
}

func (v *vector2) Do(u *engines.IO) {
	switch u.Op {
	case engines.Read:
		v.transfer(u, unix.SYS_PREADV2, v.flags)
	case engines.Write:
		v.transfer(u, unix.SYS_PWRITEV2, v.flags|v.write)
	default:
		fileop.Op(u, v.rangeFlags)
	}
}

func (v *vector2) transfer(u *engines.IO, call, flags uintptr) {
	if v.hipri && v.draw() < v.hipriBelow {
		flags |= unix.RWF_HIPRI
	}
	setIovec(&v.iov, u)
	for {
		n, _, errno := syscall.RawSyscall6(call, uintptr(u.File.Fd), uintptr(unsafe.Pointer(&v.iov)), 1,
			uintptr(u.Offset), uintptr(u.Offset>>32), flags)
		if errno == syscall.EINTR {
			continue
		}
		finish(u, n, errno)
		return
	}
}

// draw is a number from 0 to 99. The sequence need not be fio's: nothing shows which I/Os were polled.
func (v *vector2) draw() uint32 { return uint32(v.hipriRandomState.Uint64()>>32) % 100 }
