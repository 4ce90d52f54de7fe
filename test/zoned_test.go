package test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestZonedSequence is TestSequence for jobs with zonemode=zbd, on files of 16 MiB whose zones are imagined.
// testdata/zoned/cases.tsv has the columns of testdata/sequences/cases.tsv.
func TestZonedSequence(t *testing.T) {
	dir := filepath.Join("testdata", "zoned")
	text, err := os.ReadFile(filepath.Join(dir, "cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("cases.tsv:%d: %d columns, want 4", i+1, len(f))
		}
		if i == 0 {
			continue // their names
		}
		t.Run(f[0], func(t *testing.T) {
			work := t.TempDir()
			for _, name := range []string{"f1", "f2"} {
				path := filepath.Join(work, name)
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(path, 16<<20); err != nil {
					t.Fatal(err)
				}
			}
			out := fiord(t, work, strings.Fields(f[3])...)
			if strconv.Itoa(out.status) != f[1] {
				t.Fatalf("status %d, want %s\n%s%s", out.status, f[1], out.stdout, out.stderr)
			}
			got, err := os.ReadFile(filepath.Join(work, "log"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(recorded(t, filepath.Join(dir, f[0]+".iolog.gz")), withoutTimes(string(got))); diff != "" {
				t.Errorf("sequence (-fio +fiord):\n%s", diff)
			}
		})
	}
}
