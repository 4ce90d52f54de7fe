package run

import (
	"fmt"
	"os"

	"fiord/engines"
	"fiord/job"
	"fiord/verify"
	"fiord/workload"
)

// loadState loads what verify_state_load asks for.
func (v *verifier) loadState() error {
	w := v.w
	if !w.job.VerifyStateLoad {
		return nil
	}
	path := statePath(&w.r.cfg, w.job)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("verify_state_load: %w", err)
	}
	if v.state, err = verify.ParseState(data, w.job.IODepth); err != nil {
		return fmt.Errorf("verify_state_load: %s: %w", path, err)
	}
	return nil
}

// saveOnce stores how far the writes came, for verify_state_load, unless that has been done. It may be called while the
// worker runs, which must have been told to stop before.
//
// fio differs: it also saves a state after verify_only, which has written nothing, over the one of the writer.
func (v *verifier) saveOnce(running bool) error {
	w := v.w
	if !w.job.VerifyStateSave || !w.job.RW.Write || w.job.VerifyOnly {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.saved {
		return nil
	}
	v.saved = true
	s := verify.State{NumberIO: v.numbered.Load(), Index: uint64(w.job.Number - 1), Name: w.job.Name, Failed: v.failed}
	if w.job.VerifyPolicy == "fsynced" {
		s.NumberIO = max(v.synced.Load(), 1) - 1
	}
	s.InFlight = make([]uint64, max(w.job.IODepth, len(v.inFlight)))
	for i := range s.InFlight {
		s.InFlight[i] = verify.NoNumber
		if i < len(v.inFlight) {
			s.InFlight[i] = v.inFlight[i].Load()
		}
	}
	if w.gen != nil && !running {
		s.Wide, s.Rand = w.gen.OffsetState()
	}
	if err := os.WriteFile(statePath(&w.r.cfg, w.job), s.Encode(), 0o644); err != nil {
		return fmt.Errorf("verify_state_save: %w", err)
	}
	return nil
}

// stopsAt reports whether the write is beyond what can be expected on the medium.
func (v *verifier) stopsAt(number uint64) bool {
	if v.state == nil {
		return v.w.job.VerifyPolicy == "fsynced" && !v.readsOnly && number+1 >= max(v.synced.Load(), 1)
	}
	if number < v.state.NumberIO {
		return false
	}
	v.w.r.print(fmt.Sprintf("verification ends at write %d: the saved state covers %d", number, v.state.NumberIO))
	return true
}

// skips reports whether the loaded state says that the write may not be there.
func (v *verifier) skips(number uint64) bool { return v.state != nil && v.state.Lost(number) }

// dryPasses works out what the writer has written: one pass, or with a saved state as many as the job may have and the state
// covers, with what the later ones have overwritten taken out.
//
// fio differs: it looks at one pass alone, and finds what the next one has overwritten to be bad.
func (v *verifier) dryPasses() bool {
	w := v.w
	for n := uint64(1); ; n++ {
		before := v.issued
		if !v.dryRun() {
			return false
		}
		if v.state == nil || v.issued >= v.state.NumberIO || v.issued == before || !w.job.TimeBased && n >= uint64(w.job.Loops) || w.stopping() {
			return true
		}
		w.gen.NextPass()
		v.rewind()
	}
}

// dryRun goes through the writes of a pass without doing them (verify_only) and reports whether there are any.
//
// fio differs: it stops at the first write that was in flight when the state was saved. The later ones that had completed
// are on the medium and have overwritten what they overlap, so they are taken into account here.
func (v *verifier) dryRun() bool {
	w := v.w
	for !w.stopping() {
		if p, ok := v.nextTrim(); ok {
			if w.job.TrimVerifyZero {
				v.hist.at(p).mark(isTrimmed)
			} else {
				v.hist.remove(p)
			}
			v.countDry(engines.Trim, p.length())
			continue
		}
		if v.trims() {
			w.gen.Beyond(v.hist.forTrim > 0)
		}
		if w.replay == nil && !(w.job.TimeBased && v.state != nil) && w.gen.Exhausted() {
			break // of a job that goes by time the state says where it ends
		}
		if n, _ := w.next(v.req[:]); n == 0 {
			break
		}
		r := &v.req[0]
		if w.loop.tracked {
			w.gen.Completed(r.File)
		}
		if w.job.FillDevice && r.Op == engines.Write && r.Offset+int64(r.Len) > fileEnd(w.set.Files[r.File]) {
			break // the writer found the device full here
		}
		if r.Op == engines.Write && v.state != nil && v.stopsAt(v.issued) {
			break
		}
		if r.Op.IsData() {
			v.countDry(r.Op, r.Len)
		}
		switch r.Op {
		case engines.Write:
			v.recordDry(r)
		case engines.Trim:
			v.trimmed(r)
		}
	}
	if err := w.gen.Err(); err != nil {
		w.failErr(err, "get_io_u")
	}
	v.numbered.Store(v.issued)
	return w.st.Error == 0 && w.loop.moved[job.Write]+w.loop.moved[job.Trim] > 0
}

// fileEnd is how long a regular file really is, while its Size is what the job may fill.
func fileEnd(f *engines.File) int64 {
	st, err := os.Stat(f.Name)
	if err != nil || !st.Mode().IsRegular() {
		return f.Size
	}
	return st.Size()
}

// countDry counts an I/O that is not done, as fio does.
func (v *verifier) countDry(op engines.Op, n int) {
	w := v.w
	w.st.Dirs[op].IOs++
	w.st.Dirs[op].Bytes += uint64(n)
	w.st.Depth[0]++
	w.loop.blocks[op]++
	w.loop.moved[op] += uint64(n)
	v.lastOp = op
}

// recordDry records a write as if it had been done.
func (v *verifier) recordDry(r *workload.Req) {
	number, seed := v.issued, uint64(0)
	v.issued++
	if v.scheme.Random() {
		seed = v.rand.NextSeed()
	}
	if !v.keep {
		return
	}
	if v.skips(number) {
		v.lost(r)
		return
	}
	v.record(newPiece(int32(r.File), r.Offset, r.Len, number, seed))
}

// lost takes out of the history what a write or trim that may or may not have been done overlaps.
func (v *verifier) lost(r *workload.Req) {
	v.hist.forget(newPiece(int32(r.File), r.Offset, r.Len, 0, 0))
}

// trimmed takes out of the history what the job itself trims. Where it writes no block twice it trims none that it has
// written.
func (v *verifier) trimmed(r *workload.Req) {
	if v.keep && v.hist.sorted {
		v.lost(r)
	}
}

// end stops the threads of verify_async and saves the state.
func (v *verifier) end() error {
	if v.async != nil {
		v.collectAll()
		v.async.end()
		v.async = nil
	}
	if v.w.epoch.Load() == 0 {
		return nil // it never began
	}
	return v.saveOnce(false)
}
