package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"fiord/report"
)

// WriteTable writes the result as a table, one row a metric, and below it how many regressions there are where a threshold
// was set. The columns of the spread, least and largest, are there where a side has several runs.
func (r *Result) WriteTable(w io.Writer, t Threshold) error {
	spread := len(r.Base) > 1 || len(r.New) > 1
	header := []string{"job", "dir", "metric", "base", "new", "change", ""}
	if spread {
		header = []string{"job", "dir", "metric", "base", "min-max", "new", "min-max", "change", ""}
	}
	var rows [][]string
	last := Line{}
	for i := range r.Lines {
		l := &r.Lines[i]
		rows = append(rows, l.cells(&last, spread))
		last = *l
	}
	var b bytes.Buffer
	if err := report.Columns(&b, header, 3, rows); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	switch {
	case r.Regressions == 1:
		b.WriteString("1 regression\n")
	case t.Set():
		fmt.Fprintf(&b, "%d regressions\n", r.Regressions)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// cells are the row of a line. Job and direction are left out where they are those of the row above.
func (l *Line) cells(above *Line, spread bool) []string {
	job, dir := l.Job, l.Dir
	if l.Clone > 0 {
		job = fmt.Sprintf("%s #%d", l.Job, l.Clone)
	}
	if l.Job == above.Job && l.Clone == above.Clone {
		job = ""
		if l.Dir == above.Dir {
			dir = ""
		}
	}
	out := []string{job, dir, l.label(), l.mean(&l.Base)}
	if spread {
		out = append(out, l.spread(&l.Base))
	}
	out = append(out, l.mean(&l.New))
	if spread {
		out = append(out, l.spread(&l.New))
	}
	return append(out, l.change(), string(l.Verdict))
}

// label is the metric's name, with the kind of latency.
func (l *Line) label() string {
	switch {
	case l.Metric == "":
		return none
	case l.Kind != "":
		return l.Kind + " " + l.Metric
	case l.Metric == "iops":
		return "IOPS"
	case l.Metric == "bw":
		return "BW"
	}
	return l.Metric
}

const none = "-"

func (l *Line) mean(s *Sample) string {
	if s.Runs == 0 || l.Metric == "" {
		return none
	}
	return l.text(s.Mean)
}

func (l *Line) spread(s *Sample) string {
	if s.Runs < 2 || l.Metric == "" {
		return none
	}
	return l.text(s.Min) + "-" + l.text(s.Max)
}

// text writes a value of the metric.
func (l *Line) text(v float64) string {
	const figures = 4
	switch l.Metric {
	case "iops":
		return report.Number(whole(v), figures, 1, false, report.Plain)
	case "bw":
		return report.Number(whole(v), figures, 1, true, report.BytesPerSec)
	case "error":
		return fmt.Sprintf("%.0f", v)
	}
	return report.Duration(v)
}

// whole rounds a value that is not negative; reports that say else are shown as 0.
func whole(v float64) uint64 {
	if !(v > 0) {
		return 0
	}
	return uint64(math.Round(min(v, 1<<62)))
}

func (l *Line) change() string {
	if !l.HasChange {
		return none
	}
	return fmt.Sprintf("%+.1f%%", 100*l.Change)
}

// jsonSample is a Sample as JSON has it.
type jsonSample struct {
	Runs   int     `json:"runs"`
	Mean   float64 `json:"mean"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	StdDev float64 `json:"stddev"`
}

// jsonLine is a Line as JSON has it. A side that does not have the metric, and a change that cannot be told, are null.
type jsonLine struct {
	Job           string      `json:"job"`
	Clone         int         `json:"clone,omitempty"`
	Dir           string      `json:"dir"`
	Metric        string      `json:"metric"`
	Latency       string      `json:"latency,omitempty"`
	Base          *jsonSample `json:"base"`
	New           *jsonSample `json:"new"`
	ChangePercent *float64    `json:"change_percent"`
	Verdict       Verdict     `json:"verdict"`
	Regression    bool        `json:"regression"`
}

// WriteJSON writes the result as one JSON document. Bandwidth is in bytes/s, latencies in ns.
func (r *Result) WriteJSON(w io.Writer) error {
	doc := struct {
		Base        []string   `json:"base"`
		New         []string   `json:"new"`
		Regressions int        `json:"regressions"`
		Lines       []jsonLine `json:"lines"`
	}{r.Base, r.New, r.Regressions, []jsonLine{}}
	for i := range r.Lines {
		l := &r.Lines[i]
		j := jsonLine{Job: l.Job, Clone: l.Clone, Dir: l.Dir, Metric: l.Metric, Latency: l.Kind, Base: l.Base.json(),
			New: l.New.json(), Verdict: l.Verdict, Regression: l.Regression}
		if l.HasChange {
			percent := math.Round(l.Change*1e8) / 1e6
			j.ChangePercent = &percent
		}
		doc.Lines = append(doc.Lines, j)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func (s *Sample) json() *jsonSample {
	if s.Runs == 0 {
		return nil
	}
	return &jsonSample{s.Runs, s.Mean, s.Min, s.Max, s.StdDev}
}
