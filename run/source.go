package run

import "fiord/workload"

// next is where I/Os come from: the generator, unless the job replays a log or shares a flow. The plain loops spell it
// out, since it is too large to be inlined.
func (w *worker) next(reqs []workload.Req) (int, workload.Verdict) {
	if w.special {
		return w.nextSpecial(reqs)
	}
	return w.gen.Fill(reqs)
}

func (w *worker) nextSpecial(reqs []workload.Req) (int, workload.Verdict) {
	if w.flow != nil && !w.flow.wait() {
		return 0, workload.End
	}
	if w.replay != nil {
		return w.replay.fill(reqs)
	}
	return w.gen.Fill(reqs)
}
