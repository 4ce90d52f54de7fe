package report

import (
	"bytes"
	"strings"
	"testing"

	"fiord/stats"
)

// TestTableEmptyRows leaves out what stands for no job, and keeps a job that did nothing.
func TestTableEmptyRows(t *testing.T) {
	r := &Result{Jobs: []Job{{Job: stats.Job{Name: "idle"}}, {Job: stats.Job{Group: -1}}}}
	var b bytes.Buffer
	if err := writeTable(&b, r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 2 || !strings.Contains(b.String(), "\nidle ") {
		t.Errorf("%d lines, want a header and idle:\n%s", n, b.String())
	}
}
