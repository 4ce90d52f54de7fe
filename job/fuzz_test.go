package job

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzJobFile checks that no job file panics or hangs, and that what loads holds together.
func FuzzJobFile(f *testing.F) {
	paths, err := filepath.Glob("testdata/corpus/*.fio")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no corpus: %v", err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, s := range []string{"[a]\n`=\"\"\"\n", "[a]\nx\\\ny=|\n[", "[a]\ninclude self", "\x00", "[a]\nbs=(((\n"} {
		f.Add(s)
	}
	engines := fakeEngines(f)
	f.Fuzz(func(t *testing.T, text string) {
		l := &Loader{Engines: engines, ParseOnly: true, MaxJobs: 64, Env: func(string) (string, bool) { return "", false },
			Open: files{"self": text}.open}
		l.AddText("fuzz", text)
		jobs, _, _, err := l.Load()
		if err != nil {
			return
		}
		for i, j := range jobs {
			if j.Number != i+1 || j.NumJobs < 1 || j.Group > i || j.Name == "" {
				t.Errorf("job %d: number %d, numjobs %d, group %d, name %q", i, j.Number, j.NumJobs, j.Group, j.Name)
			}
		}
	})
}

// FuzzOptionValue checks that no value of any option panics, and that a refused value leaves the option as it was where
// that is promised.
func FuzzOptionValue(f *testing.F) {
	table, err := OptionTable()
	if err != nil {
		f.Fatal(err)
	}
	for i, d := range table.All() {
		f.Add(uint16(i), d.Default)
	}
	for _, s := range []string{"4k,,8k", "zoned:60/10:40/90,100/", "0xff0x14'x'", "EIO:1,2", "iops:5%", "1-3,7", "(2^(4k))"} {
		f.Add(uint16(0), s)
	}
	f.Fuzz(func(t *testing.T, n uint16, value string) {
		d := table.All()[int(n)%len(table.All())]
		if d.Name == "buffer_pattern" || d.Name == "verify_pattern" {
			for _, c := range value {
				if c == '\'' {
					t.Skip("it names a file")
				}
			}
		}
		var o Options
		_ = table.Set(&o, d, value, true, 1024)
	})
}
