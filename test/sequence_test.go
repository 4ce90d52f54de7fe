package test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSequence runs jobs whose I/O fio 3.42 has recorded and wants the same I/O: file, action, offset and length of each,
// in order. testdata/sequences/cases.tsv holds a name, fio's status, a number of lines and the arguments of each case.
func TestSequence(t *testing.T) {
	dir := filepath.Join("testdata", "sequences")
	text, err := os.ReadFile(filepath.Join(dir, "cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimSpace(string(text))) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 4 || f[0] == "name" {
			continue
		}
		t.Run(f[0], func(t *testing.T) {
			work := t.TempDir()
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

// recorded reads a recorded sequence, which is an I/O log without its time stamps.
func recorded(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// withoutTimes cuts the time stamp off each line of an I/O log of version 3.
func withoutTimes(log string) []string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for i, line := range lines[1:] {
		if _, rest, ok := strings.Cut(line, " "); ok {
			lines[i+1] = rest
		}
	}
	return lines
}
