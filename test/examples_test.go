package test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples runs every job file of examples/ as a user would, from a folder of its own.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "examples", "*.fio"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("%d examples, want at least 20", len(files))
	}
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".fio"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out := fiordWith(t, dir, []string{"FIORD_SIZE=1m"}, "--output-format=json", path)
			if out.status != 0 || len(out.stderr) != 0 {
				t.Fatalf("status %d\n%s%s", out.status, out.stdout, out.stderr)
			}
			if !bytes.HasPrefix(out.stdout, []byte("{")) {
				t.Errorf("standard output holds more than the document:\n%s", out.stdout)
			}
			for _, c := range counted(t, out) {
				if c.Error != 0 || c.Reads+c.Writes+c.Trims == 0 {
					t.Errorf("job %s: error %d, %d reads, %d writes, %d trims", c.Job, c.Error, c.Reads, c.Writes, c.Trims)
				}
			}
			for name := range sizes(t, dir) {
				if ext := filepath.Ext(name); ext != ".log" && ext != ".fz" && ext != ".iolog" {
					t.Errorf("left %s behind", name)
				}
			}
		})
	}
}
