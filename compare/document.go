package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// document is what is of interest in a report.
type document struct {
	Jobs    []jobDoc `json:"jobs"`
	Clients []jobDoc `json:"client_stats"`
}

type jobDoc struct {
	Name  string  `json:"jobname"`
	Host  string  `json:"hostname"`
	Group float64 `json:"groupid"`
	Error int     `json:"error"`
	Read  *dirDoc `json:"read"`
	Write *dirDoc `json:"write"`
	Trim  *dirDoc `json:"trim"`
	Mixed *dirDoc `json:"mixed"`
	Sync  *dirDoc `json:"sync"`
}

type dirDoc struct {
	IOs     float64  `json:"total_ios"`
	Bytes   float64  `json:"io_bytes"`
	IOPS    *float64 `json:"iops"`
	BWBytes *float64 `json:"bw_bytes"`
	BW      *float64 `json:"bw"` // KiB/s; fio before 3.0 has nothing else
	Clat    *latDoc  `json:"clat_ns"`
	Lat     *latDoc  `json:"lat_ns"`
}

type latDoc struct {
	N           float64             `json:"N"`
	Mean        float64             `json:"mean"`
	Max         float64             `json:"max"`
	Percentiles map[string]*float64 `json:"percentile"`
	Bins        map[string]float64  `json:"bins"`
}

// Run is what one report says.
type Run struct {
	Name string // of the file
	rows []row
}

// row is one direction of one job of the report, in the order of the report.
type row struct {
	job   string
	group float64
	err   int
	dir   string // empty: the job did nothing in any direction
	iops  *float64
	bw    *float64 // bytes/s
	clat  latency
	lat   latency
}

// latency is one kind of latency, in nanoseconds. N is 0 where it was not measured.
type latency struct {
	n, mean, max float64
	at           []point // percentiles, ascending
	bins         []point // counts by latency, ascending; nil: not given
}

// point is a percentile with its latency, or a latency with its count.
type point struct{ at, value float64 }

// run makes the rows of the document.
func (doc *document) run() (*Run, error) {
	r := &Run{}
	for _, list := range [][]jobDoc{doc.Jobs, doc.Clients} {
		for i := range list {
			rows, err := list[i].rows()
			if err != nil {
				return nil, fmt.Errorf("job %q: %w", list[i].Name, err)
			}
			r.rows = append(r.rows, rows...)
		}
	}
	return r, nil
}

func (j *jobDoc) rows() ([]row, error) {
	name := j.Name
	if j.Host != "" {
		name += "@" + j.Host
	}
	blank := row{job: name, group: j.Group, err: j.Error}
	var out []row
	for _, d := range []struct {
		name string
		doc  *dirDoc
	}{{"read", j.Read}, {"write", j.Write}, {"trim", j.Trim}, {"mixed", j.Mixed}, {"sync", j.Sync}} {
		if d.doc == nil || d.doc.IOs == 0 && d.doc.Bytes == 0 {
			continue
		}
		r := blank
		r.dir = d.name
		if err := r.fill(d.doc); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		out = append(out, r)
	}
	if out == nil && name != "" { // else it is one of fio's empty rows, which stand for no job
		out = append(out, blank)
	}
	return out, nil
}

func (r *row) fill(d *dirDoc) error {
	r.iops, r.bw = d.IOPS, d.BWBytes
	if r.bw == nil && d.BW != nil {
		bytes := *d.BW * 1024
		r.bw = &bytes
	}
	var err error
	if r.clat, err = d.Clat.latency(); err != nil {
		return fmt.Errorf("clat_ns: %w", err)
	}
	if r.lat, err = d.Lat.latency(); err != nil {
		return fmt.Errorf("lat_ns: %w", err)
	}
	return nil
}

func (d *latDoc) latency() (latency, error) {
	if d == nil {
		return latency{}, nil
	}
	l := latency{n: d.N, mean: d.Mean, max: d.Max}
	for key, v := range d.Percentiles {
		at, err := finiteKey(key)
		if err != nil {
			return l, fmt.Errorf("percentile: %w", err)
		}
		if v != nil {
			l.at = append(l.at, point{at, *v})
		}
	}
	for key, n := range d.Bins {
		at, err := finiteKey(key)
		if err != nil {
			return l, fmt.Errorf("bins: %w", err)
		}
		l.bins = append(l.bins, point{at, n})
	}
	sortPoints(l.at)
	sortPoints(l.bins)
	return l, nil
}

func finiteKey(key string) (float64, error) {
	v, err := strconv.ParseFloat(key, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("key %q: want a number", key)
	}
	return v, nil
}

func sortPoints(list []point) {
	slices.SortFunc(list, func(a, b point) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
}

// percentile is the latency at p percent: as the report has it, else from the bins of json+.
func (l *latency) percentile(p float64) (float64, bool) {
	const same = 1e-7 // the keys have six decimals
	for _, at := range l.at {
		if math.Abs(at.at-p) < same {
			return at.value, true
		}
	}
	total := 0.0
	for _, b := range l.bins {
		total += b.value
	}
	need, seen := math.Ceil(total*p/100-same), 0.0
	for _, b := range l.bins {
		if seen += b.value; seen >= need && seen > 0 {
			return b.at, true
		}
	}
	return 0, false
}

// join is the latency of several jobs together. Percentiles of several cannot be joined, bins can.
func join(parts []*latency) latency {
	var out latency
	var used []*latency
	for _, p := range parts {
		if p.n > 0 {
			used = append(used, p)
		}
	}
	if len(used) == 1 {
		return *used[0]
	}
	bins, all := map[float64]float64{}, true
	for _, p := range used {
		out.n += p.n
		out.mean += p.n * p.mean
		out.max = max(out.max, p.max)
		all = all && p.bins != nil
		for _, b := range p.bins {
			bins[b.at] += b.value
		}
	}
	if out.n > 0 {
		out.mean /= out.n
	}
	if all {
		for at, n := range bins {
			out.bins = append(out.bins, point{at, n})
		}
		sortPoints(out.bins)
	}
	return out
}
