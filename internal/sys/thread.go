package sys

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Gettid is the kernel's number of this thread.
func Gettid() int { return unix.Gettid() }

// SetNice sets the nice value of this thread, -20 to 19.
func SetNice(nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, nice); err != nil {
		return fmt.Errorf("setpriority %d: %w", nice, err)
	}
	return nil
}

// SetComm names this thread, as ps and top show it. The kernel keeps the first 15 bytes.
func SetComm(name string) error {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return fmt.Errorf("thread name %q: %w", name, err)
	}
	if err := unix.Prctl(unix.PR_SET_NAME, ptr(p), 0, 0, 0); err != nil {
		return fmt.Errorf("thread name %q: %w", name, err)
	}
	return nil
}

// Comm is the name of this thread.
func Comm() (string, error) {
	var b [16]byte
	if err := unix.Prctl(unix.PR_GET_NAME, ptr(&b[0]), 0, 0, 0); err != nil {
		return "", fmt.Errorf("thread name: %w", err)
	}
	return unix.ByteSliceToString(b[:]), nil
}

// SetTimerSlack lets timed sleeps of this thread end up to d late; the kernel's default is 50 us, the least 1 ns.
func SetTimerSlack(d time.Duration) error {
	if d < 1 {
		return fmt.Errorf("timer slack %v: want at least 1ns", d)
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(d), 0, 0, 0); err != nil {
		return fmt.Errorf("timer slack: %w", err)
	}
	return nil
}

// I/O priority classes, as ionice numbers them.
const (
	IOPrioNone = iota
	IOPrioRT
	IOPrioBE
	IOPrioIdle
)

// IOPrioValue packs an I/O priority: class 0 to 3, level 0 to 7, hint 0 to 1023. As in fio, class 0 means best effort.
func IOPrioValue(class, level, hint int) uint16 {
	if class == IOPrioNone {
		class = IOPrioBE
	}
	return uint16(class<<13 | hint<<3 | level)
}

const ioprioWhoProcess = 1

// SetIOPrio sets the I/O priority of this thread to a value of IOPrioValue.
func SetIOPrio(value uint16) error {
	if _, _, e := unix.RawSyscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, 0, uintptr(value)); e != 0 {
		return fmt.Errorf("ioprio_set %#x: %w", value, e)
	}
	return nil
}

// IOPrio is the I/O priority of this thread, packed as IOPrioValue does.
func IOPrio() (uint16, error) {
	v, _, e := unix.RawSyscall(unix.SYS_IOPRIO_GET, ioprioWhoProcess, 0, 0)
	if e != 0 {
		return 0, fmt.Errorf("ioprio_get: %w", e)
	}
	return uint16(v), nil
}

// SetUID gives this thread alone another user. The thread must end with its goroutine.
func SetUID(uid int) error {
	if _, _, e := unix.RawSyscall(unix.SYS_SETUID, uintptr(uid), 0, 0); e != 0 {
		return fmt.Errorf("setuid %d: %w", uid, e)
	}
	return nil
}

// SetGID gives this thread alone another group; it must come before SetUID. The thread must end with its goroutine.
func SetGID(gid int) error {
	if _, _, e := unix.RawSyscall(unix.SYS_SETGID, uintptr(gid), 0, 0); e != 0 {
		return fmt.Errorf("setgid %d: %w", gid, e)
	}
	return nil
}

// Usage is what a thread has used so far.
type Usage struct {
	User, Sys      time.Duration // CPU time
	VolCtx, InvCtx uint64        // voluntary and involuntary context switches
	MinFlt, MajFlt uint64        // page faults without and with I/O
}

// Add adds what another thread has used.
func (u *Usage) Add(o Usage) {
	u.User, u.Sys = u.User+o.User, u.Sys+o.Sys
	u.VolCtx, u.InvCtx = u.VolCtx+o.VolCtx, u.InvCtx+o.InvCtx
	u.MinFlt, u.MajFlt = u.MinFlt+o.MinFlt, u.MajFlt+o.MajFlt
}

// ThreadUsage is the usage of this thread since it started.
func ThreadUsage() (Usage, error) { return usage(unix.RUSAGE_THREAD) }

// ProcessUsage is the usage of all threads of the process.
func ProcessUsage() (Usage, error) { return usage(unix.RUSAGE_SELF) }

func usage(who int) (Usage, error) {
	var r unix.Rusage
	if err := unix.Getrusage(who, &r); err != nil {
		return Usage{}, fmt.Errorf("getrusage: %w", err)
	}
	return Usage{
		User: time.Duration(r.Utime.Nano()), Sys: time.Duration(r.Stime.Nano()),
		VolCtx: uint64(r.Nvcsw), InvCtx: uint64(r.Nivcsw),
		MinFlt: uint64(r.Minflt), MajFlt: uint64(r.Majflt),
	}, nil
}
