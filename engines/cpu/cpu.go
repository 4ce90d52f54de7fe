// Package cpu is the cpuio engine, which does no I/O but keeps a processor busy beside the other jobs.
//
// It owns the busy work. The pauses between are the job's think time, which it sets; it must not know who sleeps them.
package cpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"fiord/engines"
	"fiord/job"
)

// Options are the options of cpuio. ExitOnIODone asks for what the runner does to every engine that does no I/O: its jobs
// end when those with I/O have.
type Options struct {
	Cpuload      int    `fio:"cpuload" help:"Percentage of CPU time to consume"`
	Cpumode      string `fio:"cpumode" def:"noop" vals:"noop|qsort" help:"Type of CPU work to perform: noop (default) or qsort"`
	Cpuchunks    int    `fio:"cpuchunks" def:"50000" parent:"cpuload" help:"Length of each load cycle in microseconds; default 50000"`
	ExitOnIODone bool   `fio:"exit_on_io_done" def:"0" help:"Stop burning CPU once all jobs doing I/O have finished; off by default"`
}

// Driver is the cpuio engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:    "cpuio",
		Doc:     "Burns CPU time and does no I/O.",
		Traits:  job.Traits{Sync: true, Diskless: true, NoIO: true},
		Options: func() any { return &Options{Cpumode: "noop", Cpuchunks: 50000} },
		Banner:  banner,
		Open:    open,
	}
}

// banner is the line that fio prints when such a job begins.
func banner(j *job.Job) string {
	o := j.Engine.(*Options)
	return fmt.Sprintf("%s (%s): ioengine=cpuio, cpuload=%d, cpucycle=%d", j.Name, o.Cpumode, min(o.Cpuload, 100), o.Cpuchunks)
}

// engine is a SyncEngine whose I/O is one chunk of work.
type engine struct {
	chunk time.Duration
	data  []int32 // of mode qsort
}

// sortLen is how many numbers mode qsort sorts, as in fio.
const sortLen = 256 << 10

// ErrNoLoad is the error of a cpuio job without a load.
var ErrNoLoad = errors.New("cpuio: cpuload: want a percentage from 1 to 100")

func open(w *engines.Worker, options any) (engines.Engine, error) {
	o := options.(*Options)
	if o.Cpuload <= 0 {
		return nil, ErrNoLoad
	}
	if o.Cpuchunks < 0 {
		return nil, fmt.Errorf("cpuio: cpuchunks %d: want microseconds", o.Cpuchunks)
	}
	e := &engine{chunk: time.Duration(o.Cpuchunks) * time.Microsecond}
	if o.Cpumode == "qsort" {
		e.data = make([]int32, sortLen)
		r := rand.New(rand.NewPCG(521288629, 362436069))
		for i := range e.data {
			e.data[i] = int32(r.Uint32())
		}
		start := time.Now()
		e.sort()
		e.chunk = time.Since(start)
	}
	setPauses(w.Job, e.chunk, min(o.Cpuload, 100))
	return engines.Adapt(e, w.Depth), nil
}

// setPauses gives the job pauses after each chunk, so that load percent of the time is spent busy.
func setPauses(j *job.Job, chunk time.Duration, load int) {
	j.ThinkTimeBlocks, j.ThinkTimeBlocksType = 1, "complete"
	j.ThinkTimeSpin, j.ThinkTimeIotime = 0, 0
	j.ThinkTime = int(chunk.Microseconds()) * (100 - load) / load
}

func (e *engine) Do(u *engines.IO) {
	u.Errno, u.Done = 0, len(u.Buf)
	if e.data != nil {
		e.sort()
		return
	}
	for start := time.Now(); time.Since(start) < e.chunk; {
		// Reading the clock is the work.
	}
}

// sort sorts the numbers up, down, by their bytes, and down again.
func (e *engine) sort() {
	down := func(a, b int32) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	}
	slices.Sort(e.data)
	slices.SortFunc(e.data, down)
	slices.Sort(unsafe.Slice((*int8)(unsafe.Pointer(&e.data[0])), 4*len(e.data)))
	slices.SortFunc(e.data, down)
}

func (e *engine) Close() error { return nil }
