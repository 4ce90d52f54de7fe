package report

import (
	"fiord/stats"
)

// aggregate is the mean over the slaves of a disk.
type aggregate struct {
	ios, merges, sectors, ticks [2]uint64
	inQueue                     uint64
	util                        float64 // of the busiest
}

// slaves averages a disk's slaves, reporting false when it has none.
func slaves(d *stats.Disk) (aggregate, bool) {
	if d.Agg == nil || d.Agg.SlaveCount == 0 {
		return aggregate{}, false
	}
	n := uint64(d.Agg.SlaveCount)
	a := aggregate{inQueue: d.Agg.InQueue / n, util: percent(d.Agg.MaxUtil)}
	for i := range a.ios {
		a.ios[i], a.merges[i] = d.Agg.IOs[i]/n, d.Agg.Merges[i]/n
		a.sectors[i], a.ticks[i] = d.Agg.Sectors[i]/n, d.Agg.Ticks[i]/n
	}
	return a, true
}

func percent(v float64) float64 { return min(100, finite(v)) }

// normalDisks writes a line a block device. A device made of others is indented and followed by their means.
func (p *printer) normalDisks(r *Result) {
	if !r.ShowDisk || len(r.Disks) == 0 {
		return
	}
	p.printf("\nDisk stats (read/write):\n")
	for i := range r.Disks {
		d := &r.Disks[i]
		agg, has := slaves(d)
		if has {
			p.printf("  ")
		}
		p.printf("  %s: ios=%d/%d, sectors=%d/%d, merge=%d/%d, ticks=%d/%d, in_queue=%d, util=%3.2f%%", d.Name,
			d.IOs[0], d.IOs[1], d.Sectors[0], d.Sectors[1], d.Merges[0], d.Merges[1], d.Ticks[0], d.Ticks[1],
			d.InQueue, percent(d.Util))
		if has {
			p.printf(", aggrios=%d/%d, aggsectors=%d/%d, aggrmerge=%d/%d, aggrticks=%d/%d, aggrin_queue=%d, aggrutil=%3.2f%%",
				agg.ios[0], agg.ios[1], agg.sectors[0], agg.sectors[1], agg.merges[0], agg.merges[1],
				agg.ticks[0], agg.ticks[1], agg.inQueue, agg.util)
		}
		p.printf("\n")
	}
}

// terseDisks appends the disks' fields, which all lines of version 3 and later carry.
func (p *printer) terseDisks(r *Result) {
	if !r.ShowDisk {
		return
	}
	for i := range r.Disks {
		d := &r.Disks[i]
		p.printf(";%s;%d;%d;%d;%d;%d;%d;%d;%3.2f%%", d.Name, d.IOs[0], d.IOs[1], d.Merges[0], d.Merges[1],
			d.Ticks[0], d.Ticks[1], d.InQueue, percent(d.Util))
		if agg, has := slaves(d); has {
			p.printf(";slaves;%d;%d;%d;%d;%d;%d;%d;%3.2f%%", agg.ios[0], agg.ios[1], agg.merges[0], agg.merges[1],
				agg.ticks[0], agg.ticks[1], agg.inQueue, agg.util)
		}
	}
}

// jsonDisks writes the "disk_util" list.
func (t *jsonText) jsonDisks(r *Result) {
	if !r.ShowDisk || len(r.Disks) == 0 {
		return
	}
	t.list("disk_util", func() {
		for i := range r.Disks {
			t.object("", func() { t.jsonDisk(&r.Disks[i]) })
		}
	})
}

func (t *jsonText) jsonDisk(d *stats.Disk) {
	t.text("name", d.Name)
	t.count("read_ios", d.IOs[0])
	t.count("write_ios", d.IOs[1])
	t.count("read_sectors", d.Sectors[0])
	t.count("write_sectors", d.Sectors[1])
	t.count("read_merges", d.Merges[0])
	t.count("write_merges", d.Merges[1])
	t.count("read_ticks", d.Ticks[0])
	t.count("write_ticks", d.Ticks[1])
	t.count("in_queue", d.InQueue)
	t.float("util", percent(d.Util))
	agg, has := slaves(d)
	if !has {
		return
	}
	t.count("aggr_read_ios", agg.ios[0])
	t.count("aggr_write_ios", agg.ios[1])
	t.count("aggr_read_sectors", agg.sectors[0])
	t.count("aggr_write_sectors", agg.sectors[1])
	t.count("aggr_read_merges", agg.merges[0])
	t.count("aggr_write_merge", agg.merges[1]) // fio's spelling, without the s
	t.count("aggr_read_ticks", agg.ticks[0])
	t.count("aggr_write_ticks", agg.ticks[1])
	t.count("aggr_in_queue", agg.inQueue)
	t.float("aggr_util", agg.util)
}
