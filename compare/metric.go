package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Metric is one number that is compared.
type Metric struct {
	Name string // iops, bw, mean, max, or p and a percentile
	at   float64
}

// Defaults are the metrics that are compared where none are named.
func Defaults() []Metric {
	list, err := ParseMetrics("iops,bw,mean,p50,p99,p99.9")
	if err != nil {
		panic("compare: " + err.Error()) // cannot happen: the list is above
	}
	return list
}

// ParseMetrics reads a comma list of metrics.
func ParseMetrics(list string) ([]Metric, error) {
	var out []Metric
	for name := range strings.SplitSeq(list, ",") {
		m, err := parseMetric(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func parseMetric(name string) (Metric, error) {
	switch name {
	case "iops", "bw", "mean", "max":
		return Metric{Name: name}, nil
	}
	if digits, ok := strings.CutPrefix(name, "p"); ok {
		at, err := strconv.ParseFloat(digits, 64)
		if err == nil && at > 0 && at <= 100 {
			return Metric{Name: name, at: at}, nil
		}
	}
	return Metric{}, fmt.Errorf("metric: want iops, bw, mean, max or a percentile such as p99.9, got %q", name)
}

// latency reports whether the metric is a latency, of which less is better.
func (m Metric) latency() bool { return m.Name != "iops" && m.Name != "bw" }

// of is the value in a run, and whether the run has it. Latencies are of the kind.
func (m Metric) of(row *merged, kind string) (float64, bool) {
	var p *float64
	switch m.Name {
	case "iops":
		p = row.iops
	case "bw":
		p = row.bw
	default:
		l := row.of(kind)
		switch {
		case kind == "" || l.n == 0:
			return 0, false
		case m.Name == "mean":
			return l.mean, true
		case m.Name == "max":
			return l.max, true
		}
		return l.percentile(m.at)
	}
	if p == nil {
		return 0, false
	}
	return *p, true
}

// Threshold is by how much a metric may become worse. The zero Threshold sets no limit.
type Threshold struct {
	all    float64
	allSet bool
	by     map[string]float64
}

// ParseThreshold reads 5%, or iops=5%,p99=20% with a limit for each metric, or both: 5%,p99.9=25%. The sign % may be left
// out.
func ParseThreshold(text string) (Threshold, error) {
	t := Threshold{by: map[string]float64{}}
	for part := range strings.SplitSeq(text, ",") {
		name, value, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			value = name
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		if err != nil || percent < 0 || math.IsNaN(percent) || math.IsInf(percent, 0) {
			return Threshold{}, fmt.Errorf("threshold: want a percentage such as 5%%, or p99=20%%, got %q", part)
		}
		if !named {
			t.all, t.allSet = percent/100, true
			continue
		}
		m, err := parseMetric(name)
		if err != nil {
			return Threshold{}, fmt.Errorf("threshold: %w", err)
		}
		t.by[m.Name] = percent / 100
	}
	return t, nil
}

// Set reports whether there is any limit.
func (t Threshold) Set() bool { return t.allSet || len(t.by) > 0 }

// of is the limit of a metric.
func (t Threshold) of(m Metric) (float64, bool) {
	if limit, ok := t.by[m.Name]; ok {
		return limit, true
	}
	return t.all, t.allSet
}
