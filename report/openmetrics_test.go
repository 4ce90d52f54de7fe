package report

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"fiord/job"
	"fiord/stats"
)

// exposition is OpenMetrics text that has been checked: values by name and labels as written.
type exposition map[string]float64

// family is what the descriptors say of a metric family.
type family struct{ name, kind, unit, help string }

// readMetrics checks text against the OpenMetrics 1.0 specification: the order of descriptors, names, units, suffixes of
// each type, label syntax and escapes, no sample twice, no family in two places, # EOF at the end.
func readMetrics(text string) (exposition, error) {
	body, ok := strings.CutSuffix(text, "# EOF\n")
	if !ok || strings.Contains(body, "# EOF") || !utf8.ValidString(text) {
		return nil, fmt.Errorf("want UTF-8 that ends in one # EOF")
	}
	p := metricParser{out: exposition{}, seen: map[string]bool{}}
	for line := range strings.Lines(body) {
		var err error
		if rest, ok := strings.CutPrefix(line, "# "); ok {
			err = p.descriptor(strings.TrimSuffix(rest, "\n"))
		} else {
			err = p.sample(strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, line)
		}
	}
	return p.out, nil
}

type metricParser struct {
	out     exposition
	now     family
	sampled bool
	seen    map[string]bool // families
	labels  map[string]bool // label sets but quantile, in order of appearance, within the family
	last    string
}

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	metricLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? ([^ ]+)$`)
	metricPair = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)`)
	kinds      = []string{"gauge", "counter", "summary", "info", "unknown"}
	reserved   = []string{"_total", "_created", "_count", "_sum", "_bucket", "_info"}
)

func (p *metricParser) descriptor(text string) error {
	word, rest, _ := strings.Cut(text, " ")
	name, value, _ := strings.Cut(rest, " ")
	if !metricName.MatchString(name) {
		return fmt.Errorf("bad name")
	}
	if name != p.now.name {
		if p.seen[name] {
			return fmt.Errorf("a family in two places")
		}
		for _, r := range reserved {
			if strings.HasSuffix(name, r) {
				return fmt.Errorf("suffix %s in the name of a family", r)
			}
		}
		p.now, p.sampled, p.labels, p.last = family{name: name}, false, map[string]bool{}, ""
		p.seen[name] = true
	}
	if p.sampled {
		return fmt.Errorf("a descriptor behind samples")
	}
	var to *string
	switch word {
	case "TYPE":
		to = &p.now.kind
		if !slices.Contains(kinds, value) {
			return fmt.Errorf("bad type")
		}
	case "UNIT":
		to = &p.now.unit
		if !strings.HasSuffix(name, "_"+value) {
			return fmt.Errorf("unit is not the end of the name")
		}
	case "HELP":
		to = &p.now.help
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(value, `\\`, ""), `\n`, ""), `\`) {
			return fmt.Errorf("bad escape")
		}
	default:
		return fmt.Errorf("bad descriptor")
	}
	if *to != "" || value == "" {
		return fmt.Errorf("a descriptor twice or empty")
	}
	*to = value
	return nil
}

func (p *metricParser) sample(line string) error {
	m := metricLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("bad sample")
	}
	suffix, ok := strings.CutPrefix(m[1], p.now.name)
	if !ok || !slices.Contains(map[string][]string{"gauge": {""}, "counter": {"_total"}, "info": {"_info"},
		"summary": {"", "_count", "_sum"}}[p.now.kind], suffix) {
		return fmt.Errorf("not a sample of %s %s", p.now.kind, p.now.name)
	}
	p.sampled = true
	quantile, others, err := labelsOf(m[2])
	if err != nil {
		return err
	}
	if (quantile != "") != (p.now.kind == "summary" && suffix == "") {
		return fmt.Errorf("quantile where there is none, or none where there is one")
	}
	if q, err := strconv.ParseFloat(quantile, 64); quantile != "" && (err != nil || q < 0 || q > 1) {
		return fmt.Errorf("bad quantile")
	}
	if others != p.last && p.labels[others] {
		return fmt.Errorf("a metric in two places")
	}
	p.labels[others], p.last = true, others
	v, err := strconv.ParseFloat(m[3], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return fmt.Errorf("bad value")
	}
	if p.now.kind == "info" && v != 1 {
		return fmt.Errorf("info is not 1")
	}
	key := m[1] + m[2]
	if _, twice := p.out[key]; twice {
		return fmt.Errorf("a sample twice")
	}
	p.out[key] = v
	return nil
}

// labelsOf checks a label set and gives the quantile and the text of all others.
func labelsOf(text string) (quantile, others string, err error) {
	if text == "" {
		return "", "", nil
	}
	rest := text[1 : len(text)-1]
	names := map[string]bool{}
	for rest != "" {
		m := metricPair.FindStringSubmatch(rest)
		if m == nil || m[3] == "," && len(m[0]) == len(rest) {
			return "", "", fmt.Errorf("bad labels")
		}
		if names[m[1]] {
			return "", "", fmt.Errorf("label %s twice", m[1])
		}
		names[m[1]] = true
		if m[1] == "quantile" {
			quantile = m[2]
		} else {
			others += strings.TrimSuffix(m[0], ",") + ","
		}
		rest = rest[len(m[0]):]
	}
	return quantile, others, nil
}

func metricsOf(t *testing.T, r *Result) exposition {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, Options{Formats: []Format{Metrics}}); err != nil {
		t.Fatal(err)
	}
	e, err := readMetrics(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return e
}

func TestOpenMetrics(t *testing.T) {
	e := metricsOf(t, madeUp())
	for name, want := range map[string]float64{
		`fiord_ios_total{jobname="mix",group="0",number="0",dir="read"}`:                                                                  4,
		`fiord_io_bytes_total{jobname="mix",group="0",number="0",dir="write"}`:                                                            3 << 30,
		`fiord_runtime_seconds{jobname="mix",group="0",number="0",dir="write"}`:                                                           1.5,
		`fiord_completion_latency_seconds{jobname="mix",group="0",number="0",dir="read",quantile="0.999"}`:                                150528e-9,
		`fiord_completion_latency_seconds{jobname="mix",group="0",number="0",dir="write",quantile="1"}`:                                   2.1,
		`fiord_completion_latency_seconds_count{jobname="mix",group="0",number="0",dir="write"}`:                                          3,
		`fiord_total_latency_seconds_sum{jobname="mix",group="0",number="0",dir="sync"}`:                                                  1037e-6,
		`fiord_cpu_seconds_total{jobname="mix",group="0",number="0",mode="system"}`:                                                       1.4,
		`fiord_system_calls_total{jobname="mix",group="0",number="0",kind="reap"}`:                                                        4,
		`fiord_job_error{jobname="failed",group="1",number="0"}`:                                                                          5,
		`fiord_disk_util_ratio{device="md0"}`:                                                                                             1,
		`fiord_filesystem_info{mount_point="/a\\b\n",type="ext4",source="/dev/md0",options="rw",super_options="rw,discard",device="md0"}`: 1,
	} {
		if got, ok := e[name]; !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if len(e) < 80 {
		t.Errorf("%d samples", len(e))
	}
}

// Names from users are escaped, clones stay apart, and percentiles that are one number as written come once.
func TestOpenMetricsHostile(t *testing.T) {
	r := &Result{Jobs: make([]Job, 3)}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		j.Name, j.Number = "a\"\\\n\xff{}=,", i
		j.Opt = stats.Show{ClatPct: true, Percentiles: []float64{1e-12, 50, 50, 99.99999999999999, 100}}
		j.Dirs[job.Read] = stats.Dir{IOs: 1, Bytes: 1, Runtime: 1, Clat: latencies(7), BWAgg: math.NaN()}
	}
	r.Jobs[1].Opt.Unified, r.Jobs[2].Opt.Unified = stats.UnifiedBoth, stats.UnifiedMixed
	metricsOf(t, r)
	metricsOf(t, &Result{})
}

// The reader refuses what the specification forbids.
func TestReadMetrics(t *testing.T) {
	for _, bad := range []string{
		"", "# EOF", "# EOF\n# EOF\n", "x 1\n# EOF\n", "# TYPE x counter\nx 1\n# EOF\n", "# TYPE x_total counter\n# EOF\n",
		"# TYPE x gauge\n# UNIT x seconds\n# EOF\n", "# TYPE x gauge\nx{a=\"\n\"} 1\n# EOF\n", "# TYPE x gauge\nx{a=\"1\",a=\"2\"} 1\n# EOF\n",
		"# TYPE x gauge\nx 1\nx 2\n# EOF\n", "# TYPE x gauge\nx NaN\n# EOF\n", "# TYPE x gauge\nx 1\n# HELP x h\n# EOF\n",
		"# TYPE x gauge\nx 1\n# TYPE y gauge\ny 1\n# TYPE x gauge\n# EOF\n", "# TYPE x summary\nx 1\n# EOF\n",
		"# TYPE x summary\nx{quantile=\"2\"} 1\n# EOF\n", "# TYPE x gauge\nx{a=\"\\t\"} 1\n# EOF\n", "# TYPE x info\nx_info 2\n# EOF\n",
		"# TYPE x gauge\nx{a=\"1\"} 1\nx{a=\"2\"} 1\nx{a=\"1\"} 2\n# EOF\n",
	} {
		if _, err := readMetrics(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
