package iolog

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// merged are the times and sectors of a merged trace.
func merged(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for {
		var r traceRecord
		if readTrace(f, binary.LittleEndian, &r) != nil {
			return strings.Join(out, " ")
		}
		if r.PayloadLen != 0 {
			t.Error("a payload was kept")
		}
		out = append(out, fmt.Sprintf("%d:%d", r.Time, r.Sector))
	}
}

func TestMergeTraces(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, w *trace) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, w.b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := (&trace{order: binary.LittleEndian}).add(10, 1, 512, queueAct|traceRead, "abc").add(11, 9, 512, completeAct|traceRead, "x")
	a = a.add(30, 2, 512, queueAct|traceWrite, "").add(40, 9, 512, completeAct|traceRead, "")
	b := (&trace{order: binary.BigEndian}).add(5, 0, 0, traceNotify|1, "12345678").add(20, 3, 512, queueAct|traceDiscard, "").add(30, 4, 512, queueAct|traceRead, "")
	names := write("a", a) + ":" + write("b", b)
	empty := write("empty", (&trace{order: binary.LittleEndian}).add(1, 9, 512, completeAct|traceRead, ""))
	for _, c := range []struct {
		name, logs     string
		scalars, iters []float64
		want           string
	}{
		{"plain", names, nil, nil, "10:1 20:3 30:2 30:4"},
		{"scaled", names, []float64{100, 200}, nil, "10:1 30:2 40:3 60:4"},
		{"repeated", names, nil, []float64{2, 1}, "10:1 20:3 30:2 30:4 50:1 70:2"},
		{"one without I/O", names + ":" + empty, nil, []float64{1, 1, 5}, "10:1 20:3 30:2 30:4"},
	} {
		j := &job.Job{}
		j.ReadIolog, j.MergeBlktraceFile = c.logs, filepath.Join(dir, "out")
		j.MergeBlktraceScalars, j.MergeBlktraceIters = c.scalars, c.iters
		if err := MergeTraces(j); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, merged(t, j.MergeBlktraceFile)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for _, c := range []struct {
		logs, out      string
		scalars, iters []float64
		want           string
	}{
		{"", "out", nil, nil, "names no trace"},
		{names, "out", []float64{1}, nil, "merge_blktrace_scalars has 1 numbers for 2 traces"},
		{names, "out", nil, []float64{1, 2, 3}, "merge_blktrace_iters has 3 numbers for 2 traces"},
		{names, "out", nil, []float64{1, -2}, "merge_blktrace_iters=-2: want 1"},
		{names, "a", nil, nil, "is one of the traces to merge"},
		{names + ":" + dir + "/gone", "out", nil, nil, "no such file"},
		{write("text", &trace{b: []byte("hello")}), "out", nil, nil, "is no blktrace file"},
		{write("cut", &trace{b: a.b[:60]}), "out", nil, nil, "cut short"},
		{names, "no/folder", nil, nil, "no such file"},
	} {
		j := &job.Job{}
		j.ReadIolog, j.MergeBlktraceFile = c.logs, filepath.Join(dir, c.out)
		j.MergeBlktraceScalars, j.MergeBlktraceIters = c.scalars, c.iters
		if err := MergeTraces(j); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.logs, err, c.want)
		}
	}
}
