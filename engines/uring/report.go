package uring

import (
	"fiord/engines/uring/ring"
	"fiord/job"
)

// Calls counts the system calls of the ring.
func (e *engine) Calls() (submits, reaps uint64) { return e.r.Enters() }

// Priorities is every I/O priority that I/Os of direction d can get, that of the job first; nil when all get the same.
func (e *engine) Priorities(d job.Dir) []uint16 {
	if e.prios == nil {
		return nil
	}
	return e.prios.Values(d)
}

// Features names what of io_uring is really on.
func (e *engine) Features() []string {
	var names []string
	p := e.r.Params()
	for _, f := range []struct {
		flag uint32
		name string
	}{
		{ring.IORING_SETUP_IOPOLL, "iopoll"}, {ring.IORING_SETUP_SQPOLL, "sqpoll"},
		{ring.IORING_SETUP_SINGLE_ISSUER, "single_issuer"}, {ring.IORING_SETUP_DEFER_TASKRUN, "defer_taskrun"},
		{ring.IORING_SETUP_COOP_TASKRUN, "coop_taskrun"}, {ring.IORING_SETUP_NO_SQARRAY, "no_sqarray"},
	} {
		if p.Flags&f.flag != 0 {
			names = append(names, f.name)
		}
	}
	for _, f := range []struct {
		on   bool
		name string
	}{
		{e.r.RegisteredFd(), "registered_ring"}, {e.r.RegisteredWait(), "registered_wait"},
		{e.files, "registered_files"}, {e.fixed, "fixed_buffers"}, {!e.vectored && !e.fixed, "nonvectored"},
	} {
		if f.on {
			names = append(names, f.name)
		}
	}
	return names
}
