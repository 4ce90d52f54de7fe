package layout

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// fdFlags reads the open flags of a descriptor from the kernel.
func fdFlags(t *testing.T, fd int) int {
	t.Helper()
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	must(t, err)
	for line := range strings.Lines(string(info)) {
		if text, ok := strings.CutPrefix(line, "flags:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 8, 64)
			must(t, err)
			return int(n)
		}
	}
	t.Fatal("no flags in fdinfo")
	return 0
}

// prepared lays out the files of a job and fails the test when that fails.
func prepared(t *testing.T, args string, env Env) *Set {
	t.Helper()
	j := oneJob(t, args)
	s, err := Prepare(j, drivers[j.IOEngine], env)
	must(t, err)
	return s
}

func TestOpenFlags(t *testing.T) {
	const mask = syscall.O_ACCMODE | sys.OpenSync | sys.OpenDSync | sys.OpenDirect | sys.OpenNoAtime
	for _, c := range []struct {
		args string
		want int
	}{
		{"rw=read", os.O_RDONLY},
		{"rw=write", os.O_RDWR},
		{"rw=randrw", os.O_RDWR},
		{"rw=write sync=1", os.O_RDWR | sys.OpenSync},
		{"rw=write sync=dsync", os.O_RDWR | sys.OpenDSync},
		{"rw=read sync=none", os.O_RDONLY},
		{"rw=read filename=/dev/zero", os.O_RDONLY | sys.OpenNoAtime},
	} {
		enter(t, nil)
		s := prepared(t, "size=64k "+c.args, Env{})
		must(t, s.Open(0))
		must(t, s.Open(0)) // no second descriptor
		if got := fdFlags(t, s.Files[0].Fd) & mask; got != c.want {
			t.Errorf("%s: flags %#o, want %#o", c.args, got, c.want)
		}
		if s.NOpen() != 1 || !s.IsOpen(0) {
			t.Errorf("%s: %d files open", c.args, s.NOpen())
		}
		must(t, s.Close(0))
		must(t, s.Close(0))
		if s.NOpen() != 0 || s.IsOpen(0) || s.Files[0].Fd != -1 {
			t.Errorf("%s: not closed", c.args)
		}
	}
}

func TestOpenDirect(t *testing.T) {
	enter(t, nil)
	s := prepared(t, "rw=read size=64k direct=1 pre_read=1", Env{})
	err := s.Open(0)
	if errors.Is(err, syscall.EINVAL) {
		t.Skip("the file system of the temporary directory has no direct I/O")
	}
	must(t, err)
	if fdFlags(t, s.Files[0].Fd)&sys.OpenDirect == 0 {
		t.Error("O_DIRECT is not set")
	}
	must(t, s.PreRead())
	must(t, s.Finish())
}

func TestOpenErrors(t *testing.T) {
	enter(t, nil)
	s := prepared(t, "rw=read size=64k", Env{})
	must(t, os.Remove("x.0.0"))
	err := s.Open(0)
	if err == nil || err.Error() != `open "x.0.0": no such file or directory` {
		t.Errorf("error %v", err)
	}
	var fe *FileError
	if errors.As(err, &fe); fe.Func() != "open(x.0.0)" {
		t.Errorf("func %q", fe.Func())
	}
	must(t, os.Mkdir("d", 0o755))
	s = prepared(t, "rw=write filename=d size=1k bs=1k", Env{})
	if err := s.Open(0); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("writing to a directory: %v", err)
	}
	if err := s.Finish(); err != nil {
		t.Error(err)
	}
}

// TestTooManyFiles runs out of descriptors.
func TestTooManyFiles(t *testing.T) {
	enter(t, nil)
	s := prepared(t, "rw=read size=800k nrfiles=200", Env{})
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 100, Max: old.Max}))
	var err error
	for i := 0; err == nil && i < len(s.Files); i++ {
		err = s.Open(i)
	}
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
	var fe *FileError
	if !errors.As(err, &fe) || !errors.Is(err, syscall.EMFILE) || !strings.Contains(fe.Hint, "openfiles") {
		t.Errorf("error %v", err)
	}
	must(t, s.CloseAll())
}

func TestUnlink(t *testing.T) {
	enter(t, map[string]int64{"other": 10})
	s := prepared(t, "rw=write size=64k nrfiles=2 unlink=1", Env{})
	must(t, s.Open(0))
	must(t, os.Remove("x.0.1")) // another clone was faster
	must(t, s.Finish())
	if diff := cmp.Diff(map[string]int64{"other": 10}, sizes(t)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}

	s = prepared(t, "rw=write size=64k loops=2", Env{})
	must(t, s.UnlinkEachLoop())
	if len(sizes(t)) != 2 {
		t.Error("removed without unlink_each_loop")
	}
	s = prepared(t, "rw=write size=64k loops=2 unlink_each_loop=1", Env{})
	must(t, s.UnlinkEachLoop())
	if len(sizes(t)) != 1 {
		t.Error("not removed with unlink_each_loop")
	}
	if err := s.UnlinkEachLoop(); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("removing what is gone: %v", err)
	}
	must(t, s.Open(0)) // a writer makes it again
	must(t, s.Finish())
}

func TestWriteHint(t *testing.T) {
	enter(t, nil)
	s := prepared(t, "rw=write size=64k write_hint=long fsync_on_close=1", Env{})
	if err := s.Open(0); errors.Is(err, syscall.EINVAL) {
		t.Skip("the file system takes no write hints")
	} else {
		must(t, err)
	}
	hint, err := sys.WriteHint(s.Files[0].Fd)
	must(t, err)
	if hint != 4 {
		t.Errorf("hint is %d, want 4 (long)", hint)
	}
	must(t, s.Finish())
}

func TestAdvice(t *testing.T) {
	for _, hint := range []string{"0", "1", "random", "sequential", "noreuse"} {
		enter(t, nil)
		var lines []string
		s := prepared(t, "rw=randread size=64k fadvise_hint="+hint, Env{})
		s.env.Print = func(l string) { lines = append(lines, l) }
		must(t, s.Open(0))
		s.Invalidate(0)
		if len(lines) != 0 {
			t.Errorf("fadvise_hint=%s: %q", hint, lines)
		}
		must(t, s.Finish())
	}
}

func TestPreReadShort(t *testing.T) {
	enter(t, map[string]int64{"f": 64 << 10})
	s := prepared(t, "rw=read filename=f pre_read=1", Env{})
	must(t, s.PreRead())
	must(t, os.Truncate("f", 100))
	if err := s.PreRead(); !errors.Is(err, syscall.EIO) {
		t.Errorf("pre_read of a file that shrank: %v", err)
	}
	must(t, os.Truncate("f", 64<<10))
	s.env.Stop = func() bool { return true }
	if err := s.PreRead(); !errors.Is(err, ErrStopped) {
		t.Errorf("pre_read while stopping: %v", err)
	}
	if s.Files[0].Fd != -1 {
		t.Error("pre_read left its file open")
	}
}

// ownFiles is an engine that opens files itself and knows their sizes.
type ownFiles struct {
	size  int64
	calls []string
	fail  error
}

func (o *ownFiles) OpenFile(f *engines.File, _ int) error {
	o.calls = append(o.calls, "open "+f.Name)
	return o.fail
}

func (o *ownFiles) CloseFile(f *engines.File) error {
	o.calls = append(o.calls, "close "+f.Name)
	return o.fail
}

func (o *ownFiles) FileSize(*engines.File) (int64, error) { return o.size, o.fail }

func TestEngineHooks(t *testing.T) {
	enter(t, nil)
	d := &engines.Driver{Traits: job.Traits{Diskless: true}}
	o := &ownFiles{size: 1 << 20}
	s, err := Prepare(oneJob(t, "rw=read filename=target"), d, Env{Sizer: o})
	must(t, err)
	if s.TotalSize != 1<<20 || s.Files[0].Size != 1<<20 {
		t.Errorf("TotalSize %d, Size %d", s.TotalSize, s.Files[0].Size)
	}
	s.Attach(struct{}{}) // no opener: nothing changes
	s.Attach(o)
	must(t, s.Open(0))
	must(t, s.Finish())
	if diff := cmp.Diff([]string{"open target", "close target"}, o.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	o.fail = syscall.ENXIO
	if err := s.Open(0); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("open: %v", err)
	}
	if _, err := Prepare(oneJob(t, "rw=read filename=target"), d, Env{Sizer: o}); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("size: %v", err)
	}
	o.fail, o.size = nil, -1
	s, err = Prepare(oneJob(t, "rw=read filename=target size=64k"), d, Env{Sizer: o})
	must(t, err)
	if s.Files[0].Size != 64<<10 {
		t.Errorf("size unknown: Size %d, want that of the size option", s.Files[0].Size)
	}
}

func TestPipes(t *testing.T) {
	enter(t, nil)
	must(t, syscall.Mkfifo("p", 0o600))
	d := &engines.Driver{Traits: job.Traits{Pipe: true}}
	s, err := Prepare(oneJob(t, "rw=randwrite filename=p size=64k"), d, Env{})
	must(t, err)
	if s.Files[0].Kind != engines.PipeFile || s.TotalSize != 64<<10 {
		t.Errorf("kind %d, TotalSize %d", s.Files[0].Kind, s.TotalSize)
	}
	if err := s.Open(0); err == nil || s.NOpen() != 0 {
		t.Errorf("random I/O to a pipe: %v", err)
	}
	for _, c := range []struct {
		args string
		ok   bool
	}{{"rw=read", true}, {"rw=write", true}, {"rw=rw", false}} {
		s, err := Prepare(oneJob(t, c.args+" filename=- size=64k"), d, Env{})
		must(t, err)
		if err := s.Open(0); (err == nil) != c.ok {
			t.Errorf("%s of -: %v", c.args, err)
		}
		must(t, s.Finish())
	}
	for _, f := range []string{"a", "-"} {
		if got := kindOf(oneJob(t, "filetype=char size=4k"), f); got != engines.Char {
			t.Errorf("filetype=char: %q is %d", f, got)
		}
	}
}
