package report

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/job"
	"fiord/stats"
)

// readCSV gives each row as a map by column.
func readCSV(t *testing.T, r *Result) []map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, Options{Formats: []Format{CSV}}); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		if len(row) != len(lines[0]) {
			t.Error("a column's name comes twice")
		}
		rows = append(rows, row)
	}
	return rows
}

func TestCSV(t *testing.T) {
	rows := readCSV(t, madeUp())
	pick := []string{"job", "dir", "ios", "bytes", "iops", "slat_p50_ns", "clat_max_ns", "lat_p99.9_ns", "ios_per_submit", "features", "cpus"}
	var got [][]string
	for _, row := range rows {
		var line []string
		for _, name := range pick {
			v, ok := row[name]
			if !ok {
				t.Fatalf("no column %s", name)
			}
			line = append(line, v)
		}
		got = append(got, line)
	}
	const features, cpus = "fixedbufs defer_taskrun", "0-1,4"
	want := [][]string{
		{"mix", "read", "4", "16384", "2.000000", "1208", "150000", "150528", "1.166667", features, cpus},
		{"mix", "write", "3", "3221225472", "2.000000", "", "2100000000", "2105540608", "1.166667", features, cpus},
		{"mix", "sync", "2", "0", "", "", "", "659456", "1.166667", features, cpus},
		{"failed", "trim", "1", "512", "1000.000000", "", "10", "12", "", "", ""},
		{"idle", "", "", "", "", "", "", "", "", "", ""},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Directions together are a row of their own where they are shown both ways.
func TestCSVUnified(t *testing.T) {
	r := &Result{Jobs: make([]Job, 2)}
	for i, unified := range []string{stats.UnifiedBoth, stats.UnifiedMixed} {
		j := &r.Jobs[i]
		j.Name, j.Number, j.Opt.Unified = "a", i+1, unified
		j.Dirs[job.Read] = stats.Dir{IOs: 3, Bytes: 3, Runtime: 1}
	}
	r.Jobs[0].Dirs[job.Write] = stats.Dir{IOs: 4, Bytes: 4, Runtime: 1}
	var got []string
	for _, row := range readCSV(t, r) {
		got = append(got, row["number"]+row["dir"]+row["ios"])
	}
	if d := cmp.Diff([]string{"1read3", "1write4", "1mixed7", "2mixed3"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Column names are plain words.
func TestCSVNames(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_.]*$`)
	for _, c := range csvColumns {
		if !name.MatchString(c.name) {
			t.Errorf("column %q", c.name)
		}
	}
}
