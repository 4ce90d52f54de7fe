package run

import (
	"errors"
	"io/fs"
	"os"

	"fiord/clock"
	"fiord/engines"
)

// endSync does what end_fsync, end_syncfs and the like ask for when a pass is over. These syncs are in the I/O log but, as
// in fio, in no statistic.
func (w *worker) endSync() {
	op := engines.Sync
	switch {
	case w.job.EndSyncfs:
		op = engines.Syncfs
	case !w.job.EndFsync && !w.job.FsyncOnClose:
		return
	}
	if !w.lastOp().IsData() {
		return // fio: nothing to sync after a sync
	}
	w.enter(stateFsyncing)
	for i, f := range w.set.Files {
		if err := w.syncFile(i, f, op); err != nil {
			w.failErr(err, "end_fsync")
			return
		}
	}
}

// lastOp is the last operation that was issued.
func (w *worker) lastOp() engines.Op {
	if w.doer != nil {
		return w.loop.ios[0].Op
	}
	return w.loop.lastOp
}

// syncFile syncs one file, opening it for that if it is closed.
func (w *worker) syncFile(i int, f *engines.File, op engines.Op) error {
	if !w.set.IsOpen(i) {
		if err := w.OpenFile(i); err != nil {
			return err
		}
		defer func() {
			w.ClosingFile(i)
			_ = w.CloseFile(i)
		}()
	}
	u := w.loop.ios[0]
	u.Op, u.File, u.FileIndex, u.Offset, u.Len = op, f, int32(i), w.gen.SyncReq(i).Offset, 0
	u.Done, u.Errno, u.Buf = 0, 0, w.loop.full(u)
	now := clock.Now()
	u.Start, u.Issued = now, now
	if w.trace != nil {
		w.logIO(u, now)
	}
	if err := w.alone(u); err != nil {
		return err
	}
	if u.Errno != 0 {
		w.showError(u)
		return u.Errno
	}
	return nil
}

// alone issues one I/O and waits for it; nothing else is in flight.
func (w *worker) alone(u *engines.IO) error {
	if w.doer != nil {
		w.doer.Do(u)
		return nil
	}
	one := []*engines.IO{u}
	n, err := w.eng.Submit(one)
	u.Inline = false
	if err == nil && n == 0 {
		err = errAgain
	}
	if err != nil {
		return err
	}
	w.loop.lastOp = u.Op
	n, err = w.eng.Reap(one, 1, -1)
	if err == nil && n == 0 {
		err = errLost
	}
	return err
}

// OpenFile is workload.Events: the generator starts using a file.
func (w *worker) OpenFile(i int) error {
	if err := w.set.Open(i); err != nil {
		return err
	}
	w.open.Add(1)
	if w.off != nil {
		w.off.opened[i]++
	}
	if w.trace != nil {
		w.trace.Open(w.set.Files[i].Name)
	}
	return nil
}

// ClosingFile is workload.ClosingEvents: the I/O log says so at once, though I/O may still be in flight.
func (w *worker) ClosingFile(i int) {
	if w.trace != nil {
		w.trace.Close(w.set.Files[i].Name)
	}
}

// RewindFile is workload.RewindEvents: the file starts over.
func (w *worker) RewindFile(i int) { w.set.Invalidate(i) }

// CloseFile is workload.Events: the generator is done with a file.
func (w *worker) CloseFile(i int) error {
	if !w.set.IsOpen(i) {
		return nil
	}
	w.open.Add(-1)
	return w.set.Close(i)
}

// closeFiles closes every file that is open.
func (w *worker) closeFiles() {
	if w.set == nil {
		return
	}
	if w.gen != nil {
		w.gen.Close()
	}
	for i := range w.set.Files {
		if err := w.CloseFile(i); err != nil {
			w.failErr(err, "close")
		}
	}
}

// logIO writes the I/O to the log of write_iolog.
func (w *worker) logIO(u *engines.IO, now int64) {
	if w.ranger != nil && u.Op == engines.Trim {
		w.logRanges(u, now)
		return
	}
	w.trace.IO(now, u.File.Name, u.Op.String(), u.Offset, u.Len)
}

// finish ends the job: logs, postrun, files, engine, memory. It runs whatever happened before.
func (w *worker) finish() {
	if w.logs != nil {
		if err := w.logs.CloseWorker(clock.Now()); err != nil {
			w.failErr(err, "write log")
		}
	}
	if w.epoch.Load() != 0 {
		if err := w.shell(w.job.ExecPostrun, "postrun"); err != nil {
			w.r.warn("job %q: %v", w.job.Name, err)
		}
	}
	if w.vfy != nil {
		if err := w.vfy.end(); err != nil {
			w.unsaved(err, w.job.IsSet("verify_state_save") || w.r.pulled.Load())
		}
	}
	w.replay.close()
	if w.gen != nil {
		for _, n := range w.gen.Notes() {
			w.r.note("%s: %s", w.job.Name, n)
		}
	}
	w.closeFiles()
	if w.set != nil {
		if err := w.set.Finish(); err != nil {
			w.failErr(err, "unlink")
		}
	}
	if w.eng != nil {
		w.features()
		if err := w.eng.Close(); err != nil {
			w.failErr(err, "close engine")
			w.arena = nil // never freed: an I/O that was not waited for may still write there
		}
	}
	if w.trace != nil {
		if err := w.trace.Finish(); err != nil {
			w.failErr(err, "write_iolog")
		}
	}
	if w.arena != nil {
		_ = w.arena.Close()
	}
	w.freeMaps()
	if w.locked != nil {
		_ = w.locked.Close()
	}
	w.announce()
}

// unsaved deals with a verify state that could not be saved: what is there of it is no state, so it goes, and the job
// fails where the state was asked for. By default every verifying job saves one, whether anybody wants it or not.
//
// fio differs: it leaves what it has, and the job has not failed.
func (w *worker) unsaved(err error, wanted bool) {
	var p *fs.PathError
	if errors.As(err, &p) && p.Op != "open" {
		if st, err := os.Lstat(p.Path); err == nil && st.Mode().IsRegular() {
			_ = os.Remove(p.Path)
		}
	}
	if !wanted || w.st.Error != 0 {
		w.r.warn("job %q: %v", w.job.Name, err)
		return
	}
	w.failErr(err, "verify_save_state")
}

// unsavedLate is unsaved for a state that a trigger was to save, when the worker has ended.
func (w *worker) unsavedLate(err error) {
	told := w.st.Error != 0
	if w.unsaved(err, true); !told {
		w.announce()
	}
}

// features takes over what the engine can tell of itself.
func (w *worker) features() {
	x := &w.st.Extra
	if f, ok := w.eng.(engines.Features); ok {
		x.Features = f.Features()
	}
	if w.node != "" {
		x.Features = append(x.Features, w.node)
	}
	w.calls(x)
	x.SubmittedIOs = w.st.TotalIOs() + w.st.SyncIOs
	x.ReapedIOs = w.loop.blockSum() + w.st.SyncIOs
	x.CPUs = w.cpus()
	x.Clock = clock.Source()
}
