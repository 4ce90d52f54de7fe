package uringcmd

import (
	"fiord/engines"
	"fiord/engines/uringcmd/nvme"
)

// SetRanges gives the ranges of u's next trim; they hold until it has completed.
func (e *engine) SetRanges(u *engines.IO, ranges []engines.Range) {
	n := min(len(ranges), e.most)
	e.several[u.Index] = n
	f := u.File
	if f.Index >= len(e.devices) || e.devices[f.Index] == nil {
		return // the trim itself will be refused
	}
	d := e.devices[f.Index]
	for i, r := range ranges[:n] {
		if !d.fmt.Aligned(uint64(r.Offset), uint64(r.Len)) || r.Len == 0 {
			e.several[u.Index] = -1
			return
		}
		e.rangesOf(u)[i] = nvme.Range{Start: d.fmt.LBA(uint64(r.Offset)), Blocks: uint32(d.fmt.LBA(uint64(r.Len)))}
	}
}

// rangesOf is the room for u's ranges.
func (e *engine) rangesOf(u *engines.IO) []nvme.Range {
	return e.ranges.All[int(u.Index)*e.most:][:e.most]
}

// trim sets the command that deallocates u's range, or those that it was given.
func (e *engine) trim(c *nvme.Command, u *engines.IO, d *device) bool {
	n := 1
	if e.several != nil && e.several[u.Index] != 0 {
		n = e.several[u.Index]
	} else if !d.fmt.Aligned(uint64(u.Offset), uint64(u.Len)) || u.Len == 0 || e.most == 0 {
		return false
	} else {
		e.rangesOf(u)[0] = nvme.Range{Start: d.fmt.LBA(uint64(u.Offset)), Blocks: uint32(d.fmt.LBA(uint64(u.Len)))}
	}
	if n < 0 {
		return false // one of them is not made of whole blocks
	}
	c.DeallocateRanges(d.ns.NSID, e.ranges.At(u.Index*uint32(e.most)), n)
	return true
}

// trimmed is called when a trim has completed.
func (e *engine) trimmed(u *engines.IO) {
	if e.several != nil {
		e.several[u.Index] = 0
	}
}

// ended is called when u has ended with an error.
func (e *engine) ended(u *engines.IO) {
	switch {
	case u.Op == engines.Trim:
		e.trimmed(u)
	case u.Op == engines.Write && e.place != nil:
		e.place.done(u)
	}
}
