package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"fiord/job"
	"fiord/stats"
)

// The columns of the table. Latencies are completion latencies, or total ones where the job asks for lat_percentiles.
var tableHeader = []string{"job", "dir", "IOPS", "BW", "mean", "p50", "p99", "p99.9", "max", "CPU"}

var tablePercentiles = []float64{50, 99, 99.9}

const noValue = "-"

// writeTable writes one row a job and direction, and a line a failed job below.
func writeTable(b *bytes.Buffer, r *Result) error {
	var rows [][]string
	for i := range r.Jobs {
		rows = append(rows, tableRows(&r.Jobs[i])...)
	}
	if err := Columns(b, tableHeader, 2, rows); err != nil {
		return err
	}
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.Error != 0 {
			fmt.Fprintf(b, "%s: err=%d (%s)\n", j.Name, j.Error, errorText(j))
		}
	}
	return nil
}

// Columns writes a table without borders. The first left columns are aligned to the left, the others, which hold numbers,
// to the right.
func Columns(b *bytes.Buffer, header []string, left int, rows [][]string) error {
	align := make(tw.Alignment, len(header))
	for i := range align {
		align[i] = tw.AlignRight
		if i < left {
			align[i] = tw.AlignLeft
		}
	}
	var drawn bytes.Buffer
	t := tablewriter.NewTable(&drawn,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone,
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.Off, ShowFooter: tw.Off}},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	)
	t.Header(header)
	for _, row := range rows {
		if err := t.Append(row); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(drawn.String()) {
		b.WriteString(strings.TrimRight(strings.TrimPrefix(line, " "), " \n") + "\n") // the library pads both sides
	}
	return nil
}

// tableRows are the rows of one job: one without numbers when it did nothing, and none where there is no job (see
// stats.BuildGroups).
func tableRows(j *Job) [][]string {
	var rows [][]string
	for d := range job.Dir(job.NDirs) {
		if j.Dirs[d].Bytes > 0 && j.Dirs[d].Runtime > 0 {
			rows = append(rows, tableRow(j, d))
		}
	}
	if rows == nil && j.Name != "" {
		row := []string{j.Name}
		for range len(tableHeader) - 1 {
			row = append(row, noValue)
		}
		rows = append(rows, row)
	}
	return rows
}

func tableRow(j *Job, d job.Dir) []string {
	s := &j.Dirs[d]
	sc := newScale(j.Opt.KBBase, j.Opt.UnitBase, j.Opt.SigFigs)
	row := []string{j.Name, dirName(j, d), sc.count(stats.PerSecond(s.IOs, s.Runtime)), sc.rate(stats.PerSecond(s.Bytes, s.Runtime))}
	row = append(row, tableLatency(j, s)...)
	user, sys := cpuShare(j)
	return append(row, fmt.Sprintf("%.1f%%", user+sys))
}

// tableLatency are mean, percentiles and maximum.
func tableLatency(j *Job, s *stats.Dir) []string {
	l := &s.Clat
	if j.Opt.LatPct || l.N == 0 {
		l = &s.Lat
	}
	if l.N == 0 {
		return []string{noValue, noValue, noValue, noValue, noValue}
	}
	row := []string{figures(l.Mean())}
	if l.Hist == nil {
		row = append(row, noValue, noValue, noValue)
	} else {
		for _, v := range l.Hist.Percentiles(tablePercentiles, l.N) {
			row = append(row, figures(float64(v)))
		}
	}
	return append(row, figures(float64(l.Max)))
}

// Duration writes nanoseconds with four figures in the unit that suits them, from ns to s.
func Duration(ns float64) string { return figures(ns) }

// figures writes nanoseconds with four figures in the unit that suits them.
func figures(ns float64) string {
	ns = finite(ns)
	unit := "ns"
	for _, next := range [...]struct {
		step float64
		unit string
	}{{1000, "us"}, {1000, "ms"}, {1000, "s"}} {
		if ns < 999.95 {
			break
		}
		ns, unit = ns/next.step, next.unit
	}
	switch {
	case ns < 9.9995:
		return fmt.Sprintf("%.3f%s", ns, unit)
	case ns < 99.995:
		return fmt.Sprintf("%.2f%s", ns, unit)
	}
	return fmt.Sprintf("%.1f%s", ns, unit)
}
