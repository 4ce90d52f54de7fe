package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"fiord/job"
	"fiord/stats"
)

// printer collects text; its writes cannot fail.
type printer struct{ bytes.Buffer }

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.Buffer, format, args...) }

// summary is a latency's extremes, mean and deviation in the unit they are shown in.
type summary struct {
	min, max  uint64
	mean, dev float64
}

// summarize reads s, reporting false when it is empty.
func summarize(s *stats.Sum) (summary, bool) {
	if s.N == 0 {
		return summary{}, false
	}
	return summary{min: s.Min, max: s.Max, mean: finite(s.Mean()), dev: finite(s.StdDev())}, true
}

// summarizeRate is the same of bandwidth or IOPS, whose merging is another.
func summarizeRate(s *stats.Sample) (summary, bool) {
	if s.N == 0 {
		return summary{}, false
	}
	return summary{min: s.Min, max: s.Max, mean: finite(s.Mean()), dev: finite(s.StdDev())}, true
}

// inUnit scales nanoseconds as fio does: to msec or usec only when minimum, maximum and deviation are all large.
func (s summary) inUnit() (summary, string) {
	switch {
	case s.min > 2_000_000 && s.max > 99_999_999 && s.dev > 1_000_000:
		return s.over(1_000_000), "msec"
	case s.min > 2_000 && s.max > 99_999 && s.dev > 1_000:
		return s.over(1_000), "usec"
	}
	return s, "nsec"
}

func (s summary) over(n uint64) summary {
	f := float64(n)
	return summary{min: s.min / n, max: s.max / n, mean: s.mean / f, dev: s.dev / f}
}

// latencyLine writes one "clat (usec): min=..., max=..." line.
func (p *printer) latencyLine(name string, s *stats.Sum) {
	v, ok := summarize(s)
	if !ok {
		return
	}
	v, unit := v.inUnit()
	p.printf("    %s (%s): min=%s, max=%s, avg=%5.2f, stdev=%5.2f\n", name, unit,
		Number(v.min, 6, 1, false, Plain), Number(v.max, 6, 1, false, Plain), v.mean, v.dev)
}

// percentileTable writes the percentiles of a histogram of n values, as many a line as fit into 80 columns.
func (p *printer) percentileTable(name string, h *stats.Hist, n uint64, list percentileList) {
	values := list.of(h, n)
	if len(values) == 0 {
		return
	}
	lowest, highest := values[0], values[len(values)-1]
	unit, steps := "nsec", 0
	switch {
	case lowest > 2_000_000 && highest > 99_999_999:
		unit, steps = "msec", 2
	case lowest > 2_000 && highest > 99_999:
		unit, steps = "usec", 1
	}
	top := highest
	for range steps {
		top /= 1000
	}
	width := max(5, digits(top))
	perLine := max(1, (80-7)/(list.precision+10+width))

	p.printf("    %s percentiles (%s):\n     |", name, unit)
	for i, v := range values {
		if i > 0 && i%perLine == 0 {
			p.printf("\n     |")
		}
		for range steps {
			v = (v + 999) / 1000
		}
		p.printf(" %*.*fth=[%*d]", list.precision+3, list.precision, list.at[i], width, v)
		if i < len(values)-1 {
			p.printf(",")
		}
	}
	p.printf("\n")
}

// percentileList is percentile_list as it is shown.
type percentileList struct {
	at        []float64 // ascending
	precision int       // decimals
}

// maxPercentiles is how many percentiles a list holds, and a terse line always has.
const maxPercentiles = 20

// of are the values of the percentiles, in nanoseconds; all 0 when there are no samples.
func (l percentileList) of(h *stats.Hist, n uint64) []uint64 {
	if len(l.at) == 0 {
		return nil
	}
	if h == nil || n == 0 {
		return make([]uint64, len(l.at))
	}
	return h.Percentiles(l.at, n)
}

// percentiles is the list of one job. The decimals are those of the text that the job or a [global] gave, else as many
// as the values need.
func (r *Result) percentiles(j *Job) percentileList {
	list := percentileList{at: stats.PercentileList(j.Opt.Percentiles)}
	text, given := setting(j.Given, "percentile_list")
	if !given {
		text, given = setting(r.Global, "percentile_list")
	}
	items := strings.Split(text, ":")
	if !given {
		items = items[:0]
		for _, v := range list.at {
			items = append(items, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	for _, item := range items {
		list.precision = max(list.precision, decimals(item))
	}
	return list
}

func setting(list []job.Setting, name string) (string, bool) {
	for _, s := range list {
		if s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

// decimals counts the digits behind the point of a number's text.
func decimals(text string) int {
	_, fraction, _ := strings.Cut(text, ".")
	n := 0
	for n < len(fraction) && fraction[n] >= '0' && fraction[n] <= '9' {
		n++
	}
	return n
}
