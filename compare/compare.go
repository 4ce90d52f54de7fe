package compare

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Options says what is compared and when it is a regression.
type Options struct {
	Metrics   []Metric // empty: Defaults
	Threshold Threshold
}

// Verdict is what a Line says beside its numbers.
type Verdict string

// The verdicts. Worse, Missing and Failed are regressions where there is a threshold.
const (
	None    Verdict = ""
	Worse   Verdict = "worse"   // by more than the threshold
	Better  Verdict = "better"  // by more than the threshold
	Missing Verdict = "missing" // the base has it, and one of the new runs has not
	New     Verdict = "new"     // the base does not have it
	Failed  Verdict = "failed"  // the job ended with an error in a new run, and in none of the base
)

// Sample is a number over the runs of one side.
type Sample struct {
	Runs           int // runs that have it
	Mean, Min, Max float64
	StdDev         float64 // of a sample, n-1 in the divisor; 0 for one run
}

// Line is one metric of a job and direction. Bandwidth is in bytes/s, latencies in ns.
type Line struct {
	Job, Dir string
	Clone    int    // not 0: of one of several jobs of the name, in the order of the report
	Metric   string // iops, bw, mean, max, p...; "error" is the errno of a failed job; empty: the job is not there at all
	Kind     string // clat or lat, of a latency
	Base     Sample
	New      Sample
	Change   float64 // New.Mean/Base.Mean - 1, where HasChange
	Verdict  Verdict

	HasChange  bool
	Regression bool
}

// Result is a comparison.
type Result struct {
	Base, New   []string // the files
	Lines       []Line
	Regressions int
}

// ErrNothing is returned where no run of the base has any job.
var ErrNothing = errors.New("the base has no jobs: there is nothing to compare with")

// Compare compares the runs of both sides, one or more each.
func Compare(base, fresh []*Run, o Options) (*Result, error) {
	if len(o.Metrics) == 0 {
		o.Metrics = Defaults()
	}
	all := tables(slices.Concat(base, fresh))
	c := comparison{Options: o, base: all[:len(base)], fresh: all[len(base):], res: &Result{}}
	for _, r := range base {
		c.res.Base = append(c.res.Base, r.Name)
	}
	for _, r := range fresh {
		c.res.New = append(c.res.New, r.Name)
	}
	if len(names(c.base)) == 0 {
		return nil, ErrNothing
	}
	for _, job := range names(all) {
		c.job(job)
	}
	return c.res, nil
}

// names are the jobs of all the runs, each once, in the order of the reports.
func names(list []*table) []string {
	var out []string
	for _, t := range list {
		for _, job := range t.jobs {
			if !slices.Contains(out, job) {
				out = append(out, job)
			}
		}
	}
	return out
}

type comparison struct {
	Options
	base, fresh []*table
	res         *Result
}

// job adds the lines of one job.
func (c *comparison) job(job string) {
	c.failure(job)
	before := len(c.res.Lines)
	for _, dir := range []string{"read", "write", "trim", "mixed", "sync"} {
		c.lines(key{job: job, dir: dir}, c.Metrics)
		for clone := 1; ; clone++ {
			k := key{job: job, dir: dir, clone: clone}
			if len(having(c.base, k)) == 0 || len(having(c.fresh, k)) == 0 {
				break // clones that one side does not have are in the sums
			}
			c.lines(k, percentilesOf(c.Metrics))
		}
	}
	if len(c.res.Lines) == before {
		c.absent(job)
	}
}

// absent adds a line for a job that did nothing, where one side does not have it.
func (c *comparison) absent(job string) {
	line := Line{Job: job}
	line.Base.Runs, line.New.Runs = count(c.base, job), count(c.fresh, job)
	switch {
	case line.Base.Runs == 0:
		line.Verdict = New
	case line.New.Runs < len(c.fresh):
		line.Verdict = Missing
	default:
		return
	}
	c.add(line, c.Threshold.Set())
}

func count(list []*table, job string) (n int) {
	for _, t := range list {
		if slices.Contains(t.jobs, job) {
			n++
		}
	}
	return n
}

// failure adds a line for a job that ended with an error on any side.
func (c *comparison) failure(job string) {
	line := Line{Job: job, Metric: "error"}
	line.Base, line.New = worst(c.base, job), worst(c.fresh, job)
	if line.Base.Max == 0 && line.New.Max == 0 {
		return
	}
	if line.Base.Max == 0 {
		line.Verdict = Failed
	}
	c.add(line, c.Threshold.Set())
}

// worst are the errors of a job over the runs.
func worst(list []*table, job string) Sample {
	var values []float64
	for _, t := range list {
		if slices.Contains(t.jobs, job) {
			values = append(values, float64(t.errors[job]))
		}
	}
	return sample(values)
}

func percentilesOf(list []Metric) []Metric {
	return slices.DeleteFunc(slices.Clone(list), func(m Metric) bool { return m.at == 0 })
}

func having(list []*table, k key) (out []merged) {
	for _, t := range list {
		if m, ok := t.rows[k]; ok {
			out = append(out, m)
		}
	}
	return out
}

// lines adds a line for each metric that either side has.
func (c *comparison) lines(k key, metrics []Metric) {
	base, fresh := having(c.base, k), having(c.fresh, k)
	if len(base)+len(fresh) == 0 {
		return
	}
	kind := commonKind(slices.Concat(base, fresh))
	if kind == "" { // nothing in common: what the base has is missing
		kind = cmp.Or(commonKind(base), commonKind(fresh))
	}
	for _, m := range metrics {
		line := Line{Job: k.job, Dir: k.dir, Clone: k.clone, Metric: m.Name}
		if m.latency() {
			line.Kind = kind
		}
		line.Base, line.New = over(base, m, kind), over(fresh, m, kind)
		if line.Base.Runs+line.New.Runs == 0 {
			continue
		}
		limit, limited := c.Threshold.of(m)
		c.judge(&line, m, limit, limited)
		c.add(line, limited)
	}
}

func over(list []merged, m Metric, kind string) Sample {
	var values []float64
	for i := range list {
		if v, ok := m.of(&list[i], kind); ok {
			values = append(values, v)
		}
	}
	return sample(values)
}

func sample(values []float64) Sample {
	if len(values) == 0 {
		return Sample{}
	}
	s := Sample{Runs: len(values), Min: slices.Min(values), Max: slices.Max(values)}
	for _, v := range values {
		s.Mean += v / float64(len(values))
	}
	if len(values) > 1 {
		for _, v := range values {
			s.StdDev += (v - s.Mean) * (v - s.Mean)
		}
		s.StdDev = math.Sqrt(s.StdDev / float64(len(values)-1))
	}
	return s
}

// rounding keeps a change of just the limit from being more than it.
const rounding = 1e-9

// judge works out the change and what to say of it.
func (c *comparison) judge(line *Line, m Metric, limit float64, limited bool) {
	if line.HasChange = line.Base.Runs > 0 && line.New.Runs > 0 && line.Base.Mean > 0; line.HasChange {
		line.Change = line.New.Mean/line.Base.Mean - 1
	}
	switch {
	case line.Base.Runs == 0:
		line.Verdict = New
		return
	case line.New.Runs < len(c.fresh):
		line.Verdict = Missing
		return
	case !line.HasChange:
		return
	}
	worse := -line.Change
	if m.latency() {
		worse = line.Change
	}
	switch {
	case limited && worse > limit+rounding:
		line.Verdict = Worse
	case limited && -worse > limit+rounding:
		line.Verdict = Better
	}
}

// add keeps a line and counts it where it is a regression. Limited says whether there is a threshold for it.
func (c *comparison) add(line Line, limited bool) {
	switch line.Verdict {
	case Worse, Missing, Failed:
		if line.Regression = limited; limited {
			c.res.Regressions++
		}
	}
	c.res.Lines = append(c.res.Lines, line)
}
