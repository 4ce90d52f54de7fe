package job

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files is a file system of texts for Loader.Open.
type files map[string]string

func (f files) open(path string) (io.ReadCloser, error) {
	text, ok := f[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// describe writes what a job file says: a line a section, an option as name=value or name alone.
func describe(sections []*section) string {
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "[%s]", s.name)
		for _, o := range s.opts {
			fmt.Fprintf(&b, " %d:%s", o.line, o.name)
			if o.given {
				fmt.Fprintf(&b, "=%q", o.value)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestJobFileSyntax(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"comments", "; a\n  # b\n\t\n[a] ; c\nbs=4k # d\niodepth=2;e\n;[b]\n", "[a] 5:bs=\"4k\" 6:iodepth=\"2\"\n"},
		{"spaces", "[a]\n\t bs = 4k \t\nrw=  read\n", "[a] 2:bs=\" 4k\" 3:rw=\"  read\"\n"},
		{"crlf", "[a]\r\nbs=4k\r\n\r\nthread\r\n", "[a] 2:bs=\"4k\" 4:thread\n"},
		{"no newline at the end", "[a]\nbs=4k", "[a] 2:bs=\"4k\"\n"},
		{"bare keys, twice", "[a]\nstonewall\nstonewall\nthread=\n", "[a] 2:stonewall 3:stonewall 4:thread=\"\"\n"},
		{"order of repeated keys", "[a]\nbs=1\nrw=read\nbs=2\n", "[a] 2:bs=\"1\" 3:rw=\"read\" 4:bs=\"2\"\n"},
		{"same section twice", "[a]\nbs=1\n[a]\nbs=2\n[DEFAULT]\nbs=3\n", "[a] 2:bs=\"1\"\n[a] 4:bs=\"2\"\n[DEFAULT] 6:bs=\"3\"\n"},
		{"quotes", "[a]\nx=`a`b\ny=\"\"\"c\nz='d' \"e\"\n", "[a] 2:x=\"`a`b\" 3:y=\"\\\"\\\"\\\"c\" 4:z=\"'d' \\\"e\\\"\"\n"},
		{"specials", "[a]\nx=%(y)s\\\nz=a=b:c|\n\"q\"=1\n-=2\n", "[a] 2:x=\"%(y)s\\\\\" 3:z=\"a=b:c|\" 4:\"q\"=\"1\" 5:-=\"2\"\n"},
		{"section names", "[a]b]\nbs=1\n[ c ]\n", "[a]b] 2:bs=\"1\"\n[ c ]\n"},
		{"not UTF-8", "[\xff]\nx=\xfe\n", "[\xff] 2:x=\"\\xfe\"\n"},
		{"long comment", ";" + strings.Repeat("x", 1<<20) + "\n[a]\n", "[a]\n"},
		{"include", "[a]\nbs=1\ninclude inc\nbs=2\n", "[a] 2:bs=\"1\" 1:iodepth=\"4\" 1:thread 4:bs=\"2\"\n"},
		{"included option name", "[a]\nincluded=1\n", "[a] 2:included=\"1\"\n"},
	}
	fsys := files{"inc": "iodepth=4\ninclude inc2\n", "inc2": "thread\n"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys["main"] = tt.text
			sections, err := readJobFile(&fileReader{open: fsys.open}, "main")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, describe(sections)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJobFileErrors(t *testing.T) {
	fsys := files{"loop": "include loop\n", "a/inc": "include deep\n", "a/deep": "[x]\n", "ping": "include pong", "pong": "include ping"}
	tests := []struct{ name, text, want string }{
		{"before a section", "; x\nbs=4k\n[a]\n", "main:2: not a job file: option <bs=4k> outside of a [section]"},
		{"byte order mark", "\ufeff[a]\n", "main:1: not a job file: option <\ufeff[a]> outside of a [section]"},
		{"NUL", "[a]\nbs=4\x00k\n", "main:2: section [a]: not a job file: the line holds a NUL byte"},
		{"NUL in the first line", "\x00\x00\x00", "main:1: not a job file: the line holds a NUL byte"},
		{"open header", "[a\n", "main:1: not a job file: section header \"[a\" lacks its closing ]"},
		{"text behind header", "[a] x\n", "main:1: not a job file: section header \"[a] x\" lacks its closing ]"},
		{"empty name", "[]\n", "main:1: not a job file: a section name has 1 to 255 bytes"},
		{"long name", "[" + strings.Repeat("x", 256) + "]\n", "main:1: not a job file: a section name has 1 to 255 bytes"},
		{"long line", "[a]\nfilename=" + strings.Repeat("x", 1<<20), "main:2: section [a]: not a job file: the line is longer than 8191 bytes"},
		{"include nothing", "[a]\ninclude\n", "main:2: section [a]: not a job file: include names no file"},
		{"include missing", "[a]\ninclude gone\n", "main:2: section [a]: include gone: open gone: file does not exist"},
		{"include outside", "include inc\n", "main:1: not a job file: option <include inc> outside of a [section]"},
		{"include loop", "[a]\ninclude loop\n", "loop:1: section [a]: not a job file: include loop: main -> loop -> loop"},
		{"mutual includes", "[a]\ninclude ping\n", "pong:1: section [a]: not a job file: include loop: main -> ping -> pong -> ping"},
		{"section in an include", "[a]\ninclude a/inc\n", "a/deep:1: section [a]: not a job file: an included file holds options only, no section"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys["main"] = tt.text
			_, err := readJobFile(&fileReader{open: fsys.open}, "main")
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	if _, err := readJobFile(&fileReader{open: fsys.open}, "gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestSectionSelection(t *testing.T) {
	r := &fileReader{only: []string{"b", "d"}}
	sections, err := r.parse("main", []byte("[global]\nbs=1\n[a]\nnonsense here\n[b]\nbs=2\n[global]\nbs=3\n[c]\n[d]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "[global] 2:bs=\"1\"\n[b] 6:bs=\"2\"\n[global] 8:bs=\"3\"\n[d]\n"
	if diff := cmp.Diff(want, describe(sections)); diff != "" {
		t.Error(diff)
	}
}

func TestExpand(t *testing.T) {
	e := &expander{env: func(name string) (string, bool) {
		v, ok := map[string]string{"SIZE": "64m", "NAME": "bs", "EMPTY": ""}[name]
		return v, ok
	}, keywords: []keyword{{"$pagesize", "4096"}, {"$ncpus", "8"}, {"$mb_memory", "1000"}}}
	tests := []struct{ name, value, wantName, want string }{
		{"size", "${SIZE}", "size", "64m"},
		{"size", "a${SIZE}b${EMPTY}c${GONE}d", "size", "a64mbcd"},
		{"${NAME}", "4k", "bs", "4k"},
		{"size", "${SIZE", "size", "${SIZE"},
		{"size", "$SIZE", "size", "$SIZE"},
		{"bs", "$pagesize", "bs", "4096"},
		{"size", "8*$mb_memory", "size", "8000"},
		{"numjobs", "$ncpus/2+1", "numjobs", "5"},
		{"filename", "/dev/$ncpus", "filename", "/dev/8"},
		{"size", "2*$pagesizek", "size", "2*4096k"},
		{"filename", "a-b", "filename", "a-b"},
	}
	for _, tt := range tests {
		got := e.expand(rawOption{name: tt.name, value: tt.value})
		if got.name != tt.wantName || got.value != tt.want {
			t.Errorf("%s=%s: got %s=%s, want %s=%s", tt.name, tt.value, got.name, got.value, tt.wantName, tt.want)
		}
	}
}

func TestMachineFacts(t *testing.T) {
	if n := cpuCount(); n < 1 {
		t.Errorf("cpuCount() = %d", n)
	}
	if n := memoryBytes(); n == 0 {
		t.Skip("/proc/meminfo cannot be read")
	}
}
