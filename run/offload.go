package run

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"fiord/clock"
	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
	"fiord/workload"
)

// offload is the engine of a job with io_submit_mode=offload: threads of its own, iodepth of them, each with an instance
// of the job's engine, do one I/O at a time. The job's thread makes the I/Os and accounts them.
type offload struct {
	w       *worker
	tasks   []task // by IO.Index
	todo    chan *task
	done    chan *task
	threads []*offloadThread
	locks   *locker // nil: no lockfile
	opened  []int   // how often each file has been opened: a thread's copy of it may be of an older one
	stopped sync.WaitGroup
}

// task is what goes to a thread and comes back. It belongs to whoever has it.
type task struct {
	u      *engines.IO // only read by the thread
	file   engines.File
	opened int
	usage  *usageCall // not nil: no I/O but this question

	result         engines.IO // the copy that the engine had
	issued, reaped int64
	err            error
}

// usageCall asks every thread once for the CPU time it has used.
type usageCall struct {
	mu      sync.Mutex
	sum     sys.Usage
	arrived sync.WaitGroup
	release chan struct{}
}

// newOffload starts the threads. Each is set up as the job's thread is: affinity, NUMA nodes, priorities, credentials.
func newOffload(w *worker) (*offload, error) {
	l := &w.loop
	n := len(l.ios)
	o := &offload{w: w, tasks: make([]task, n), todo: make(chan *task, 2*n), done: make(chan *task, n)}
	if w.set != nil {
		o.opened = make([]int, len(w.set.Files))
	}
	for i := range n {
		t := &offloadThread{o: o, own: *l.ios[i]}
		t.own.Index = 0
		ready := make(chan error)
		o.stopped.Add(1)
		go t.main(ready)
		if err := <-ready; err != nil {
			_ = o.Close()
			return nil, fmt.Errorf("thread %d of io_submit_mode=offload: %w", i, err)
		}
		o.threads = append(o.threads, t)
	}
	return o, nil
}

// Submit hands the I/Os to the threads; whichever is idle takes the next.
func (o *offload) Submit(ios []*engines.IO) (int, error) {
	for _, u := range ios {
		t := &o.tasks[u.Index]
		*t = task{u: u}
		if u.File != nil {
			t.file = *u.File
			t.file.Engine = nil
			if u.File.Index < len(o.opened) {
				t.opened = o.opened[u.File.Index]
			}
		}
		o.todo <- t
	}
	return len(ios), nil
}

// Reap takes back what the threads have done.
func (o *offload) Reap(done []*engines.IO, least int, wait time.Duration) (int, error) {
	var late <-chan time.Time
	if wait >= 0 && least > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	for n := range done {
		t := o.take(n < least, late)
		if t == nil {
			return n, nil
		}
		u := t.u
		u.Done, u.Errno, u.Aux, u.Prio = t.result.Done, t.result.Errno, t.result.Aux, t.result.Prio
		u.Start, u.Issued = t.result.Start, t.issued
		done[n] = u
		if t.err != nil {
			return n + 1, t.err
		}
	}
	return len(done), nil
}

// take is the next finished task; nil when there is none, or none in time if it must wait.
func (o *offload) take(wait bool, late <-chan time.Time) *task {
	if !wait {
		select {
		case t := <-o.done:
			return t
		default:
			return nil
		}
	}
	select {
	case t := <-o.done:
		return t
	case <-late:
		return nil
	}
}

// Close ends the threads and their engines. No I/O may be in flight.
func (o *offload) Close() error {
	close(o.todo)
	o.stopped.Wait()
	for _, t := range o.threads {
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

// usage is the CPU time of all threads. It waits for the I/Os that they are doing.
func (o *offload) usage() sys.Usage {
	c := &usageCall{release: make(chan struct{})}
	c.arrived.Add(len(o.threads))
	for range o.threads {
		o.todo <- &task{usage: c}
	}
	c.arrived.Wait()
	close(c.release)
	return c.sum
}

// offloaded reports whether threads of their own submit the job's I/O.
func offloaded(j *job.Job) bool { return j.IOSubmitMode == "offload" }

// offloadThreads is how many threads submit I/O for the jobs, besides their own.
func offloadThreads(jobs []*job.Job) int {
	n := 0
	for _, j := range jobs {
		if offloaded(j) {
			n += j.IODepth
		}
	}
	return n
}

// openOffload takes the threads for the job's engine.
func (w *worker) openOffload() error {
	off, err := newOffload(w)
	if err != nil {
		return fmt.Errorf("ioengine %s: %w", w.drv.Name, err)
	}
	w.off, w.eng, w.doer = off, off, nil
	return nil
}

// threadUsage is what the job's thread has used since it started, and the threads that submit for it.
func (w *worker) threadUsage() (sys.Usage, error) {
	u, err := sys.ThreadUsage()
	if w.off != nil && err == nil {
		u.Add(w.off.usage())
	}
	return u, err
}

// passOffload is the loop of a job whose I/O other threads submit: one at a time goes to them, and the job waits for one
// when all are in use.
func (w *worker) passOffload() {
	l := &w.loop
	l.now = clock.Now()
	for now := l.now; !w.over(now); now = l.now {
		verdict := w.fill()
		if len(l.batch) > 0 && !w.submit() {
			return
		}
		if verdict == workload.End && len(l.again) == 0 {
			return
		}
		if !w.reapOffload(w.full() || verdict == workload.Wait) {
			return
		}
		if l.careful {
			l.now = w.afterIO(l.now)
		}
	}
}

// reapOffload accounts all that is done, and waits for one I/O if it must.
func (w *worker) reapOffload(must bool) bool {
	l := &w.loop
	for l.inflight > 0 && (must || len(w.off.done) > 0) {
		if !w.reapUpTo(1, 1) {
			return false
		}
		must = false
	}
	l.now = clock.Now()
	return true
}

// account takes over I/Os that threads have done, each with the times that its thread has stamped: what it waited for a
// thread is part of its total latency. Of engines that complete later, it is the submission latency, as in fio.
func (o *offload) account(ios []*engines.IO) {
	w := o.w
	for i, u := range ios {
		if !w.drv.Traits.Sync && w.loop.slat && !w.ramping && u.Op.IsData() && !isRest(u) {
			w.addSlat(u, u.Issued)
		}
		if w.vfy != nil {
			w.vfy.reaped(ios[i:i+1], o.tasks[u.Index].reaped)
			continue
		}
		w.completeOne(u, o.tasks[u.Index].reaped)
	}
}

// offloadThread is one of the threads.
type offloadThread struct {
	o      *offload
	eng    engines.Engine
	doer   engines.SyncEngine // not nil: I/O is done inside Do
	own    engines.IO         // what the engine sees
	files  []engines.File     // copies, as engines keep state of their own with a file
	opened []int
	err    error // of closing the engine
}

func (t *offloadThread) main(ready chan<- error) {
	runtime.LockOSThread() // never unlocked: what is set on the thread ends with it
	defer t.o.stopped.Done()
	_ = sys.BlockPreemption() // it fails for bad arguments alone
	err := t.open()
	ready <- err
	if err != nil {
		return
	}
	for k := range t.o.todo {
		if k.usage != nil {
			k.usage.answer()
			continue
		}
		t.do(k)
		t.o.done <- k
	}
	t.closeFiles()
	t.err = t.eng.Close()
}

// open sets the thread up and opens its engine.
func (t *offloadThread) open() error {
	w := t.o.w
	for _, step := range []func() error{w.credentials, w.affinity, w.followNUMA, w.priority, w.niceness} {
		if err := step(); err != nil {
			return err
		}
	}
	if w.set != nil {
		t.files, t.opened = make([]engines.File, len(w.set.Files)), make([]int, len(w.set.Files))
	}
	files := make([]*engines.File, len(t.files))
	for i := range t.files {
		t.files[i] = *w.set.Files[i]
		t.files[i].Fd = -1
		files[i] = &t.files[i]
	}
	var err error
	t.eng, err = w.drv.Open(&engines.Worker{
		Job: w.job, Depth: 1, MaxBatch: 1, IOs: []*engines.IO{&t.own}, Arena: w.loop.arena, Files: files,
		Notice: func(format string, args ...any) { w.r.note(w.job.Name+": "+format, args...) },
	}, w.job.Engine)
	if err != nil {
		return err
	}
	t.doer = engines.Inner(t.eng)
	_, opener := t.eng.(engines.FileOpener)
	if _, inner := t.doer.(engines.FileOpener); opener || inner {
		_ = t.eng.Close()
		return fmt.Errorf("the engine opens its files itself: %w", engines.ErrUnsupported)
	}
	return nil
}

// do does one I/O.
func (t *offloadThread) do(k *task) {
	u := &t.own
	*u = *k.u
	u.Index = 0
	f, err := t.file(k)
	if err != nil {
		k.err, k.result = err, *u
		k.issued = clock.Now()
		k.reaped = k.issued
		return
	}
	u.File = f
	table := t.o.w.overlapsOfAll()
	if table != nil {
		table.enter(u)
	}
	k.issued = clock.Now()
	if locks := t.o.locks; locks != nil {
		defer locks.hold(u)()
		waited := clock.Now() - k.issued // which is no latency of the I/O
		k.issued += waited
		u.Start += waited
	}
	if t.doer != nil {
		t.doer.Do(u)
	} else {
		k.issued, k.err = t.async(u)
	}
	k.reaped = clock.Now()
	if table != nil {
		table.leave(u)
	}
	k.result = *u
}

// async does u on an engine that completes later, and returns when it was issued.
func (t *offloadThread) async(u *engines.IO) (issued int64, err error) {
	one := [1]*engines.IO{u}
	n, err := t.eng.Submit(one[:])
	issued = clock.Now()
	if err == nil && n == 0 {
		err = errAgain
	}
	if err != nil {
		return issued, err
	}
	if n, err = t.eng.Reap(one[:], 1, -1); err == nil && n == 0 {
		err = errLost
	}
	return issued, err
}

// file is the thread's copy of the file of k. It is made anew when the job has opened the file again, with a descriptor
// of its own for an engine that goes by the position of the file.
func (t *offloadThread) file(k *task) (*engines.File, error) {
	if k.u.File == nil || k.u.File.Index >= len(t.files) {
		return k.u.File, nil
	}
	i := k.u.File.Index
	f := &t.files[i]
	if t.opened[i] != k.opened || f.Fd < 0 {
		t.closeFile(f)
		*f, t.opened[i] = k.file, k.opened
		if t.o.w.drv.Traits.Seeks && f.Fd >= 0 {
			fd, err := sys.Reopen(f.Fd)
			if err != nil {
				f.Fd = -1
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			f.Fd = fd
		}
	}
	f.SyncFrom, f.SyncTo = k.file.SyncFrom, k.file.SyncTo
	return f, nil
}

func (t *offloadThread) closeFiles() {
	for i := range t.files {
		t.closeFile(&t.files[i])
	}
}

// closeFile closes a descriptor that is the thread's own.
func (t *offloadThread) closeFile(f *engines.File) {
	if t.o.w.drv.Traits.Seeks && f.Fd >= 0 {
		_ = sys.CloseFd(f.Fd)
	}
	f.Fd = -1
}

// answer adds what this thread has used, and waits until all have answered: so each is asked once.
func (c *usageCall) answer() {
	u, _ := sys.ThreadUsage()
	c.mu.Lock()
	c.sum.Add(u)
	c.mu.Unlock()
	c.arrived.Done()
	<-c.release
}
