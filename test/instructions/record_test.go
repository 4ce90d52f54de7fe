package instructions

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recordFile has the counts of this architecture.
var recordFile = filepath.Join("testdata", runtime.GOARCH+".txt")

// A record is the counts of one day: instructions per I/O by the names of the cases, and the Go that compiled them. As a file
// it has the version in its first line and a case in each of the others.
type record struct {
	goVersion string
	counts    map[string]float64
}

func readRecord(path string) (record, error) {
	r := record{counts: map[string]float64{}}
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	r.goVersion = lines[0]
	for i, line := range lines[1:] {
		number, name, _ := strings.Cut(line, "\t")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > 0) || name == "" {
			return r, fmt.Errorf("%s: line %d: want a count above 0, a tab and a case, got %q", path, i+2, line)
		}
		r.counts[name] = n
	}
	return r, nil
}

// write writes the record in the order of the cases.
func (r record) write(path string) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.goVersion)
	for _, c := range cases {
		if n, ok := r.counts[c.name]; ok {
			fmt.Fprintf(&b, "%.1f\t%s\n", n, c.name)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "testdata", "x.txt")
	want := record{"go1.26.8", map[string]float64{cases[0].name: 450.5, cases[1].name: 500}}
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readRecord(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(record{})); diff != "" {
		t.Errorf("written and read (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"450.5\n", "0\tx\n", "many\tx\n", "NaN\tx\n"} {
		if err := os.WriteFile(path, []byte("go1.26.8\n"+bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := readRecord(path); err == nil {
			t.Errorf("%q: no error, %v", bad, r)
		}
	}
}
