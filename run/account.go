package run

import (
	"slices"
	"syscall"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/iolog"
	"fiord/job"
	"fiord/report"
	"fiord/stats"
)

const errAgain = syscall.EAGAIN

// complete takes a finished I/O and reports whether it is done with: false means a short transfer whose rest u now
// describes, or an error that w.st.Error holds.
func (w *worker) complete(u *engines.IO, now int64) bool {
	if u.Errno != 0 {
		return w.failed(u)
	}
	if !u.Op.IsData() {
		w.accountSync(u, now)
		return true
	}
	n := u.Done
	if n != len(u.Buf) && w.short(u) {
		return false
	}
	l := &w.loop
	l.blocks[u.Op]++
	l.moved[u.Op] += uint64(n)
	d := &w.st.Dirs[u.Op]
	d.Bytes += uint64(n)
	if u.Op == engines.Write {
		w.wrote(u)
	}
	if w.ramping || !l.stats {
		return true
	}
	if l.lat {
		lat := uint64(now - u.Start)
		d.Lat.Add(lat)
		if d.Lat.Hist != nil {
			d.Lat.Hist.Add(lat)
		}
	}
	if l.clat {
		clat := uint64(now - u.Issued)
		d.Clat.Add(clat)
		if d.Clat.Hist != nil {
			d.Clat.Hist.Add(clat)
		}
		w.st.MarkLatency(clat)
	}
	if w.watched {
		w.watch(u, now)
	}
	return true
}

// oneByOne fills in the distributions of an engine that does its I/O inside Do: they follow from the number of I/Os. Only
// fio's truly synchronous engines count each as a submit and a reap.
func (w *worker) oneByOne(j *stats.Job) {
	if w.doer == nil {
		return
	}
	n := j.TotalIOs() + j.SyncIOs
	j.Depth[0] = n
	if w.drv.Traits.Sync {
		j.Submit[1], j.Submits, j.Complete[1], j.Reaps = n, n, n, n
	}
	if j.Error != 0 && n > 0 {
		j.Complete[0] = 1 // fio looks for more after an error
		j.Reaps++
	}
}

// short handles a transfer that moved less than asked: the rest goes to the engine again, unless the file has ended. It
// reports whether there is a rest, or an error.
func (w *worker) short(u *engines.IO) bool {
	d := &w.st.Dirs[u.Op]
	n := u.Done
	if u.Op == engines.Trim {
		return false
	}
	if n == 0 {
		w.fail(syscall.EIO, "full resid")
		return true
	}
	d.Short++
	if u.Offset+int64(n) >= u.File.Size && u.File.Size > 0 {
		return false
	}
	w.loop.moved[u.Op] += uint64(n)
	d.Bytes += uint64(n)
	if u.Op == engines.Write {
		w.wrote(u)
	}
	u.Offset += int64(n)
	u.Buf = u.Buf[n:]
	u.Done, u.Errno = 0, 0
	return true
}

// wrote widens the range that the next sync_file_range covers.
func (w *worker) wrote(u *engines.IO) {
	f := u.File
	if end := u.Offset + int64(u.Done); end > f.SyncTo {
		f.SyncTo = end
	}
	if f.SyncFrom < 0 || u.Offset < f.SyncFrom {
		f.SyncFrom = u.Offset
	}
}

// accountSync counts a finished fsync and its like.
func (w *worker) accountSync(u *engines.IO, now int64) {
	u.File.SyncFrom, u.File.SyncTo = -1, 0
	if w.ramping || !w.job.Stats || w.job.DisableClat {
		return
	}
	lat := uint64(now - u.Issued)
	w.st.SyncLat.Add(lat)
	w.st.SyncLat.Hist.Add(lat)
}

// addSlat records a submission latency.
func (w *worker) addSlat(u *engines.IO, now int64) {
	if !w.job.Stats {
		return
	}
	d := &w.st.Dirs[u.Op]
	slat := uint64(now - u.Start)
	d.Slat.Add(slat)
	if d.Slat.Hist != nil {
		d.Slat.Hist.Add(slat)
	}
	if w.logs != nil && w.logs.Slat != nil {
		w.logs.Slat.Add(now, slat, u.Op.Dir(), uint64(u.Len), uint64(u.Offset), w.prioOf(u), now)
	}
}

// prioOf is the priority that the I/O had: its own, or the thread's.
func (w *worker) prioOf(u *engines.IO) uint16 {
	if u.Prio != 0 {
		return u.Prio
	}
	return w.ioprio
}

// watch does what only some jobs want of a finished I/O: logs and latency limits.
func (w *worker) watch(u *engines.IO, now int64) {
	dir := u.Op.Dir()
	if lg := w.logs; lg != nil {
		bs, off, prio := uint64(u.Len), uint64(u.Offset), w.prioOf(u)
		if lg.Lat != nil && !w.job.DisableLat {
			lg.Lat.Add(now, uint64(now-u.Start), dir, bs, off, prio, 0)
		}
		if lg.Clat != nil && !w.job.DisableClat {
			lg.Clat.Add(now, uint64(now-u.Issued), dir, bs, off, prio, u.Issued)
		}
		if lg.Hist != nil && !w.job.DisableClat {
			lg.Hist.Add(now, uint64(now-u.Issued), dir, bs)
		}
		w.logRates(lg, u, now)
	}
	if w.prios[dir] != nil {
		w.addPrio(u, now)
	}
	if limit := w.maxLat[dir]; limit > 0 && now-u.Start > limit {
		w.r.warn("latency of %d ns is above the limit of %d ns: %s: %s at %d, %d bytes", now-u.Start, limit, u.File.Name, u.Op,
			u.Offset, u.Len)
		w.fail(syscall.ETIMEDOUT, "max latency exceeded")
	}
	if t := w.lat; t != nil && now-u.Start > t.target && t.missed() {
		w.r.warn("latency of %d ns is above the limit of %d ns: %s: %s at %d, %d bytes", now-u.Start, t.target, u.File.Name, u.Op,
			u.Offset, u.Len)
		w.fail(syscall.ETIMEDOUT, "max latency exceeded")
	}
}

// logRates adds to bandwidth and IOPS logs that have a line for each I/O.
func (w *worker) logRates(lg *iolog.JobLogs, u *engines.IO, now int64) {
	d := &w.st.Dirs[u.Op]
	if lg.Bw != nil && lg.Bw.PerIO() && !w.job.DisableBWMeasurement {
		rate := uint64(0)
		if spent := now - u.Issued; spent > 0 {
			rate = uint64(u.Done) * 1e6 / uint64(spent)
		}
		d.BW.Add(rate)
		lg.Bw.Add(now, rate, u.Op.Dir(), uint64(u.Done), uint64(u.Offset), w.prioOf(u), 0)
	}
	if lg.Iops != nil && lg.Iops.PerIO() {
		d.IOPS.Add(1)
		lg.Iops.Add(now, 1, u.Op.Dir(), uint64(u.Done), uint64(u.Offset), w.prioOf(u), 0)
	}
}

// addPrio records the latency under the I/O's priority: the total one where the job wants its percentiles.
func (w *worker) addPrio(u *engines.IO, now int64) {
	d := &w.st.Dirs[u.Op]
	from := u.Issued
	if w.job.LatPercentiles {
		from = u.Start
	}
	for i, v := range w.prios[u.Op] {
		if v == u.Prio {
			p := &d.Prios[i]
			p.Add(uint64(now - from))
			if p.Hist != nil {
				p.Hist.Add(uint64(now - from))
			}
			return
		}
	}
}

// failed handles an I/O that ended with an error: counted and passed over where continue_on_error says so, else the end
// of the job. It reports whether the job goes on.
func (w *worker) failed(u *engines.IO) bool {
	errno := u.Errno
	if w.job.FillDevice && (errno == syscall.ENOSPC || errno == syscall.EDQUOT) {
		w.terminate()
		return true
	}
	passOver := w.passOver(u.Op, errno)
	if !passOver || w.job.ErrorDump {
		w.showError(u)
	}
	if errno == syscall.EINVAL && w.job.Direct && w.loop.issued[0]+w.loop.issued[1]+w.loop.issued[2] == 1 {
		w.r.failed("fio: first direct IO errored. File system may not support direct IO, or iomem_align= is bad, or " +
			"invalid block size. Try setting direct=0.")
	}
	if passOver || w.doer != nil && w.continues(u.Op, errno) {
		w.st.TotalErr++
		if w.st.FirstError == 0 {
			w.st.FirstError = int(errno)
		}
	}
	if passOver {
		if u.Op.IsData() {
			w.gen.Failed()
		}
		return true
	}
	w.fail(errno, "io_u error")
	return false
}

// showError prints what fio prints of a failed I/O, the first few times.
func (w *worker) showError(u *engines.IO) {
	const most = 20
	if w.errShown++; w.errShown > most {
		return
	}
	what := report.ErrnoText(int(u.Errno))
	if d, ok := w.eng.(engines.ErrorDecoder); ok {
		if err := d.DecodeError(u); err != nil {
			what = err.Error()
		}
	}
	n := len(u.Buf)
	if u.Op == engines.Trim {
		n = u.Len // a trim needs no buffer
	}
	w.r.warn("io_u error on file %s: %s: %s offset=%d, buflen=%d", u.File.Name, what, u.Op, u.Offset, n)
}

// errorClass is the kind of error for continue_on_error and ignore_error: 0 of reads, 1 of writes, trims and syncs, 2 of
// verification.
func errorClass(op engines.Op, errno syscall.Errno) int {
	switch {
	case errno == syscall.EILSEQ:
		return 2
	case op == engines.Read:
		return 0
	}
	return 1
}

// continues reports whether continue_on_error names the kind of error.
func (w *worker) continues(op engines.Op, errno syscall.Errno) bool {
	return [...]bool{w.job.ContinueOnRead, w.job.ContinueOnWrite, w.job.ContinueOnVerify}[errorClass(op, errno)]
}

// passOver reports whether continue_on_error and ignore_error let the job go on after the error.
func (w *worker) passOver(op engines.Op, errno syscall.Errno) bool {
	if !w.continues(op, errno) {
		return false
	}
	ignored := w.job.IgnoreError[errorClass(op, errno)]
	if ignored == nil {
		return errno == syscall.EIO || errno == syscall.EILSEQ
	}
	return slices.Contains(ignored, int(errno))
}

// resetStats forgets everything measured, at the end of a ramp. What the generator and the limits know stays.
func (w *worker) resetStats(now int64) {
	w.st.Dirs = [job.NDirs]stats.Dir{}
	w.st.SyncIOs, w.st.Depth, w.st.Submit, w.st.Complete = 0, [7]uint64{}, [7]uint64{}, [7]uint64{}
	w.st.Submits, w.st.Reaps, w.st.ZoneResets = 0, 0, 0
	w.st.LatNs, w.st.LatUs, w.st.LatMs = [10]uint64{}, [10]uint64{}, [12]uint64{}
	w.initHists()
	w.elapsed = [job.NDirs]int64{}
	w.before = rampedOver
	w.loop.blocks, w.loop.moved, w.loop.issued = [job.NDirs]uint64{}, [job.NDirs]uint64{}, [job.NDirs]uint64{}
	for d := range w.loop.moved {
		w.bytes[d].Store(0) // before the new epoch is seen: the helper measures from it
		w.ios[d].Store(0)
	}
	w.latSum.Store(0)
	w.latCount.Store(0)
	w.markCalls()
	w.usage, _ = w.threadUsage()
	w.st.JobStart = sys.ClockMs(w.job.JobStartClockID)
	w.start = now
	w.epoch.Store(now)
}
