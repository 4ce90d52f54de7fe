package run

import (
	"math"
	"time"

	"fiord/clock"
	"fiord/job"
	"fiord/report"
)

// status is the state of the run for the live line.
func (h *helper) status() report.Status {
	r := h.r
	now := clock.Now()
	first := r.workers[0].job
	s := report.Status{Jobs: len(r.workers), Elapsed: time.Duration(now - r.genesis), Percent: -1,
		UnitBase: number(first.UnitBase), KBBase: number(first.KBBase), SigFigs: first.SignificantFigures}
	letters := make([]byte, len(r.workers))
	var bytes, ios [job.NDirs]uint64
	ramp := 0
	for i, w := range r.workers {
		st := w.get()
		letters[i] = st.letter(w.job)
		switch {
		case st == stateRamp:
			s.Running++
			ramp++
		case st >= stateRunning && st < stateExited:
			s.Running++
			s.Files += int(w.open.Load())
			for d := range job.NDirs {
				if !w.does(job.Dir(d)) {
					continue
				}
				s.WantRate += w.job.Rate[d]
				s.WantIOPS += uint64(w.job.RateIOPS[d])
				s.MinRate += w.job.RateMin[d]
				s.MinIOPS += uint64(w.job.RateIOPSMin[d])
			}
		}
		for d := range bytes {
			bytes[d] += w.bytes[d].Load()
			ios[d] += w.ios[d].Load()
		}
	}
	s.Letters, s.Ramp = string(letters), ramp > 0 && ramp == s.Running
	h.rates(&s, now, bytes, ios)
	s.EtaSec = r.eta(now)
	if s.EtaSec >= 0 && s.EtaSec != report.EtaNone {
		total := s.Elapsed.Seconds() + float64(s.EtaSec)
		s.Percent = min(100, 100*s.Elapsed.Seconds()/max(total, 1e-9))
	}
	return s
}

// rates fills in what moved since the last status.
func (h *helper) rates(s *report.Status, now int64, bytes, ios [job.NDirs]uint64) {
	since := h.lastLive
	if since == 0 {
		since = h.r.genesis
	}
	if ms := uint64(now-since) / 1e6; ms > 0 {
		for d := range bytes {
			if bytes[d] >= h.liveBytes[d] && ios[d] >= h.liveIOs[d] { // less after a ramp
				s.Rate[d] = (bytes[d] - h.liveBytes[d]) * 1000 / ms
				s.IOPS[d] = (ios[d] - h.liveIOs[d]) * 1000 / ms
			}
		}
	}
	h.lastLive, h.liveBytes, h.liveIOs = now, bytes, ios
}

// settle is how long, in seconds, a run goes before an estimate of its end is worth showing.
const settle = 3

// eta is the estimate of the seconds left: the longest of the jobs side by side, plus those that wait behind a stonewall.
func (r *runner) eta(now int64) int64 {
	if now-r.genesis < settle*int64(time.Second) {
		return report.EtaNone
	}
	if r.exitAll {
		least := int64(math.MaxInt64)
		for _, w := range r.workers {
			least = min(least, w.eta(now))
		}
		return least
	}
	var side, behind int64
	for _, w := range r.workers {
		e := w.eta(now)
		if w.get() == stateNotCreated && w.job.Stonewall > 0 {
			behind += e
		} else {
			side = max(side, e)
		}
	}
	return side + behind
}

// eta is the estimate for one job, in seconds.
func (w *worker) eta(now int64) int64 {
	switch s := w.get(); {
	case s == stateRunning || s == stateVerifying:
		return w.etaRunning(now)
	case s < stateRunning || s == statePreReading:
		return w.etaPending(now)
	}
	return 0
}

// etaRunning extrapolates from the bytes moved, or the time spent where that comes first.
func (w *worker) etaRunning(now int64) int64 {
	elapsed := float64(now-w.epoch.Load()) / 1e9
	limit := w.job.Runtime.Seconds()
	done := 0.0
	if t := w.total.Load(); t > 0 {
		done = min(1, float64(w.bytes[0].Load()+w.bytes[1].Load()+w.bytes[2].Load())/float64(t))
	}
	if w.job.TimeBased {
		done = 0
		if limit > 0 {
			done = min(1, elapsed/limit)
		}
	}
	left := limit
	if done > 0 {
		left = elapsed/done - elapsed
	}
	if limit > 0 {
		left = min(left, max(0, limit-elapsed))
	}
	return int64(math.Ceil(left))
}

// does reports whether the job has I/O of direction d: rates may be given for others, too.
func (w *worker) does(d job.Dir) bool {
	return [...]bool{w.job.RW.Read, w.job.RW.Write, w.job.RW.Trim}[d]
}

// etaPending guesses: the full run time if there is one, or the size at the rate asked for.
func (w *worker) etaPending(now int64) int64 {
	var byTime, byRate int64
	if w.job.Runtime > 0 {
		t := w.job.Runtime + w.delay
		if e := w.epoch.Load(); w.get() == stateRamp {
			t += w.job.RampTime - time.Duration(now-e)
		} else {
			t += w.job.RampTime
		}
		byTime = int64(t / time.Second)
	}
	rate := uint64(0)
	for d := range job.NDirs {
		if w.does(job.Dir(d)) {
			rate += w.job.Rate[d]
		}
	}
	if rate > 0 {
		byRate = int64(w.total.Load()/rate) + int64(w.delay/time.Second)
	}
	if byTime > 0 && byRate > 0 {
		return min(byTime, byRate)
	}
	return max(byTime, byRate)
}
