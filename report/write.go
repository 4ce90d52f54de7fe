package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Format is one of the output formats.
type Format string

// The formats, by their names in --output-format.
const (
	Normal   Format = "normal"
	Terse    Format = "terse"
	JSON     Format = "json"
	JSONPlus Format = "json+"
	Table    Format = "table"
	CSV      Format = "csv"
	Metrics  Format = "openmetrics"
)

// Options says how a Result is written.
type Options struct {
	Formats      []Format // empty: normal
	TerseVersion int      // 2 to 5; 0: 3
	Own          bool     // JSON: fiord's own numbers too, under the key "fiord"; warnings are there in any case
}

// ParseFormats reads the value of --output-format, a comma list. "minimal" is another name of terse.
//
// fio differs: "csv" is one, too, which its manual does not tell.
func ParseFormats(list string) ([]Format, error) {
	var out []Format
	for name := range strings.SplitSeq(list, ",") {
		f := Format(strings.TrimSpace(name))
		switch f {
		case "minimal":
			f = Terse
		case Normal, Terse, JSON, JSONPlus, Table, CSV, Metrics:
		default:
			return nil, fmt.Errorf("output format: want a list of normal, terse, json, json+, table, csv, openmetrics, got %q", name)
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, nil
}

// Has reports whether f is among the formats.
func (o Options) Has(f Format) bool {
	return slices.Contains(o.Formats, f) || f == Normal && len(o.Formats) == 0
}

// Write renders r in every format asked for, in fio's fixed order: terse, json, normal; fiord's own come last. With
// both json and json+ there is one document, the richer one.
func Write(w io.Writer, r *Result, o Options) error {
	version := o.TerseVersion
	if version == 0 {
		version = 3
	}
	var b bytes.Buffer
	if o.Has(Terse) {
		if version < 2 || version > 5 {
			return fmt.Errorf("terse report: version %d: want 2 to 5", version)
		}
		writeTerse(&b, r, version)
	}
	if o.Has(JSON) || o.Has(JSONPlus) {
		writeJSON(&b, r, o.Has(JSONPlus), o.Own)
	}
	if o.Has(Normal) {
		writeNormal(&b, r)
	}
	if o.Has(Table) {
		if err := writeTable(&b, r); err != nil {
			return fmt.Errorf("table report: %w", err)
		}
	}
	if o.Has(CSV) {
		if err := writeCSV(&b, r); err != nil {
			return fmt.Errorf("csv report: %w", err)
		}
	}
	if o.Has(Metrics) {
		writeMetrics(&b, r)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
