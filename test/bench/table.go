package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// A row is one case by one measure: medians of the two, and the ratio of each pair.
type row struct {
	Case    string  `json:"case"`
	Measure measure `json:"measure"`
	Fiord   figure  `json:"fiord"`
	Fio     figure  `json:"fio"`
	Ratio   float64 `json:"ratio"` // median of the pairs
	Lowest  float64 `json:"ratio_lowest"`
	Highest float64 `json:"ratio_highest"`
}

// A figure is the median of one program's runs.
type figure struct {
	Value  float64 `json:"value"`
	User   float64 `json:"user_ns_per_io"`
	System float64 `json:"system_ns_per_io"`
}

// compare runs a case on both in turns; run is given whether fio's turn it is. Pairs begin with the one and the other in turn,
// so that a machine that gets slower all the time favours neither. The first pair is not counted.
func compare(o *options, c *benchCase, run func(fio bool) (sample, error)) ([]row, error) {
	var ours, theirs []sample
	for i := range o.pairs + 1 {
		var pair [2]sample
		for k := range pair {
			which := (i + k) % 2
			s, err := run(which == 1)
			if err != nil {
				return nil, err
			}
			pair[which] = s
		}
		if i > 0 {
			ours, theirs = append(ours, pair[0]), append(theirs, pair[1])
		}
	}
	var rows []row
	by := c.measures()
	if _, ok := ours[0].values[bySecond]; ok {
		by = []measure{bySecond}
	}
	for _, m := range by {
		var ratios []float64
		for i := range ours {
			r := ours[i].values[m] / theirs[i].values[m]
			if !m.higherIsBetter() {
				r = 1 / r
			}
			ratios = append(ratios, r)
		}
		rows = append(rows, row{c.name, m, middle(ours, m), middle(theirs, m), median(ratios), slices.Min(ratios), slices.Max(ratios)})
	}
	return rows, nil
}

// middle is the median of the runs, each value for itself.
func middle(runs []sample, m measure) figure {
	pick := func(f func(sample) float64) float64 {
		var v []float64
		for _, s := range runs {
			v = append(v, f(s))
		}
		return median(v)
	}
	return figure{
		pick(func(s sample) float64 { return s.values[m] }),
		pick(func(s sample) float64 { return s.user }),
		pick(func(s sample) float64 { return s.system }),
	}
}

// show prints the table, and writes the JSON if asked to.
func show(o *options, rows []row) error {
	t := tablewriter.NewTable(os.Stdout, tablewriter.WithHeaderAutoFormat(tw.Off))
	t.Header("case", "by", "fiord", "fio", "ratio", "lowest", "highest", "fiord usr+sys ns", "fio usr+sys ns")
	for _, r := range rows {
		err := t.Append(r.Case, string(r.Measure), plain(r.Fiord.Value), plain(r.Fio.Value), fmt.Sprintf("%.2f", r.Ratio),
			fmt.Sprintf("%.2f", r.Lowest), fmt.Sprintf("%.2f", r.Highest), r.Fiord.cpu(), r.Fio.cpu())
		if err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	if o.json == "" {
		return nil
	}
	doc := struct {
		Date  string `json:"date"`
		Fio   string `json:"fio"`
		Pairs int    `json:"pairs"`
		Rows  []row  `json:"rows"`
	}{time.Now().UTC().Format(time.DateOnly), version(o.fio), o.pairs, rows}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(text, '\n'), 0o666)
}

func (f figure) cpu() string {
	if f.User+f.System == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f + %.0f", f.User, f.System)
}

// plain is a number with as many digits as are worth reading.
func plain(v float64) string {
	if v >= 1e5 {
		return fmt.Sprintf("%.0fk", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}

func version(bin string) string {
	out, err := exec.Command(bin, "--version").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
