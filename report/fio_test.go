package report

import (
	"bytes"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each file of testdata/fio is what fio 3.42 wrote for --output-format=normal,terse,json+ in one run. Its json+ is read
// back, and all three formats rendered from that must be fio's, byte for byte.
func TestAgainstFio(t *testing.T) {
	files, err := filepath.Glob("testdata/fio/*.out")
	if err != nil || len(files) == 0 {
		t.Fatalf("no reports of fio: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".out"), func(t *testing.T) {
			terse, doc, normal := splitReport(t, string(readFile(t, file)))
			r := loadJSON(t, []byte(doc))
			fillFromNormal(r, normal)

			check(t, "json+", doc, render(t, r, JSONPlus))
			check(t, "normal", normal, render(t, r, Normal))
			version := int(terse[0] - '0')
			checkTerse(t, terse, renderVersion(t, r, version))
		})
	}
}

// splitReport parts a report into its terse lines, its document and its normal text; what stands before is dropped.
func splitReport(t *testing.T, s string) (terse, doc, normal string) {
	t.Helper()
	i := regexp.MustCompile(`(?m)^[2-5];`).FindStringIndex(s)
	j, k := strings.Index(s, "\n{\n"), strings.Index(s, "\n}\n")
	if i == nil || j < 0 || k < 0 {
		t.Fatal("not a report in all formats")
	}
	return s[i[0] : j+1], s[j+1 : k+3], s[k+3:]
}

var jobLine = regexp.MustCompile(`(?m)^.*: \(groupid=\d+, jobs=(\d+)\): err= *\d+(?: \((.*)\))?: pid=(\d+): `)

// fillFromNormal takes over what only the normal report says.
func fillFromNormal(r *Result, normal string) {
	found := jobLine.FindAllStringSubmatch(normal, -1)
	if len(found) > len(r.Jobs) { // after status dumps, the last is the end's
		found = found[len(found)-len(r.Jobs):]
	}
	for i, m := range found {
		j := &r.Jobs[i]
		j.Members, _ = strconv.Atoi(m[1])
		j.Pid, _ = strconv.Atoi(m[3])
		j.ErrorText = m[2]
	}
}

var ownKeys = regexp.MustCompile(`(?m),\n( *)"fiord" : \{\n(?:.*\n)*?( *)\}$`)

// render renders one format; without fiord's own keys, which fio has not.
func render(t *testing.T, r *Result, f Format) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, Options{Formats: []Format{f}}); err != nil {
		t.Fatal(err)
	}
	return ownKeys.ReplaceAllString(b.String(), "")
}

func renderVersion(t *testing.T, r *Result, version int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, Options{Formats: []Format{Terse}, TerseVersion: version}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkTerse compares fields. Means in microseconds may differ in the last digit: json has rounded them before.
func checkTerse(t *testing.T, want, got string) {
	t.Helper()
	close := cmp.Comparer(func(a, b string) bool {
		x, errA := strconv.ParseFloat(a, 64)
		y, errB := strconv.ParseFloat(b, 64)
		return a == b || errA == nil && errB == nil && len(a) == len(b) && math.Abs(x-y) < 1.1e-6
	})
	if diff := cmp.Diff(strings.Split(want, ";"), strings.Split(got, ";"), close); diff != "" {
		t.Errorf("terse (-fio +fiord):\n%s", diff)
	}
}

func check(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-fio +fiord):\n%s", what, diff)
	}
}
