package run

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"fiord/clock"
	"fiord/engines"
	"fiord/iolog"
	"fiord/job"
	"fiord/run/layout"
	"fiord/workload"
)

// replay gives the I/Os of a log in place of the generator: read_iolog.
type replay struct {
	w       *worker
	ahead   *readAhead      // nil: all of the log is in parts
	parts   [][]iolog.Entry // of the log, to come
	list    []iolog.Entry   // the part that is being done, from at on
	at      int
	closing []int32 // files to be closed when none of their I/Os is in flight
	last    int64   // clock.Now when a file was last opened or closed, for the delays
	lag     int64   // ns by which the pauses before were too long in sum: taken off the next
	begun   bool
}

// privateJob is the job of a worker: a copy for one that replays a log, which decides some of the options.
func privateJob(j *job.Job) *job.Job {
	if j.ReadIolog == "" {
		return j
	}
	own := *j
	return &own
}

// openReplay reads the log, or with read_iolog_chunked its beginning, and prepares the files that it names.
func (w *worker) openReplay() error {
	if w.job.ReadIolog == "" {
		return nil
	}
	p := &replay{w: w}
	files, totals, err := p.read()
	if err != nil || w.stopping() {
		p.close()
		return err
	}
	w.adopt(totals)
	w.job.NrFiles, w.job.OpenFiles = len(files), len(files)
	if w.filler, err = workload.NewFiller(w.job, w.r.cfg.Jobs...); err != nil {
		p.close()
		return err
	}
	if w.vfy, err = newVerifier(w); err != nil {
		p.close()
		return err
	}
	env := layout.Env{Print: w.r.print, Stop: w.stopping, ReadOnly: w.r.cfg.ReadOnly, Shared: w.r.locks, Filler: w.filler}
	if w.drv.Sizer != nil {
		env.Sizer = w.drv.Sizer(w.job)
	}
	if w.set, err = layout.PrepareReplay(w.job, w.drv, files, env); err != nil {
		p.close()
		return err
	}
	w.watchDisks(0)
	w.replay, w.special = p, true
	w.noteIgnored()
	return nil
}

// watchDisks adds the devices below the files from number from on to the statistics.
func (w *worker) watchDisks(from int) {
	if !w.job.DiskUtil || w.drv.Traits.Diskless {
		return
	}
	for _, f := range w.set.Files[from:] {
		w.r.disks.Add(f.Name)
	}
}

// read opens the log and reads what must be known before the job starts. A log that is only read piece by piece is read
// twice, if it can be: the first time for its files and the length of its I/Os.
func (p *replay) read() ([]string, *iolog.Totals, error) {
	ahead, whole, err := p.open()
	if err != nil {
		return nil, nil, err
	}
	if p.w.job.ReadIologChunked && !whole {
		return p.start(ahead)
	}
	files, totals, err := p.readAll(ahead, !p.w.job.ReadIologChunked)
	ahead.close()
	if err == nil && p.w.job.ReadIologChunked && !p.w.stopping() {
		p.ahead, _, err = p.open()
	}
	return files, totals, err
}

func (p *replay) open() (*readAhead, bool, error) {
	path := iolog.ReplayPath(p.w.job)
	in, whole, err := p.openLog(path)
	if err != nil {
		return nil, false, err
	}
	return startReadAhead(path, in, iolog.ReplayConfig(p.w.job, p.w.r.cfg.ReadOnly)), whole, nil
}

// openLog opens the log, until the job is asked to stop: a pipe can be opened only once somebody writes to it. The thread that
// waits for that has the job's uid and gid.
func (p *replay) openLog(path string) (io.ReadCloser, bool, error) {
	type log struct {
		in    io.ReadCloser
		whole bool
		err   error
	}
	opened := make(chan log, 1) // the goroutine may wait for as long as the process lives
	go func() {
		runtime.LockOSThread() // never unlocked: what is set on the thread ends with it
		if err := p.w.credentials(); err != nil {
			opened <- log{err: err}
			return
		}
		in, whole, err := iolog.OpenLog(path)
		opened <- log{in, whole, err}
	}()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case l := <-opened:
			return l.in, l.whole, l.err
		case <-look.C:
			if p.w.stopping() {
				return nil, false, layout.ErrStopped
			}
		}
	}
}

// readAll reads the log to its end, and keeps the entries if keep says so.
func (p *replay) readAll(ahead *readAhead, keep bool) ([]string, *iolog.Totals, error) {
	for {
		c, ok := ahead.wait(p.w.stopping)
		switch {
		case !ok:
			return nil, nil, nil // asked to stop
		case c.err == io.EOF:
			p.showNotes(c.notes)
			return c.files, &c.totals, nil
		case c.err != nil:
			return nil, nil, c.err
		}
		if keep {
			p.parts = append(p.parts, c.list)
		} else {
			ahead.done(c.list)
		}
	}
}

// liveBlock is the length up to which the buffers of a log that comes while it is replayed have room from the start.
const liveBlock = 1 << 20

// start takes the beginning of a log that comes while it is replayed: it may hold any kind of I/O.
func (p *replay) start(ahead *readAhead) ([]string, *iolog.Totals, error) {
	p.ahead = ahead
	c, ok := ahead.wait(p.w.stopping)
	if !ok || c.err != nil {
		return nil, nil, c.err
	}
	p.list = c.list
	t := &iolog.Totals{Reads: 1, Writes: 1, Trims: 1}
	for d := range t.MaxLen {
		t.MaxLen[d] = max(liveBlock, c.totals.MaxLen[d])
	}
	if p.w.r.cfg.ReadOnly {
		t.Writes, t.Trims = 0, 0
	}
	return c.files, t, nil
}

func (p *replay) showNotes(notes []string) {
	for _, n := range notes {
		p.w.r.warn("%s: %s", p.w.job.Name, n)
	}
}

// adopt makes the job what the log does. A nil t, of a job asked to stop, changes nothing.
func (w *worker) adopt(t *iolog.Totals) {
	if t == nil {
		return
	}
	j := w.job
	j.RW = job.RWMode{Read: t.Reads > 0, Write: t.Writes > 0, Trim: t.Trims > 0, SeqNr: 1, Text: j.RW.Text}
	for d, n := range t.MaxLen {
		j.MaxBS[d] = max(j.MaxBS[d], n)
	}
	if t.Depth > 0 && !j.IsSet("iodepth") {
		j.IODepth, j.IODepthLow = t.Depth, t.Depth
	}
	w.total.Store(t.Bytes)
}

// noteIgnored tells of options that a replay, which does what its log says, has no use for.
func (w *worker) noteIgnored() {
	for _, name := range []string{"loops", "time_based", "number_ios", "io_size", "rate", "rate_iops", "fsync", "fdatasync", "filename"} {
		if w.job.IsSet(name) {
			w.r.note("%s: %s has no effect on the replay of a log", w.job.Name, name)
		}
	}
}

// begin is the generator's step of a replay: there is none, but one that has nothing to give.
func (p *replay) begin() {
	w := p.w
	w.gen = new(workload.Generator)
	w.loop.stamps = w.loop.stamps || !w.job.ReplayNoStall // delays count from the last I/O
}

func (p *replay) close() {
	if p != nil && p.ahead != nil {
		p.ahead.close()
		p.ahead = nil
	}
}

// fill is Generator.Fill of a replay. I/Os with a delay, and those behind the opening or closing of a file, come alone.
func (p *replay) fill(reqs []workload.Req) (int, workload.Verdict) {
	if len(p.closing) > 0 && !p.closeIdle() {
		return 0, workload.End
	}
	for n := 0; ; {
		if n == len(reqs) {
			return n, workload.Issue
		}
		if p.at == len(p.list) {
			if n > 0 {
				return n, workload.Issue
			}
			if !p.more() {
				return 0, workload.End
			}
			continue
		}
		e := &p.list[p.at]
		if n > 0 && (e.Kind != iolog.EntryIO || e.Delay > 0) {
			return n, workload.Issue
		}
		p.at++
		if !p.enact(e) {
			return 0, workload.End
		}
		if e.Kind == iolog.EntryIO {
			reqs[n] = workload.Req{Op: engines.Op(e.Op), File: int(e.File), Offset: e.Offset, Len: int(e.Len)}
			n++
		}
	}
}

// enact does what an entry asks for, up to the I/O itself. It reports whether the job goes on.
func (p *replay) enact(e *iolog.Entry) bool {
	w := p.w
	if e.Kind == iolog.EntryWait {
		return w.sendBatch() && w.sleepUntil(w.r.genesis+int64(e.Delay))
	}
	if e.Delay > 0 && !p.pause(int64(e.Delay)) {
		return false
	}
	switch e.Kind {
	case iolog.EntryIO:
		return true
	case iolog.EntryOpen:
		p.last = clock.Now()
		if i := slices.Index(p.closing, e.File); i >= 0 {
			p.closing = slices.Delete(p.closing, i, i+1) // it never was closed
			return true
		}
		if err := w.OpenFile(int(e.File)); err != nil {
			w.failErr(err, "iolog open file")
			return false
		}
	case iolog.EntryClose:
		p.last = clock.Now()
		p.closing = append(p.closing, e.File)
		return p.closeIdle()
	default:
		p.last = clock.Now()
	}
	return true
}

// sendBatch submits what waits for a batch to fill, before a pause.
func (w *worker) sendBatch() bool { return len(w.loop.batch) == 0 || w.submit() }

// closeIdle closes the files to be closed that have no I/O in flight.
func (p *replay) closeIdle() bool {
	w := p.w
	busy := map[int32]bool{}
	if w.doer == nil {
		for _, u := range w.loop.ios {
			if u.User != 0 {
				busy[u.FileIndex] = true
			}
		}
	}
	p.closing = slices.DeleteFunc(p.closing, func(i int32) bool {
		if busy[i] {
			return false
		}
		if err := w.CloseFile(int(i)); err != nil {
			w.failErr(err, "iolog close file")
		}
		return true
	})
	return w.st.Error == 0
}

// pause waits until delay has passed since the last I/O. What pauses take too long is made up for by the next ones, as
// with fio.
func (p *replay) pause(delay int64) bool {
	if delay < p.lag {
		p.lag = 0
		return true
	}
	w := p.w
	began := clock.Now()
	left := delay - p.lag - (began - p.lastIssue())
	if left <= 0 {
		return true
	}
	if !w.sendBatch() {
		return false
	}
	for w.loop.inflight > 0 && clock.Now()-began < left {
		if w.over(clock.Now()) || !w.reap(0) {
			return false
		}
	}
	if !w.sleepUntil(began + left) {
		return false
	}
	p.lag = max(0, clock.Now()-began-delay)
	return true
}

// lastIssue is when the last I/O was issued, or file opened or closed; 0 before the first.
func (p *replay) lastIssue() int64 {
	last := p.last
	for _, u := range p.w.loop.ios {
		last = max(last, u.Issued)
	}
	return last
}

// more takes the next entries: of a log that is read while it is replayed, those that have come. It reports false at the end.
func (p *replay) more() bool {
	if p.ahead == nil {
		if len(p.parts) == 0 {
			return false
		}
		p.list, p.parts, p.at = p.parts[0], p.parts[1:], 0
		return true
	}
	w := p.w
	p.ahead.done(p.list)
	p.list, p.at = nil, 0
	if !w.sendBatch() {
		return false
	}
	c, ok := p.ahead.poll()
	for !ok {
		if w.over(clock.Now()) {
			return false
		}
		if w.loop.inflight > 0 {
			if !w.reap(0) {
				return false
			}
			c, ok = p.ahead.poll()
			continue
		}
		c, ok = p.ahead.sleep()
	}
	if c.err == io.EOF {
		p.showNotes(c.notes)
		return false
	}
	if c.err == nil {
		c.err = p.makeRoom(&c)
	}
	if c.err != nil {
		w.failErr(c.err, "read iolog")
		return false
	}
	p.list = c.list
	return true
}

// makeRoom prepares for new files and for longer I/Os than there were before: the engine starts anew with them.
func (p *replay) makeRoom(c *logChunk) error {
	w := p.w
	size := max(c.totals.MaxLen[job.Read], c.totals.MaxLen[job.Write])
	known := len(w.set.Files)
	if len(c.files) == known && (w.loop.arena == nil || size <= uint64(w.loop.size)) {
		return nil
	}
	if w.loop.arena == nil && size > 0 && !w.drv.Traits.NoIO {
		return fmt.Errorf("the job has no buffers for reads and writes")
	}
	if !w.quiesce() {
		return nil // its error is recorded
	}
	if err := w.set.AddReplay(c.files[known:]); err != nil {
		return err
	}
	w.loop.files = w.set.Files
	w.job.NrFiles, w.job.OpenFiles = len(c.files), len(c.files)
	w.watchDisks(known)
	for d, n := range c.totals.MaxLen {
		w.job.MaxBS[d] = max(w.job.MaxBS[d], n)
	}
	return w.reopenEngine()
}

// reopenEngine closes engine and files and opens them again, with buffers for the longest I/O. Nothing is in flight.
func (w *worker) reopenEngine() error {
	var open []int
	for i := range w.set.Files {
		if w.set.IsOpen(i) {
			open = append(open, i)
			if err := w.set.Close(i); err != nil {
				return err
			}
		}
	}
	if err := w.eng.Close(); err != nil {
		return fmt.Errorf("close engine: %w", err)
	}
	if err := w.growBuffers(); err != nil {
		return err
	}
	if err := w.newEngine(); err != nil {
		return err
	}
	for _, i := range open {
		if err := w.set.Open(i); err != nil {
			return err
		}
	}
	return w.lockFiles()
}

// growBuffers gives all I/Os buffers of the size that is needed now.
func (w *worker) growBuffers() error {
	l := &w.loop
	size := w.bufferSize()
	if w.arena == nil || size <= uint64(l.size) {
		return nil
	}
	old := w.arena
	if err := w.newArena(len(l.ios), size); err != nil {
		return err
	}
	_ = old.Close() // as at the end of a job: the memory is the system's own again, or stays
	l.arena, l.size = w.arena.Mem, int(size)
	for _, u := range l.ios {
		u.Buf = l.full(u)
	}
	return w.contents()
}

// once reports true the first time: as with fio a log is replayed one time, whatever loops and time_based say.
func (p *replay) once() bool {
	first := !p.begun
	p.begun = true
	return first
}
