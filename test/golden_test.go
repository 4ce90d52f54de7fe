package test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden names a folder with a real fio's JSON reports of the jobs in testdata/golden: NAME/out.json, and NAME/cmdline.txt
// with the exit status. Given, the expected shapes are made anew from them.
var golden = flag.String("golden", "", "make testdata/golden anew from the reports of a real fio in this folder")

// TestGoldenShape compares the reports of fiord with those of fio 3.42: keys, their order and nesting, and the kind of
// each value. What the values are depends on the machine; TestSameWork compares what does not.
func TestGoldenShape(t *testing.T) {
	dir := filepath.Join("testdata", "golden")
	if *golden != "" {
		remake(t, *golden, dir)
	}
	jobs, err := filepath.Glob(filepath.Join(dir, "*", "job.fio"))
	if err != nil || len(jobs) == 0 {
		t.Fatalf("no jobs in %s: %v", dir, err)
	}
	for _, path := range jobs {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			goldenCase(t, filepath.Dir(path))
		})
	}
}

func goldenCase(t *testing.T, from string) {
	work := t.TempDir()
	for _, name := range []string{"job.fio", "in.iolog"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(work, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.Join(from, "shape.txt"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--output-format=json"}
	if extra, err := os.ReadFile(filepath.Join(from, "args")); err == nil {
		args = append(args, strings.Fields(string(extra))...)
	}
	var env []string
	if text, err := os.ReadFile(filepath.Join(from, "env")); err == nil {
		env = strings.Fields(string(text))
	}
	out := fiordWith(t, work, env, append(args, "job.fio")...)
	wantStatus := 0
	if text, ok := strings.CutPrefix(strings.SplitN(string(want), "\n", 2)[0], "status "); ok {
		if _, err := fmt.Sscan(text, &wantStatus); err != nil {
			t.Fatal(err)
		}
	}
	if out.status != wantStatus {
		t.Errorf("status %d, want %d\n%s%s", out.status, wantStatus, out.stdout, out.stderr)
	}
	if out.status == 0 && len(out.stderr) > 0 {
		t.Errorf("standard error of a good run: %s", out.stderr)
	}
	got, err := shapeText(out.stdout, out.status)
	if err != nil {
		t.Fatalf("no JSON: %v\n%s", err, out.stdout)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("shape (-fio +fiord):\n%s", diff)
	}
}

// shapeText is the shape of a report and the status it was printed with. Of several documents it is that of the last:
// how many there are is a matter of time.
func shapeText(text []byte, status int) (string, error) {
	docs, err := shapesOf(text)
	if err != nil {
		return "", err
	}
	if len(docs) == 0 {
		return "", fmt.Errorf("empty report")
	}
	last := docs[len(docs)-1]
	last.prune()
	return fmt.Sprintf("status %d\n%s", status, last.text()), nil
}

// remake writes the shape of each report in from. A job needs to be in testdata already: which ones are tested is decided
// there.
func remake(t *testing.T, from, to string) {
	cases, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		text, err := os.ReadFile(filepath.Join(from, c.Name(), "out.json"))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := os.ReadFile(filepath.Join(from, c.Name(), "cmdline.txt"))
		if err != nil {
			t.Fatal(err)
		}
		status := 0
		for line := range strings.Lines(string(lines)) {
			if head, tail, ok := strings.Cut(line, "> out.json\t# exit "); ok && strings.Contains(head, "json") {
				if _, err := fmt.Sscan(tail, &status); err != nil {
					t.Fatal(err)
				}
			}
		}
		if i := bytes.IndexByte(text, '{'); i > 0 {
			text = text[i:] // fio puts notes before the document
		}
		shape, err := shapeText(text, status)
		if err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
		if err := os.WriteFile(filepath.Join(to, c.Name(), "shape.txt"), []byte(shape), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
