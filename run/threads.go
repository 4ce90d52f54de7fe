package run

import (
	"fmt"
	"runtime/debug"

	"fiord/job"
)

const (
	// mostThreads bounds a run to what process numbers of 15 bits, the default of small machines, can count.
	mostThreads = 30000
	// spareThreads is for the threads of the Go runtime itself, besides one a job: a busy worker is asked to yield now and
	// then, and it is another thread that lets it go on.
	spareThreads = 1000
	// runtimeThreads is how many the Go runtime allows where nothing is said: one more ends the process.
	runtimeThreads = 10000
)

// threads is how many threads the jobs take, all together.
func threads(jobs []*job.Job) int { return len(jobs) + asyncThreads(jobs) + offloadThreads(jobs) }

// checkThreads refuses more threads than there can be, and lets the Go runtime have as many as the jobs take.
func checkThreads(jobs []*job.Job) error {
	n := threads(jobs)
	if n > mostThreads {
		return fmt.Errorf("the jobs take %d threads, want at most %d: io_submit_mode=offload has one for each of iodepth, verify_async as many as it says",
			n, mostThreads)
	}
	if most := 2*n + spareThreads; most > runtimeThreads {
		debug.SetMaxThreads(most) // never lowered: threads that have ended may still count
	}
	return nil
}
