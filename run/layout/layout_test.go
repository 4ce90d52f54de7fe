package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// drivers are the traits of the engines that the tests lay out files for.
var drivers = map[string]*engines.Driver{
	"psync": {Name: "psync", Traits: job.Traits{Sync: true}},
	"mmap":  {Name: "mmap", Traits: job.Traits{Sync: true, NoExtend: true}},
	"null":  {Name: "null", Traits: job.Traits{Diskless: true, FakeIO: true}},
}

// load makes jobs of options with blanks between them, as the command line would.
func load(t testing.TB, args string) []*job.Job {
	t.Helper()
	var l job.Loader
	for _, d := range drivers {
		l.Engines = append(l.Engines, d.Decl())
	}
	for _, a := range strings.Fields("name=x " + args) {
		name, value, given := strings.Cut(a, "=")
		must(t, l.SetOption(name, value, given))
	}
	jobs, _, _, err := l.Load()
	must(t, err)
	return jobs
}

func oneJob(t testing.TB, args string) *job.Job {
	t.Helper()
	return load(t, args)[0]
}

// enter makes a temporary directory with files of the given sizes (all "a") the current one. A name that ends in a slash
// is a directory.
func enter(t *testing.T, files map[string]int64) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, size := range files {
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(name, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, bytes.Repeat([]byte("a"), int(size)), 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sizes lists the regular files below the current directory.
func sizes(t *testing.T) map[string]int64 {
	t.Helper()
	got := map[string]int64{}
	must(t, filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		st, err := e.Info()
		if err == nil {
			got[path] = st.Size()
		}
		return err
	}))
	return got
}

// layoutCase is what fio 3.42 did with a job: the files that create_only leaves, and the bytes that a run of each clone
// moves.
type layoutCase struct {
	Name, Args string
	Pre, Files map[string]int64
	OK         bool
	IO         []uint64
}

func recorded(t *testing.T) []layoutCase {
	t.Helper()
	data, err := os.ReadFile("testdata/layout.json")
	must(t, err)
	var cases []layoutCase
	must(t, json.Unmarshal(data, &cases))
	return cases
}

// TestLayoutAsFio compares names, sizes and totals with those of fio.
func TestLayoutAsFio(t *testing.T) {
	for _, c := range recorded(t) {
		t.Run(c.Name, func(t *testing.T) {
			enter(t, c.Pre)
			var shared Registry
			for i, j := range load(t, c.Args) {
				s, err := Prepare(j, drivers[j.IOEngine], Env{Shared: &shared})
				if (err == nil) != c.OK {
					t.Fatalf("Prepare: %v, want success %v", err, c.OK)
				}
				if err != nil {
					continue
				}
				checkTotal(t, s, c.IO[i])
			}
			if diff := cmp.Diff(c.Files, sizes(t)); diff != "" {
				t.Errorf("files differ (-fio +fiord):\n%s", diff)
			}
		})
	}
}

// checkTotal holds the bytes that fio moved against IOSize: a rest shorter than a block stays behind in each file.
func checkTotal(t *testing.T, s *Set, moved uint64) {
	t.Helper()
	if len(s.Files) == 0 {
		if moved != 0 {
			t.Errorf("no files, but fio moves %d bytes", moved)
		}
		return
	}
	rest := s.min * uint64(len(s.Files))
	want := s.IOSize
	if p := percent(s.job.IOSize); p != 0 {
		want = s.TotalSize
	}
	if moved > want || want-moved >= rest {
		t.Errorf("IOSize %d, TotalSize %d; fio moves %d", s.IOSize, s.TotalSize, moved)
	}
}

// TestReadKeepsData checks that a read job makes a short file longer without touching what it held.
func TestReadKeepsData(t *testing.T) {
	for _, args := range []string{
		"rw=read filename=f size=128k",
		"rw=randrw filename=f size=128k",
		"rw=read filename=f size=128k allow_file_create=0",
		"rw=read filename=f size=128k fallocate=posix",
	} {
		enter(t, map[string]int64{"f": 70001})
		_, err := Prepare(oneJob(t, args), drivers["psync"], Env{})
		must(t, err)
		data, err := os.ReadFile("f")
		must(t, err)
		if len(data) != 128<<10 || !bytes.Equal(data[:70001], bytes.Repeat([]byte("a"), 70001)) {
			t.Errorf("%s: %d bytes, or what was there has changed", args, len(data))
		}
		if bytes.Equal(data[70001:], make([]byte, 128<<10-70001)) {
			t.Errorf("%s: the rest was not filled", args)
		}
	}
}

// TestStopped checks that an interrupt leaves nothing half laid out: a new file goes, an old one has its old size.
func TestStopped(t *testing.T) {
	for _, c := range []struct {
		args  string
		after int // fills before the stop
		want  map[string]int64
	}{
		{"rw=read size=4m nrfiles=1", 2, map[string]int64{"f": 70000}},
		{"rw=read size=8m nrfiles=2", 6, map[string]int64{"f": 70000, "x.0.0": 4 << 20}},
		{"rw=read filename=f size=4m", 2, map[string]int64{"f": 70000}},
		{"rw=read filename=f size=4m fallocate=none", 0, map[string]int64{"f": 70000}},
	} {
		enter(t, map[string]int64{"f": 70000})
		asked := 0
		_, err := Prepare(oneJob(t, c.args), drivers["psync"], Env{Stop: func() bool {
			asked++
			return asked > c.after
		}})
		if !errors.Is(err, ErrStopped) {
			t.Errorf("%s: error %v", c.args, err)
		}
		if diff := cmp.Diff(c.want, sizes(t)); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", c.args, diff)
		}
	}
}

func TestLayoutLines(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"rw=write size=1m", []string{"x: Laying out IO file (1 file / 1MiB)"}},
		{"rw=read size=5m nrfiles=4", []string{"x: Laying out IO files (4 files / total 5MiB)"}},
		{"rw=read filename=f", nil},
	} {
		enter(t, map[string]int64{"f": 8192})
		var got []string
		_, err := Prepare(oneJob(t, c.args), drivers["psync"], Env{Print: func(s string) { got = append(got, s) }})
		must(t, err)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: lines (-want +got):\n%s", c.args, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		args, text string
		errno      syscall.Errno // 0: none
		fn         string
	}{
		{"rw=read", "size: want one, as no file has a size yet", syscall.EINVAL, "total_file_size"},
		{"rw=read filename=f offset=1m", "offset: it lies behind the end of the file", 0, "offset"},
		{"rw=read filename=f bs=128k", "size: want at least one block", 0, "total_file_size"},
		{"rw=write filename=f/x size=64k", `mkdir "f": not a directory`, syscall.ENOTDIR, "mkdir"},
		{"rw=write filename=/proc/x size=64k", `create "/proc/x": no such file or directory`, syscall.ENOENT, "open"},
		{"rw=read filename=new size=64k allow_file_create=0", `create "new": no such file or directory`, syscall.ENOENT, "open"},
		{"rw=read opendir=none", `opendir "none": no such file or directory`, syscall.ENOENT, "opendir"},
		{"rw=read filename=- size=64k", `get_file_size "-": it has no size`, 0, "get_file_size"},
	} {
		enter(t, map[string]int64{"f": 70000})
		j := oneJob(t, c.args)
		_, err := Prepare(j, drivers["psync"], Env{})
		var fe *FileError
		if !errors.As(err, &fe) {
			t.Errorf("%s: %v is no FileError", c.args, err)
			continue
		}
		if err.Error() != c.text || fe.Func() != c.fn {
			t.Errorf("%s: %q, func %q; want %q, %q", c.args, err, fe.Func(), c.text, c.fn)
		}
		var errno syscall.Errno
		if errors.As(err, &errno); errno != c.errno {
			t.Errorf("%s: errno %d, want %d", c.args, errno, c.errno)
		}
		if diff := cmp.Diff(map[string]int64{"f": 70000}, sizes(t)); diff != "" {
			t.Errorf("%s: files changed:\n%s", c.args, diff)
		}
	}
}

func TestReadOnly(t *testing.T) {
	enter(t, map[string]int64{"f": 8192})
	s, err := Prepare(oneJob(t, "rw=read filename=d/new:f size=64k"), drivers["psync"], Env{ReadOnly: true})
	must(t, err)
	if err := s.Open(0); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("opening a missing file: %v", err)
	}
	must(t, s.Open(1))
	must(t, s.Finish())
	if diff := cmp.Diff(map[string]int64{"f": 8192}, sizes(t)); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
	if _, err := os.Stat("d"); err == nil {
		t.Error("a directory was made")
	}
}

// TestFileSizeLimit checks a write that fails in the middle; the limit is lifted again at the end.
func TestFileSizeLimit(t *testing.T) {
	enter(t, nil)
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: old.Max}))
	_, err := Prepare(oneJob(t, "rw=read size=4m"), drivers["psync"], Env{})
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("error %v, want file too large", err)
	}
	if got := sizes(t); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// TestSharedFile has two jobs lay out the same file at once: one of them does, the other finds it done.
func TestSharedFile(t *testing.T) {
	enter(t, nil)
	var shared Registry
	lines := make(chan string, 4)
	errs := make(chan error)
	for range 2 {
		j := oneJob(t, "rw=read filename=f size=8m create_serialize=0")
		go func() {
			_, err := Prepare(j, drivers["psync"], Env{Shared: &shared, Print: func(s string) { lines <- s }})
			errs <- err
		}()
	}
	for range 2 {
		must(t, <-errs)
	}
	if len(lines) != 1 {
		t.Errorf("%d jobs laid the file out", len(lines))
	}
}

func TestFormatName(t *testing.T) {
	for _, c := range []struct{ format, want string }{
		{"", "job.2.5"},
		{"$jobname.$jobnum.$filenum", "job.2.5"},
		{"$FileNum-$JOBNAME-$x$", "5-job-$x$"},
		{"$jobnumber", "2ber"},
		{"fixed", "fixed"},
		{"a$clientuid", "a"},
	} {
		if got := formatName(c.format, "job", 2, 5); got != c.want {
			t.Errorf("formatName(%q) = %q, want %q", c.format, got, c.want)
		}
	}
	if got := formatName("$jobname", "$jobname$jobnum", 2, 5); got != "$jobname$jobnum" {
		t.Errorf("a job's name was expanded again: %q", got)
	}
}
