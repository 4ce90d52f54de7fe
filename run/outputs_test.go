package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckOutputs covers what needs an open file or a device; the scripts of package cli have the rest.
func TestCheckOutputs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	f, err := os.Create("data")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	open, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", "loop"); err != nil {
		t.Fatal(err)
	}
	null, err := os.Stat("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, job string
		report    Place
		want      string // in the error; empty: accepted
	}{
		{"open file", "filename=data", Place{What: "standard output", Info: open}, `standard output: it is the job's own file "data"`},
		{"open file, another job file", "filename=other", Place{What: "standard output", Info: open}, ""},
		{"no file", "filename=data", Place{What: "standard output"}, ""},
		{"a character device", "filename=/dev/null", Place{What: "standard output", Info: null}, ""},
		{"a loop of links", "filename=loop", Place{What: "--output", Path: "loop"}, "own file"},
		{"beside a loop of links", "filename=data", Place{What: "--output", Path: "loop/x"}, ""},
		{"full name", "filename=new", Place{What: "--output", Path: filepath.Join(dir, "new")}, "own file"},
		{"opendir", "opendir=" + dir, Place{What: "--output", Path: "data"}, "own file"},
		{"opendir that is not there", "opendir=none", Place{What: "--output", Path: "data"}, ""},
		{"standard input as data", "filename=-", Place{What: "--output", Path: "data"}, ""},
	} {
		g := newRig()
		g.load(t, section("a", "ioengine=psync rw=read size=4k "+c.job))
		err := CheckOutputs(&g.cfg, c.report, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
