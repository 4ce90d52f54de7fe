package run

import (
	"fiord/engines"
	"fiord/job"
)

// newRanger is the engine of a job whose trims have several ranges (num_range), else nil.
func (w *worker) newRanger() engines.RangeTrimmer {
	if !w.job.RW.Trim || w.job.NumRange <= 1 || w.replay != nil {
		return nil
	}
	r, _ := w.eng.(engines.RangeTrimmer)
	return r
}

// logRanges writes a trim of several ranges to the log of write_iolog, a line for each. fio differs: its single line has the
// place of the last range and the length of all, which nothing could replay.
func (w *worker) logRanges(u *engines.IO, now int64) {
	for _, r := range w.gen.Ranges() {
		w.trace.IO(now, u.File.Name, job.Trim.String(), r.Offset, int(r.Len))
	}
}
