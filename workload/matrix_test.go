package workload

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMatrix plays the jobs of testdata/matrix.tsv, which go over the option space in a systematic way, and compares the
// hash of each sequence with that of fio 3.42: of the lines of its I/O log without the header and the time stamps.
//
// Every sequence that does not depend on time is compared to the line, here or in TestRecordedSequences. By statistics only
// are compared:
//
//	rate, rate_iops, thinktime, latency_target   which direction is next follows the clock; see the report of make bench-rate
//	flow                                         follows what other threads have done; see the tests of flows in package run
//	io_submit_mode=offload with several files    files close when threads are done; see TestOffload in package run
//	numjobs with one write_iolog                 lines of the jobs mix; each job's own are compared to the line
//	time_based                                   where the log ends; up to there it is compared to the line
func TestMatrix(t *testing.T) {
	text, err := os.ReadFile("testdata/matrix.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if len(rows) < 100 {
		t.Fatalf("%d cases", len(rows))
	}
	for _, row := range rows {
		f := strings.Split(row, "\t")
		if len(f) != 4 {
			t.Fatalf("%d fields in %q", len(f), row)
		}
		t.Run(f[0], func(t *testing.T) {
			j := loadJobs(t, strings.Fields(f[3]))[0]
			depth := 1
			if isAsync(j) {
				depth = j.IODepth
			}
			lines := play(t, lay(j), depth, 7, 0)
			if n := fmt.Sprint(len(lines)); n != f[1] {
				t.Errorf("%s lines, fio has %s: %s", n, f[1], f[3])
			}
			if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "\n")))); sum != f[2] {
				t.Errorf("the sequence is another one than fio's: %s", f[3])
			}
		})
	}
}
