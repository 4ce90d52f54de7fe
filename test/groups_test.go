package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// groupLine is a line of a normal report that adds the jobs of a group up.
var groupLine = regexp.MustCompile(`^ +(READ|WRITE|TRIM): bw=.*, io=([\d.]+)([KMGT]?i?)B \(.*\), run=(\d+)-(\d+)msec\n$`)

// groupTotal is what the jobs of one group did in one direction.
type groupTotal struct {
	bytes       float64
	least, most uint64 // run time in ms
}

// documentAndText splits a report in two forms, which follows what is said meanwhile.
func documentAndText(t *testing.T, out []byte) (document, text []byte) {
	t.Helper()
	begin, end := bytes.Index(out, []byte("{\n")), bytes.Index(out, []byte("\n}\n"))
	if begin < 0 || end < begin {
		t.Fatalf("no document: %s", out)
	}
	return out[begin : end+3], out[end+3:]
}

// groupsAddUp wants the groups of the normal report to be the sums of the jobs in the document of the same run.
func groupsAddUp(t *testing.T, document, text []byte) {
	t.Helper()
	jobs, lines := groupsOf(t, document), groupLines(t, text)
	for key, want := range jobs {
		got, ok := lines[key]
		if !ok || math.Abs(got.bytes-want.bytes) > want.bytes*1e-3 || got.least != want.least || got.most != want.most {
			t.Errorf("group %s: %+v, its jobs %+v", key, got, want)
		}
	}
	if len(jobs) != len(lines) {
		t.Errorf("groups %v, jobs %v", lines, jobs)
	}
}

// groupsOf adds the jobs of a document up.
func groupsOf(t *testing.T, document []byte) map[string]groupTotal {
	t.Helper()
	var doc struct {
		Jobs []struct {
			Group             int `json:"groupid"`
			Read, Write, Trim sideJSON
		}
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	sums := map[string]groupTotal{}
	for _, j := range doc.Jobs {
		for name, s := range map[string]sideJSON{"READ": j.Read, "WRITE": j.Write, "TRIM": j.Trim} {
			if s.Runtime == 0 {
				continue
			}
			key := fmt.Sprint(j.Group, " ", name)
			g, ok := sums[key]
			if !ok {
				g.least = s.Runtime
			}
			sums[key] = groupTotal{g.bytes + float64(s.Bytes), min(g.least, s.Runtime), max(g.most, s.Runtime)}
		}
	}
	return sums
}

// groupLines reads the groups of a normal report.
func groupLines(t *testing.T, text []byte) map[string]groupTotal {
	t.Helper()
	group, found := "", map[string]groupTotal{}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Run status group "); ok {
			group, _, _ = strings.Cut(rest, " ")
		}
		m := groupLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		g := groupTotal{bytes: n}
		if m[3] != "" {
			g.bytes *= math.Pow(1024, float64(1+strings.Index("KMGT", m[3][:1])))
		}
		g.least, _ = strconv.ParseUint(m[4], 10, 64)
		g.most, _ = strconv.ParseUint(m[5], 10, 64)
		found[group+" "+m[1]] = g
	}
	return found
}
