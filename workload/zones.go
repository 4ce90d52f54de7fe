package workload

import "fiord/job"

// zoneShare says, for one hundredth of the accesses, which part of the file they go to.
type zoneShare struct {
	fromPercent, toPercent uint64 // of the file, for zoned
	from, to               uint64 // bytes, for zoned_abs
}

// zoneTable has an entry for each hundredth of the accesses; nil: the direction is uniform.
type zoneTable []zoneShare

func newZoneTable(zones []job.Zone) zoneTable {
	if len(zones) == 0 {
		return nil
	}
	t := make(zoneTable, 0, 100)
	var at zoneShare
	for _, z := range zones {
		at.fromPercent, at.from = at.toPercent, at.to
		at.toPercent += uint64(max(z.SizePercent, 0))
		at.to += z.Size
		for n := 0; n < z.AccessPercent && len(t) < 100; n++ {
			t = append(t, at)
		}
	}
	for len(t) < 100 { // a job whose shares do not reach 100 is refused before; never index behind the table
		t = append(t, at)
	}
	return t
}

// zonedBlock draws a zone, then a block in it.
func (g *Generator) zonedBlock(f *file, d job.Dir) (uint64, bool) {
	last := f.last[d]
	if last == 0 {
		return 0, false
	}
	t := g.zones[d]
	if t == nil {
		return g.uniformBlock(f, last)
	}
	z := &t[g.zoneRand.Between(1, 100)-1]
	var from, count uint64
	if g.pick == pickZonedAbs {
		from = z.from / g.align[d]
		to := z.to / g.align[d]
		if to > last {
			g.note("random_distribution=zoned_abs: a zone ends beyond the end of the file")
			return 0, false
		}
		count = to - from
	} else {
		from = z.fromPercent * last / 100
		count = last * (z.toPercent - z.fromPercent) / 100
	}
	b, ok := g.uniformBlock(f, count)
	return b + from, ok
}
