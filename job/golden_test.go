package job

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenSections are the sections that a golden job was run with.
var goldenSections = map[string][]string{"34-job-order": {"keep", "and-this"}}

func goldenLoader(t *testing.T, dir string) *Loader {
	t.Helper()
	l := &Loader{Engines: fakeEngines(t), ParseOnly: true, Sections: goldenSections[filepath.Base(dir)],
		Env: func(name string) (string, bool) { return "4k", name == "BS" }}
	l.AddFile(filepath.Join(dir, "job.fio"))
	return l
}

func goldenDirs(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no golden jobs: %v", err)
	}
	return dirs
}

// TestShowCmdGolden compares --showcmd with what fio 3.42 printed.
func TestShowCmdGolden(t *testing.T) {
	for _, dir := range goldenDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(dir, "out.showcmd"))
			if err != nil {
				t.Fatal(err)
			}
			l := goldenLoader(t, dir)
			_, _, _, err = l.Load()
			if errors.Is(err, ErrBadValue) {
				return // bs=4q: fio takes it for 4
			}
			if err != nil && !errors.Is(err, ErrUnknownOption) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), l.ShowCmd()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// orderedOptions is a JSON object of strings whose order matters.
type orderedOptions []Setting

func (o *orderedOptions) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		value, err := dec.Token()
		if err != nil {
			return err
		}
		*o = append(*o, Setting{Name: key.(string), Value: value.(string)})
	}
	return nil
}

// TestJobOptionsGolden compares the given options, their names, values and order, with the JSON of fio 3.42.
func TestJobOptionsGolden(t *testing.T) {
	for _, dir := range goldenDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, "out.json"))
			if err != nil {
				t.Fatal(err)
			}
			start := strings.Index(string(data), "{\n")
			if start < 0 {
				t.Skip("fio wrote no JSON document: the job fails")
			}
			var doc struct {
				Global orderedOptions `json:"global options"`
				Jobs   []struct {
					Name    string         `json:"jobname"`
					Group   int            `json:"groupid"`
					Options orderedOptions `json:"job options"`
				}
			}
			if err := json.NewDecoder(strings.NewReader(string(data[start:]))).Decode(&doc); err != nil {
				t.Fatal(err)
			}
			jobs, global, _, err := goldenLoader(t, dir).Load()
			if err != nil {
				t.Skipf("refused, see TestShowCmdGolden: %v", err)
			}
			compareSettings(t, "global options", doc.Global, global)
			next := 0
			for _, want := range doc.Jobs {
				if want.Name == "" {
					continue // fio 3.42 leaves the row of a job with stats=0 empty
				}
				for next < len(jobs) && (jobs[next].Name != want.Name || jobs[next].Group != want.Group) {
					next++ // merged into the one before by group_reporting
				}
				if next == len(jobs) {
					t.Fatalf("no job %q in group %d", want.Name, want.Group)
				}
				compareSettings(t, want.Name, want.Options, jobs[next].Given)
				next++
			}
		})
	}
}

func compareSettings(t *testing.T, what string, want orderedOptions, got []Setting) {
	t.Helper()
	var plain orderedOptions
	for _, s := range got {
		plain = append(plain, Setting{Name: s.Name, Value: s.Value})
	}
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("%s (-fio +fiord):\n%s", what, diff)
	}
}
