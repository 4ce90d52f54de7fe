package compare

import (
	"fmt"
	"slices"
)

// key names what is compared: a direction of all jobs of one name.
type key struct {
	job, dir string
	clone    int // 1 and up: one of several jobs of the name, for percentiles that cannot be joined; 0: all of them
}

// merged is what one run has under a key.
type merged struct {
	iops, bw  *float64
	clat, lat latency
}

// table is one run by key.
type table struct {
	rows   map[key]merged
	order  []key          // as in the report
	errors map[string]int // first error by job name
	jobs   []string       // all names, in order
}

// tables joins the jobs of each name within each run. A name that comes in several groups, which run one after the other,
// is told apart by its group in all runs.
func tables(runs []*Run) []*table {
	apart := map[string]bool{}
	for _, r := range runs {
		group := map[string]float64{}
		for i := range r.rows {
			row := &r.rows[i]
			if g, seen := group[row.job]; seen && g != row.group {
				apart[row.job] = true
			}
			group[row.job] = row.group
		}
	}
	out := make([]*table, len(runs))
	for i, r := range runs {
		out[i] = r.table(apart)
	}
	return out
}

func (r *Run) table(apart map[string]bool) *table {
	t := &table{rows: map[key]merged{}, errors: map[string]int{}}
	parts := map[key][]*row{}
	for i := range r.rows {
		row := &r.rows[i]
		name := row.job
		if apart[name] {
			name = fmt.Sprintf("%s (g=%.0f)", name, row.group)
		}
		if !slices.Contains(t.jobs, name) {
			t.jobs = append(t.jobs, name)
		}
		if t.errors[name] == 0 {
			t.errors[name] = row.err
		}
		if row.dir == "" {
			continue
		}
		k := key{job: name, dir: row.dir}
		if parts[k] == nil {
			t.order = append(t.order, k)
		}
		parts[k] = append(parts[k], row)
	}
	for k, rows := range parts {
		t.merge(k, rows)
	}
	return t
}

// merge stores the jobs of one name together, and apart as well where their percentiles cannot be joined.
func (t *table) merge(k key, rows []*row) {
	var m merged
	var clat, lat []*latency
	for _, r := range rows {
		m.iops, m.bw = plus(m.iops, r.iops), plus(m.bw, r.bw)
		clat, lat = append(clat, &r.clat), append(lat, &r.lat)
	}
	m.clat, m.lat = join(clat), join(lat)
	t.rows[k] = m
	if len(rows) == 1 || m.hasPercentiles() {
		return
	}
	for i, r := range rows {
		if len(r.clat.at)+len(r.lat.at) > 0 {
			k.clone = i + 1
			t.rows[k] = merged{clat: r.clat, lat: r.lat}
		}
	}
}

func (m *merged) hasPercentiles() bool { return m.clat.shaped() || m.lat.shaped() }

// shaped reports whether percentiles are known.
func (l *latency) shaped() bool { return len(l.at)+len(l.bins) > 0 }

func plus(a, b *float64) *float64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := *a + *b
	return &sum
}

// kind is which latency of a row is looked at: completion latency unless only the total one has percentiles, as with
// lat_percentiles.
func (m *merged) kind() string {
	switch {
	case m.clat.n > 0 && (m.clat.shaped() || !m.lat.shaped()):
		return kindClat
	case m.lat.n > 0:
		return kindLat
	}
	return ""
}

const (
	kindClat = "clat"
	kindLat  = "lat"
)

// of is the latency of a kind.
func (m *merged) of(kind string) *latency {
	if kind == kindClat {
		return &m.clat
	}
	return &m.lat
}

// commonKind is the kind of latency that all the runs have, so that like is compared with like; empty: none.
func commonKind(list []merged) string {
	kinds := map[string]bool{}
	clat, lat := true, true
	for i := range list {
		m := &list[i]
		kinds[m.kind()] = true
		clat, lat = clat && m.clat.n > 0, lat && m.lat.n > 0
	}
	switch {
	case len(kinds) == 1 && len(list) > 0:
		return list[0].kind()
	case clat:
		return kindClat
	case lat:
		return kindLat
	}
	return ""
}
