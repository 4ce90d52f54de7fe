package iolog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// logging is a job that logs below dir.
func logging(dir string, set func(*job.Job)) *job.Job {
	j := &job.Job{Name: filepath.Join(dir, "jobname"), Number: 3}
	j.PerJobLogs, j.LogEntries, j.BWAvgTime, j.IOPSAvgTime = true, 1024, 500, 500
	set(j)
	return j
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestJobLogNames(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*job.Job)
		want []string
	}{
		{"none", func(*job.Job) {}, nil},
		{"latency, by the job's name", func(j *job.Job) { j.WriteLatLog.On = true },
			[]string{"jobname_clat.3.log", "jobname_lat.3.log", "jobname_slat.3.log"}},
		{"what is not measured", func(j *job.Job) { j.WriteLatLog.On, j.DisableSlat, j.DisableLat = true, true, true },
			[]string{"jobname_clat.3.log"}},
		{"gtod_reduce measures no latency", func(j *job.Job) { j.WriteLatLog.On, j.GTODReduce = true, true }, nil},
		{"all in one", func(j *job.Job) {
			dir := filepath.Dir(j.Name)
			j.WriteBWLog = job.LogName{On: true, Prefix: filepath.Join(dir, "b")}
			j.WriteIOPSLog = job.LogName{On: true, Prefix: filepath.Join(dir, "i")}
			j.WriteHistLog = job.LogName{On: true, Prefix: filepath.Join(dir, "h")}
			j.PerJobLogs = false
		}, []string{"b_bw.log", "h_clat_hist.log", "i_iops.log"}},
	} {
		dir := t.TempDir()
		l, err := NewJobLogs(logging(dir, c.set), NewRegistry())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if (l == nil) != (c.want == nil) {
			t.Errorf("%s: logs %v", c.name, l)
		}
		if l != nil {
			l.Begin(1, 2)
			if err := l.Close(3); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if d := cmp.Diff(c.want, files(t, dir)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestJobLogErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := NewJobLogs(logging(dir, func(j *job.Job) { j.WriteLatLog.On, j.LogIssueTime = true, true }), NewRegistry())
	if err == nil || !strings.Contains(err.Error(), "log_issue_time") {
		t.Errorf("log_issue_time without log_offset: %v", err)
	}
	_, err = NewJobLogs(logging(dir, func(j *job.Job) {
		j.WriteLatLog.On = true
		j.WriteBWLog = job.LogName{On: true, Prefix: filepath.Join(dir, "no", "folder")}
	}), NewRegistry())
	if err == nil || !strings.Contains(err.Error(), "folder_bw.3.log") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestWhoCloses checks which logs belong to the worker and which to the sampler.
func TestWhoCloses(t *testing.T) {
	dir := t.TempDir()
	all := func(j *job.Job) {
		on := job.LogName{On: true}
		j.WriteBWLog, j.WriteIOPSLog, j.WriteLatLog, j.WriteHistLog = on, on, on, on
		j.LogWindowValue = "max"
		j.LogAlternateEpoch = true
	}
	l, err := NewJobLogs(logging(dir, all), NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if !l.Bw.PerIO() || !l.Iops.PerIO() {
		t.Error("without log_avg_msec there is a line for each I/O")
	}
	if err := l.CloseWorker(0); err != nil || l.Bw != nil || l.Iops != nil || l.Lat != nil || l.Hist != nil {
		t.Errorf("after CloseWorker: %+v, %v", l, err)
	}
	l, err = NewJobLogs(logging(dir, func(j *job.Job) { all(j); j.LogAvgMsec = 100 }), NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	l.Begin(0, 5000) // the worker's, which must leave the sampler's alone
	l.BeginSampled(0, 1000)
	l.Begin(0, 5000)
	l.Bw.Add(50*ms, 10, job.Read, 0, 0, 0, 0)
	l.Bw.Add(60*ms, 30, job.Read, 0, 0, 0, 0)
	if err := l.CloseWorker(70 * ms); err != nil || l.Bw == nil || l.Iops == nil || l.Clat != nil {
		t.Errorf("after CloseWorker: %+v, %v", l, err)
	}
	if err := l.CloseSampled(80 * ms); err != nil || l.Bw != nil || l.Iops != nil {
		t.Errorf("after CloseSampled: %+v, %v", l, err)
	}
	if got, want := read(t, filepath.Join(dir, "jobname_bw.3.log")), "1080, 30, 0, 0, 0\n"; got != want {
		t.Errorf("bandwidth log has %q, want %q", got, want)
	}
}

func TestSampleTimes(t *testing.T) {
	j := logging("", func(j *job.Job) { j.LogAvgMsec = 100; j.WriteBWLog.On = true })
	if bw, iops := SampleTimes(j); bw != 100*time.Millisecond || iops != 500*time.Millisecond {
		t.Errorf("windows %v, %v, want 100ms, 500ms", bw, iops)
	}
}

func TestAggLogs(t *testing.T) {
	dir := t.TempDir()
	l, err := NewAggLogs(filepath.Join(dir, "sum"))
	if err != nil {
		t.Fatal(err)
	}
	l.Add(500, [job.NDirs]uint64{10, 20, 0})
	l.Add(1001, [job.NDirs]uint64{11, 0, 7})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range files(t, dir) {
		got[f] = read(t, filepath.Join(dir, f))
	}
	want := map[string]string{
		"sum-read_bw.log":  "500, 10, 0, 0, 0\n1001, 11, 0, 0, 0\n",
		"sum-write_bw.log": "500, 20, 1, 0, 0\n1001, 0, 1, 0, 0\n",
		"sum-trim_bw.log":  "500, 0, 2, 0, 0\n1001, 7, 2, 0, 0\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := NewAggLogs(filepath.Join(dir, "no", "folder")); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
