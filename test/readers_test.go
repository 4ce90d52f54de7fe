package test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readersJob is fixed work whose counts are known: 64 reads, and 32 reads and writes together.
const readersJob = `[global]
bs=4k
size=256k
ioengine=psync
write_lat_log=logs
write_bw_log=logs
write_iops_log=logs
[first]
rw=randread
[second]
stonewall
rw=randrw
size=128k
iodepth=2
randseed=7
`

// readersRun runs the job and returns its folder with terse.txt and report.json.
func readersRun(t *testing.T, formats string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "job.fio"), []byte(readersJob), 0o666); err != nil {
		t.Fatal(err)
	}
	out := fiord(t, dir, "--output-format="+formats, "--output=report", "job.fio")
	if out.status != 0 || len(out.stderr) > 0 {
		t.Fatalf("status %d: %s", out.status, out.stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report"))
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.Index(text, []byte("{\n"))
	for name, part := range map[string][]byte{"terse.txt": text[:start], "report.json": text[start:]} {
		if err := os.WriteFile(filepath.Join(dir, name), part, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// get follows a path of keys and list indices into a JSON value.
func get(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			next, ok := m[s]
			if !ok {
				t.Fatalf("%v: no key %q", path, s)
			}
			v = next
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				t.Fatalf("%v: no element %d", path, s)
			}
			v = l[s]
		}
	}
	return v
}

func figure(t *testing.T, v any, path ...any) float64 {
	t.Helper()
	f, ok := get(t, v, path...).(float64)
	if !ok {
		t.Fatalf("%v is no number", path)
	}
	return f
}

// TestReaders reads one run's JSON by the paths that scripts use, its terse lines by index, and its logs by column; what
// they say must be the same.
func TestReaders(t *testing.T) {
	dir := readersRun(t, "terse,json+")
	var doc any
	if err := json.Unmarshal(readAll(t, dir, "report.json"), &doc); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(readAll(t, dir, "terse.txt"))), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d terse lines, want 2", len(lines))
	}
	for i, name := range []string{"first", "second"} {
		job := get(t, doc, "jobs", i)
		if get(t, job, "jobname") != name || get(t, job, "job options", "rw") == "" || get(t, doc, "global options", "bs") != "4k" {
			t.Errorf("job %d is not %s with its options", i, name)
		}
		f := strings.Split(lines[i], ";")
		if f[0] != "3" || !strings.HasPrefix(f[1], "fio-3.") || f[2] != name || f[3] != fmt.Sprint(i) || f[4] != "0" {
			t.Errorf("terse fields 0 to 4: %v", f[:5])
		}
		terseDirection(t, f[5:46], get(t, job, "read"))
		terseDirection(t, f[46:87], get(t, job, "write"))
		terseRest(t, f, job)
		for d, dir2 := range []string{"read", "write"} {
			logsOf(t, dir, i+1, d, get(t, job, dir2))
		}
	}
	if got := figure(t, doc, "jobs", 0, "read", "total_ios"); got != 64 {
		t.Errorf("first: %v reads, want 64", got)
	}
	if r, w := figure(t, doc, "jobs", 1, "read", "total_ios"), figure(t, doc, "jobs", 1, "write", "total_ios"); r+w != 32 {
		t.Errorf("second: %v reads and %v writes, want 32 together", r, w)
	}
}

func readAll(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// terseDirection compares the 41 fields of one direction, by their places in version 3.
func terseDirection(t *testing.T, f []string, side any) {
	t.Helper()
	at := func(i int, want, within float64) {
		t.Helper()
		got, err := strconv.ParseFloat(strings.TrimSuffix(f[i], "%"), 64)
		if err != nil || math.Abs(got-want) > within {
			t.Errorf("terse field %d of the direction is %s, want %v", i, f[i], want)
		}
	}
	at(0, figure(t, side, "io_kbytes"), 0)
	at(1, figure(t, side, "bw"), 0)
	at(2, math.Floor(figure(t, side, "iops")), 0)
	at(3, figure(t, side, "runtime"), 0)
	for i, key := range []string{"slat_ns", "clat_ns"} {
		for k, what := range []string{"min", "max", "mean", "stddev"} {
			at(4+4*i+k, figure(t, side, key, what)/1000, 1)
		}
	}
	for k, what := range []string{"min", "max", "mean", "stddev"} {
		at(32+k, figure(t, side, "lat_ns", what)/1000, 1)
	}
	at(36, figure(t, side, "bw_min"), 0)
	at(37, figure(t, side, "bw_max"), 0)
	at(39, figure(t, side, "bw_mean"), 1e-5)
	at(40, figure(t, side, "bw_dev"), 1e-5)
	if figure(t, side, "total_ios") == 0 {
		return
	}
	for k, p := range []string{"1.000000", "5.000000", "10.000000"} {
		want := fmt.Sprintf("%s%%=%d", p, int(figure(t, side, "clat_ns", "percentile", p))/1000)
		if f[12+k] != want {
			t.Errorf("terse percentile %d is %s, want %s", k, f[12+k], want)
		}
	}
}

// terseRest compares what follows the directions: CPU, depths, latency buckets.
func terseRest(t *testing.T, f []string, job any) {
	t.Helper()
	percent := func(i int, want float64) {
		t.Helper()
		got, err := strconv.ParseFloat(strings.TrimSuffix(f[i], "%"), 64)
		if err != nil || !strings.HasSuffix(f[i], "%") || math.Abs(got-want) > 0.051 {
			t.Errorf("terse field %d is %s, want %.2f%%", i, f[i], want)
		}
	}
	percent(87, figure(t, job, "usr_cpu"))
	percent(88, figure(t, job, "sys_cpu"))
	for i, key := range []string{"ctx", "majf", "minf"} {
		if f[89+i] != fmt.Sprint(figure(t, job, key)) {
			t.Errorf("terse field %d is %s, want %s", 89+i, f[89+i], key)
		}
	}
	for i, key := range []string{"1", "2", "4", "8", "16", "32", ">=64"} {
		percent(92+i, figure(t, job, "iodepth_level", key))
	}
	for i, key := range []string{"2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"} {
		percent(109+i, figure(t, job, "latency_ms", key))
	}
	for i, key := range []string{"4", "10", "20", "50", "100", "250", "500", "750", "1000"} {
		percent(100+i, figure(t, job, "latency_us", key))
	}
}

// logsOf reads the logs of a job as plotting scripts do: time in ms, value, direction, block size, offset or priority.
func logsOf(t *testing.T, dir string, jobNumber, direction int, side any) {
	t.Helper()
	for kind, perIO := range map[string]bool{"lat": true, "clat": true, "bw": true, "iops": true} {
		name := fmt.Sprintf("logs_%s.%d.log", kind, jobNumber)
		r := csv.NewReader(bytes.NewReader(readAll(t, dir, name)))
		r.TrimLeadingSpace = true
		lines, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		last, n, sum := 0.0, 0, 0.0
		for _, line := range lines {
			var v [5]float64
			for i := range v {
				if v[i], err = strconv.ParseFloat(line[i], 64); err != nil {
					t.Fatalf("%s: column %d: %v", name, i+1, err)
				}
			}
			if v[0] < last || v[2] != 0 && v[2] != 1 || v[3] != 4096 {
				t.Errorf("%s: line %v after %v ms", name, line, last)
			}
			last = v[0]
			if v[2] == float64(direction) {
				n, sum = n+1, sum+v[1]
			}
		}
		if perIO && float64(n) != figure(t, side, "total_ios") {
			t.Errorf("%s: %d lines of direction %d, want %v", name, n, direction, figure(t, side, "total_ios"))
		}
		if mean := figure(t, side, "lat_ns", "mean"); kind == "lat" && n > 0 && math.Abs(sum/float64(n)-mean) > 1e-3 {
			t.Errorf("%s: mean of direction %d is %f, want %f", name, direction, sum/float64(n), mean)
		}
	}
}

// TestPythonReader runs a script that reads JSON, terse lines and logs as the scripts around fio do.
func TestPythonReader(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("FIORD_NEED_TOOLS") == "1" {
			t.Fatal("no python3 in PATH")
		}
		t.Skip("no python3 in PATH")
	}
	script, err := filepath.Abs(filepath.Join("testdata", "readers", "report.py"))
	if err != nil {
		t.Fatal(err)
	}
	dir := readersRun(t, "terse,json+")
	out := command(t, dir, os.Environ(), python, script, "report.json", "terse.txt", "logs")
	if out.status != 0 {
		t.Fatalf("status %d: %s", out.status, out.stderr)
	}
	lines := strings.Split(strings.TrimSpace(string(out.stdout)), "\n")
	if d := cmp.Diff("first read randread 4k 1 64 262144", lines[0]); d != "" || len(lines) != 3 {
		t.Errorf("%d lines, want 3 (-want +got):\n%s", len(lines), d)
	}
}
