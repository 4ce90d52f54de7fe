package test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// logForm is what a log looks like whatever was measured: how many lines there are, and which kinds of line.
type logForm struct {
	Rows  int      // 0 where the time decides
	Lines []string // each with # for decimal numbers
}

var decimal = regexp.MustCompile(`\b\d+\b`)

// logsIn reads the forms of all logs in dir.
func logsIn(t *testing.T, dir string, rows bool) map[string]logForm {
	t.Helper()
	found := map[string]logForm{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.log*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".fz") {
			text = fiord(t, dir, "--inflate-log="+path).stdout
		}
		kinds, f := map[string]bool{}, logForm{}
		for line := range strings.Lines(string(text)) {
			kinds[decimal.ReplaceAllString(line, "#")] = true
			if rows {
				f.Rows++
			}
		}
		f.Lines = slices.Sorted(maps.Keys(kinds))
		found[filepath.Base(path)] = f
	}
	return found
}

// logJobs are sets of log options, on jobs whose number of I/Os is fixed. Those with a form are too new for the fio of some
// distributions; the form is what fio 3.42 wrote.
var logJobs = []struct {
	name, args string
	noRows     bool // the number of lines depends on time
	form       map[string]logForm
}{
	{"lat", "--write_lat_log=x", false, nil},
	{"lat of a synchronous engine", "--ioengine=sync --write_lat_log=x", false, nil},
	{"lat in flight", "--ioengine=libaio --iodepth=4 --write_lat_log=x", false, nil},
	{"bw", "--write_bw_log=x", false, nil},
	{"iops", "--write_iops_log=x", false, nil},
	{"several", "--write_iops_log=a --write_lat_log=b --write_bw_log=c --numjobs=2", false, nil},
	{"one file", "--write_iops_log=x --write_lat_log=x --numjobs=3 --per_job_logs=0", false, nil},
	{"offset", "--write_lat_log=x --write_bw_log=x --log_offset=1", false, nil},
	{"mixed", "--rw=randrw --write_lat_log=x --write_iops_log=x --norandommap", true, nil},
	{"trims", "--rw=trim --write_lat_log=x", false, nil},
	{"no clat", "--write_lat_log=x --disable_clat=1", false, nil},
	{"no slat, no lat", "--write_lat_log=x --disable_slat=1 --disable_lat=1", false, nil},
	{"averages", "--write_lat_log=x --write_bw_log=x --write_iops_log=x --log_avg_msec=10 --number_ios=0 --time_based --runtime=100ms --rate_iops=1000", true, nil},
	{"averages of offsets", "--write_lat_log=x --log_avg_msec=1 --log_offset=1", true, nil},
	{"largest", "--write_lat_log=x --log_avg_msec=1 --log_max_value=1", true, nil},
	{"histograms", "--write_hist_log=x --log_hist_msec=1 --number_ios=0 --time_based --runtime=50ms", true, nil},
	{"coarse histograms", "--write_hist_log=x --log_hist_msec=1 --log_hist_coarseness=4 --number_ios=0 --time_based --runtime=50ms", true, nil},
	{"clock", "--write_lat_log=x --log_unix_epoch=1", false, nil},
	{"bandwidth of all", "--bandwidth-log", true, nil},
	{"compressed in memory", "--write_lat_log=x --log_compression=1k", false, nil},
	{"compressed", "--write_lat_log=x --log_compression=1k --log_store_compressed=1", false, map[string]logForm{
		"x_lat.1.log.fz": {64, []string{"#, #, #, #, #\n"}}, "x_clat.1.log.fz": {64, []string{"#, #, #, #, #\n"}}, "x_slat.1.log.fz": {}}},
	{"priorities", "--write_lat_log=x --log_prio=1", false, lines(64, "#, #, #, #, 0x0000\n")},
	{"issue times", "--write_lat_log=x --log_offset=1 --log_issue_time=1", false, lines(64, "#, #, #, #, #, #, #\n")},
	{"all columns", "--write_lat_log=x --log_offset=1 --log_issue_time=1 --log_prio=1", false, lines(64, "#, #, #, #, #, 0x0000, #\n")},
	{"average and largest", "--write_lat_log=x --log_avg_msec=1 --log_window_value=both", true, lines(0, "#, #, #, #, #, #\n")},
	{"other clock", "--write_lat_log=x --log_alternate_epoch=1 --log_alternate_epoch_clock_id=1", false, lines(64, "#, #, #, #, #\n")},
	{"entries", "--write_lat_log=x --log_entries=2048", false, lines(64, "#, #, #, #, #\n")},
}

// lines is the form of the two logs that a job of the null engine writes, which has no submission latencies.
func lines(rows int, line string) map[string]logForm {
	f := logForm{rows, []string{line}}
	return map[string]logForm{"x_lat.1.log": f, "x_clat.1.log": f, "x_slat.1.log": {}}
}

// TestLogs holds logs against those of a real fio: names of files, columns, how numbers are written, and for a fixed number
// of I/Os the number of lines.
func TestLogs(t *testing.T) {
	for _, c := range logJobs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fio := ""
			if c.form == nil {
				fio = findFio(t)
			}
			args := append(strings.Fields("--name=j --ioengine=null --rw=randread --bs=4k --size=256k --number_ios=64"), strings.Fields(c.args)...)
			here := t.TempDir()
			if got := fiord(t, here, args...); got.status != 0 || len(got.stderr) > 0 {
				t.Fatalf("status %d: %s", got.status, got.stderr)
			}
			want := c.form
			if want == nil {
				there := t.TempDir()
				if ref := command(t, there, os.Environ(), fio, args...); ref.status != 0 {
					t.Fatalf("fio: status %d: %s", ref.status, ref.stderr)
				}
				want = logsIn(t, there, !c.noRows)
			}
			got := logsIn(t, here, !c.noRows)
			if c.noRows {
				forget(want, got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("logs (-fio +fiord):\n%s", diff)
			}
		})
	}
}

// forget drops the lines of logs that are empty in one of a and b: whether a window has ended is a matter of time.
func forget(a, b map[string]logForm) {
	for name, f := range a {
		g, ok := b[name]
		if ok && (f.Lines == nil) != (g.Lines == nil) {
			a[name], b[name] = logForm{}, logForm{}
		}
	}
}
