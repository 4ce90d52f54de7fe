package uring

import "fiord/job"

// Priorities is every I/O priority that I/Os of direction d can get, that of the job first; nil when all get the same.
func (e *engine) Priorities(d job.Dir) []uint16 {
	if e.prios == nil {
		return nil
	}
	return e.prios.Values(d)
}

// Features names what of io_uring is really on.
func (e *engine) Features() []string {
	names := e.Queue.Features()
	if !e.vectored && !e.Fixed {
		names = append(names, "nonvectored")
	}
	return names
}
