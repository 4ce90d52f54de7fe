package run

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"fiord/engines"
	"fiord/job"
	"fiord/zoned"
)

// zones is what the worker of a job with zonemode=zbd has besides. It stands between the worker and its engine: trims of
// zones end here, and what a finished I/O held is given back.
type zones struct {
	*zoned.Job
	w          *worker
	inner      engines.Engine
	sync       engines.SyncEngine
	appends    engines.ZoneAppender // not nil: writes are zone appends
	ended      []*engines.IO        // trims that are done
	instead    piece                // to be verified in place of the I/O that the generator gave last
	hasInstead bool
}

// newZones makes the zones of the worker's job; nil: it has none.
func newZones(w *worker) *zones {
	j := w.job
	if j.ZoneMode != "zbd" {
		return nil
	}
	z := &zones{w: w}
	cfg := zoned.Config{Job: j, Sync: w.drv.Traits.Sync, Fake: w.drv.Traits.FakeIO, Registry: &w.r.zones,
		Manager: zoned.Block{}, Quiesce: w.quiesce, Resets: func() { w.st.ZoneResets++ }, Check: z.check, Unverified: z.unverified,
		Note: func(format string, args ...any) { w.r.note(j.Name+": "+format, args...) }}
	if w.drv.Zones != nil {
		cfg.Manager = w.drv.Zones(j)
	}
	if w.drv.Appends != nil {
		cfg.Appends = w.drv.Appends(j)
	}
	z.Job = zoned.New(cfg)
	w.st.CountZoneResets = j.RW.Write || j.RW.Trim
	return z
}

// Open is layout.Zones: it finds out the zones of f and fills in what options count in zones.
func (z *zones) Open(f *engines.File, size uint64) error {
	zoneSize, err := z.Job.Open(f, size)
	if err != nil {
		return err
	}
	o := &z.w.job.Options
	o.ZoneSize = zoneSize
	for _, s := range []*job.Size{&o.Size, &o.IOSize, &o.Offset, &o.OffsetIncrement, &o.ZoneSkip} {
		if s.Kind == job.Zones {
			*s = job.Size{Value: s.Value * zoneSize, Kind: job.Bytes}
		}
	}
	return nil
}

// check takes what is to be verified before a zone can be reset.
func (z *zones) check() (offset, length uint64, ok bool) {
	v := z.w.vfy
	if v == nil || v.checking {
		return 0, 0, false
	}
	p, ok := v.hist.take()
	if !ok {
		return 0, 0, false
	}
	z.instead, z.hasInstead = p, true
	return uint64(p.offset), uint64(p.length()), true
}

// unverified reports whether some of what was written is still to be verified.
func (z *zones) unverified() bool {
	v := z.w.vfy
	return v == nil || v.checking || v.hist.n > 0 || v.batch > 0
}

// takeInstead is the piece to verify in place of what the generator gave; false: none.
func (z *zones) takeInstead() (piece, bool) {
	if z == nil || !z.hasInstead {
		return piece{}, false
	}
	z.hasInstead = false
	return z.instead, true
}

// stepIn puts the zones between the worker and its engine.
func (w *worker) stepIn() error {
	z := w.zones
	if z == nil || w.set == nil {
		return nil
	}
	z.ended = make([]*engines.IO, 0, len(w.loop.ios))
	z.inner, w.eng = w.eng, z
	if a, ok := z.inner.(engines.ZoneAppender); ok && a.Appends() {
		z.appends = a
	}
	if w.doer != nil {
		z.sync, w.doer = w.doer, z
	}
	return nil
}

// Do is SyncEngine's.
func (z *zones) Do(u *engines.IO) {
	if z.Trims(u) {
		z.Trim(u)
	} else {
		z.sync.Do(u)
	}
	if rest := u.Errno == 0 && u.Op != engines.Trim && u.Done > 0 && u.Done < len(u.Buf) && u.Offset+int64(u.Done) < u.File.Size; !rest {
		z.over(u)
	}
}

// Submit is Engine's. A trim of a zone is done at once.
func (z *zones) Submit(ios []*engines.IO) (int, error) {
	taken := 0
	for taken < len(ios) {
		run := 0
		for taken+run < len(ios) && !z.Trims(ios[taken+run]) {
			run++
		}
		if run > 0 {
			n, err := z.inner.Submit(ios[taken : taken+run])
			taken += n
			if err != nil || n < run {
				return taken, err
			}
			continue
		}
		u := ios[taken]
		z.Trim(u)
		u.Inline = true
		z.ended = append(z.ended, u)
		taken++
	}
	return taken, nil
}

// Reap is Engine's.
func (z *zones) Reap(done []*engines.IO, least int, wait time.Duration) (int, error) {
	n := copy(done, z.ended)
	z.ended = z.ended[:copy(z.ended, z.ended[n:])]
	var err error
	if n < len(done) {
		var more int
		more, err = z.inner.Reap(done[n:], max(least-n, 0), wait)
		n += more
	}
	for _, u := range done[:n] {
		if u.Done > 0 && u.Done < len(u.Buf) && u.Errno == 0 && u.Op != engines.Trim && u.Offset+int64(u.Done) < u.File.Size {
			continue // its rest follows
		}
		z.over(u)
	}
	return n, err
}

// over gives back what u held.
func (z *zones) over(u *engines.IO) {
	if v := z.w.vfy; v != nil && u.Op.IsData() && v.ios[u.Index].listed {
		return // it is no I/O of the generator's
	}
	if z.appends != nil && u.Op == engines.Write && u.Errno == 0 {
		if at, ok := z.appends.Landed(u); ok {
			if err := z.Landed(u, at); err != nil {
				z.w.r.warn("%s: %v", u.File.Name, err)
				u.Done, u.Errno = 0, syscall.EIO
			}
		}
	}
	z.Ended(u)
}

// Close is Engine's.
func (z *zones) Close() error {
	err := z.inner.Close()
	z.Job.Close()
	return err
}

// DecodeError is ErrorDecoder's.
func (z *zones) DecodeError(u *engines.IO) error {
	if d, ok := z.inner.(engines.ErrorDecoder); ok {
		if err := d.DecodeError(u); err != nil {
			return err
		}
	}
	if errors.Is(u.Errno, syscall.EOVERFLOW) {
		return fmt.Errorf("%w: the device has as many active zones as it can; some may lie outside of the job's range", u.Errno)
	}
	return nil
}

// Features is that of the engine, if it has any.
func (z *zones) Features() []string {
	if f, ok := z.inner.(engines.Features); ok {
		return f.Features()
	}
	return nil
}

// NextPass is PassStarter's.
func (z *zones) NextPass() {
	if p, ok := z.inner.(engines.PassStarter); ok {
		p.NextPass()
	}
}
