package peak

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/feature"
)

// twoFiles makes f and g of 1 MiB in a new folder, and moves there.
func twoFiles(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"f", "g"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if t, ok := t.(interface{ Chdir(string) }); ok {
		t.Chdir(dir)
	}
}

// fast is the machine with seconds of another length.
func fast(second time.Duration) *machine {
	m := *linux
	m.second = second
	return &m
}

func noSignals() (<-chan os.Signal, func()) { return make(chan os.Signal), func() {} }

// measured runs a command line to its end.
func measured(t *testing.T, m *machine, line string) (stdout, stderr string, err error) {
	t.Helper()
	c, err := Parse(strings.Fields(line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var out, notes bytes.Buffer
	err = m.run(c, ring.Linux, Streams{Out: &out, Err: &notes, Signals: noSignals})
	skipLacking(t, err)
	return out.String(), notes.String(), err
}

// skipLacking skips a test that the kernel has no io_uring, or no operation, for.
func skipLacking(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Skip(err)
	}
	if errors.Is(err, syscall.EINVAL) && strings.Contains(err.Error(), "has no O_DIRECT") {
		t.Skip(err)
	}
	if e, ok := isRead(err); ok && e.nop && e.Result == -int32(syscall.EINVAL) {
		t.Skip(err)
	}
}

var measures = []struct {
	what *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`tid=\d+`), "tid=#"},
	{regexp.MustCompile(`node=-?\d+`), "node=#"},
	{regexp.MustCompile(`IOPS=[\d.]+[KM]?`), "IOPS=#"},
	{regexp.MustCompile(`BW=[\d.]+[MG]iB/s`), "BW=#iB/s"},
	{regexp.MustCompile(`call=-?\d+/-?\d+`), "call=#"},
	{regexp.MustCompile(`(?m)^\d+:`), "#:"},
	{regexp.MustCompile(`\[ *\d+\]`), "[#]"},
	{regexp.MustCompile(`[nu]sec`), "sec"},
}

func shapeOf(text string) string {
	for _, m := range measures {
		text = m.what.ReplaceAllString(text, m.to)
	}
	return text
}

// TestShape compares with what t/io_uring printed for the same flags.
func TestShape(t *testing.T) {
	text, err := os.ReadFile("testdata/shape.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, cases, _ := strings.Cut(string(text), "== ")
	for one := range strings.SplitSeq(cases, "== ") {
		args, recorded, _ := strings.Cut(one, "\n")
		t.Run(strings.ReplaceAll(args, " ", ""), func(t *testing.T) {
			twoFiles(t)
			var want []string
			for line := range strings.Lines(recorded) {
				switch line[0] {
				case '-':
					continue
				case '~':
					want = want[:len(want)-1]
					line = line[1:]
				}
				want = append(want, line)
			}
			second := 25 * time.Millisecond
			if strings.Contains(recorded, "unexpected") {
				second = time.Hour // it ends on its own, and on a busy machine not at once
			}
			out, _, err := measured(t, fast(second), args)
			for range 4 { // on a busy machine nothing may have been read in so short a time
				if !strings.Contains(out, "no latencies") {
					break
				}
				second *= 4
				out, _, err = measured(t, fast(second), args)
			}
			if failed := strings.Contains(out, "unexpected"); failed != (err != nil) {
				t.Errorf("error: %v", err)
			}
			if d := cmp.Diff(shapeOf(strings.Join(want, "")), shapeOf(out)); d != "" {
				t.Errorf("(-t/io_uring +fiord)\n%s", d)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	twoFiles(t)
	out, _, err := measured(t, fast(20*time.Millisecond), "-O0 -p0 -r3 -n2 -b2048 --output-format=json f g")
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil || dec.More() {
		t.Fatalf("%v in %s", err, out)
	}
	if doc.Ended != "timeout" || len(doc.Seconds) != 2 || len(doc.Threads) != 2 || doc.Failed != 0 || doc.RuntimeNs <= 0 {
		t.Errorf("%+v", doc)
	}
	want := flagValues{Engine: "io_uring", Depth: 128, Submit: 32, Complete: 32, BlockSize: 2048, Threads: 2, FixedBufs: true,
		RegisterFiles: true, Random: true}
	if d := cmp.Diff(want, doc.Options); d != "" {
		t.Errorf("options (-want +got)\n%s", d)
	}
	sum := uint64(0)
	for i, th := range doc.Threads {
		sum += th.IOs
		if th.Submitted < th.IOs || th.Submitted > th.IOs+128 || th.Files[0] != []string{"f", "g"}[i] {
			t.Errorf("thread %d: %+v", i, th)
		}
	}
	if sum != doc.IOs {
		t.Errorf("%d reads, %d in the threads", doc.IOs, sum)
	}
}

// TestSignal ends runs without a limit by a signal; a second one does not wait.
func TestSignal(t *testing.T) {
	twoFiles(t)
	c, err := Parse(strings.Fields("-O0 -p0 f"))
	if err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal, 2)
	signals <- syscall.SIGUSR1 // has no meaning here
	signals <- syscall.SIGINT
	var out bytes.Buffer
	err = fast(time.Hour).run(c, ring.Linux, Streams{Out: &out, Err: &out, Signals: func() (<-chan os.Signal, func()) {
		return signals, func() {}
	}})
	skipLacking(t, err)
	if err != nil || !strings.HasSuffix(out.String(), "Exiting on signal\nMaximum IOPS=0\n") {
		t.Errorf("error %v in\n%s", err, &out)
	}
}

// TestShortRead cuts the file off behind the back of the run: what cannot be read is an error.
func TestShortRead(t *testing.T) {
	for _, engine := range []string{"", "-a1", "-S1"} {
		twoFiles(t)
		c, err := Parse(strings.Fields(engine + " -O0 -p0 -r2 f"))
		if err != nil {
			t.Fatal(err)
		}
		m := fast(time.Hour)
		files, err := m.open(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate("f", 0); err != nil {
			t.Fatal(err)
		}
		g, err := linux.newGroup(c, ring.Linux, files)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		r := newReport(c, &out)
		err = g.prepare(r)
		skipLacking(t, err)
		if err != nil {
			t.Fatal(err)
		}
		err = g.measure(r, nil, time.Hour)
		closeAll(files)
		if e, ok := isRead(err); !ok || e.Result != 0 {
			t.Errorf("%q: error %v", engine, err)
		}
		if strings.Contains(out.String(), "Maximum") {
			t.Errorf("%q: a result in spite of the error:\n%s", engine, &out)
		}
	}
}

func TestReadErrors(t *testing.T) {
	read := func(result int32, set func(*ReadError)) *ReadError {
		e := &ReadError{Path: "/dev/x", Size: 4096, Result: result}
		if set != nil {
			set(e)
		}
		return e
	}
	for _, c := range []struct {
		e    *ReadError
		want string
	}{
		{read(512, nil), "/dev/x: short read: 512 of 4096 bytes"},
		{read(-22, func(e *ReadError) { e.direct = true }), "/dev/x: read of 4096 bytes: invalid argument: with O_DIRECT -b must be a multiple of the device's block"},
		{read(-95, func(e *ReadError) { e.polled = true }), "/dev/x: read of 4096 bytes: operation not supported: only direct I/O can be polled: give -O1, or -p0"},
		{read(-95, func(e *ReadError) { e.polled, e.direct = true, true }), "/dev/x: read of 4096 bytes: operation not supported: it cannot be polled: give -p0"},
		{read(-22, func(e *ReadError) { e.nop = true }), "/dev/x: no-op request: invalid argument: requests that name a file need Linux 6.13"},
		{read(-19, func(e *ReadError) { e.command = true }), "/dev/x: read of 4096 bytes: no such device"},
		{read(0x4080, func(e *ReadError) { e.command = true }), "/dev/x: read command of 4096 bytes: NVMe status: LBA out of range (sct=0x00; sc=0x80; do not retry)"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// drive is a machine on which /dev/null is a namespace.
func drive(n nvme.Namespace, most uint64, poll error) *machine {
	m := fast(20 * time.Millisecond)
	n.NSID = 1
	m.inspect = func(string) (uringcmd.Drive, error) { return uringcmd.Drive{Namespace: n, MaxTransfer: most}, nil }
	m.pollable = func(*uringcmd.Drive) error { return poll }
	return m
}

// ready is a worker of a command line, prepared on this thread.
func ready(t testing.TB, m *machine, line string) *worker {
	t.Helper()
	c, err := Parse(strings.Fields(line))
	if err != nil {
		t.Fatal(err)
	}
	files, err := m.open(c)
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // ends with the test's goroutine
	w := newWorker(c, 0, files)
	err = w.prepare(ring.Linux, nil)
	if t, ok := t.(*testing.T); ok {
		skipLacking(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(w.drain(), w.close()); err != nil {
			t.Error(err)
		}
		closeAll(files)
	})
	return w
}

// TestCommandsStayInside looks at the commands themselves: none reaches past the end of the namespace.
func TestCommandsStayInside(t *testing.T) {
	for _, c := range []struct {
		blocks     uint64
		data, meta uint32
		bs, order  string
	}{
		{1001, 512, 0, "4096", "-R1"}, {1001, 512, 0, "4096", "-R0"}, {1001, 512, 0, "512", "-R0"}, {64, 4096, 0, "4096", "-R1"},
		{9, 4096, 0, "32768", "-R1"}, {9, 4096, 0, "32768", "-R0"}, {100, 4096, 8, "8208", "-R1"},
	} {
		m := drive(nvme.Namespace{Blocks: c.blocks, DataSize: c.data, MetaSize: c.meta, Extended: c.meta > 0}, 0, nil)
		w := ready(t, m, "-u1 -O0 -p0 -B0 -d8 -s8 "+c.order+" -b"+c.bs+" /dev/null")
		each := uint64(w.cfg.BlockSize) / uint64(c.data+c.meta)
		seen := map[uint64]bool{}
		for range 2000 {
			w.fill(1)
			w.ring.Withdraw() // what was published stands before the next place now
			cmd := nvme.At(w.ring.SQE128(0).Command())
			w.free = w.free[:len(w.free)+1]
			start := uint64(cmd.CDW10) | uint64(cmd.CDW11)<<32
			if n := uint64(cmd.CDW12&0xffff) + 1; n != each || start+n > c.blocks || start%each != 0 {
				t.Fatalf("%+v: %d blocks from %d", c, n, start)
			}
			if cmd.DataLen != uint32(w.cfg.BlockSize) || cmd.NSID != 1 || cmd.Opcode != nvme.OpRead {
				t.Fatalf("%+v: command %+v", c, cmd)
			}
			seen[start] = true
		}
		if want := int(c.blocks / each); len(seen) != want {
			t.Errorf("%+v: %d places read of %d", c, len(seen), want)
		}
	}
}

func TestRefusedDrives(t *testing.T) {
	plain := nvme.Namespace{Blocks: 1000, DataSize: 4096}
	polls := errors.New("no poll queues")
	for _, c := range []struct {
		ns   nvme.Namespace
		most uint64
		line string
		want string
	}{
		{plain, 0, "-O0 -p0 -b512", "-b512: must be a multiple of the drive's 4096 bytes"},
		{plain, 65536, "-O0 -p0 -b131072", "-b131072: one command moves at most 65536 bytes"},
		{plain, 0, "-O0 -p1", "/dev/null: -p1: no poll queues"},
		{nvme.Namespace{Blocks: 1, DataSize: 4096}, 0, "-O0 -p0 -b8192", "1 blocks of 4096 bytes, less than one read of 8192"},
		{nvme.Namespace{Blocks: 1000, DataSize: 4096, MetaSize: 8}, 0, "-O0 -p0", "each block has 8 bytes of separate metadata"},
		{nvme.Namespace{Blocks: 1000, DataSize: 512}, 0, "-O0 -p0 -B0 -d1 -b67108864", "one command has at most 65536 blocks of 512 bytes"},
	} {
		cfg, err := Parse(strings.Fields("-u1 " + c.line + " /dev/null"))
		if err != nil {
			t.Fatal(err)
		}
		files, err := drive(c.ns, c.most, polls).open(cfg)
		closeAll(files)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.line, err, c.want)
		}
	}
}

// TestNull reads from /dev/null by commands, which end at once there.
func TestNull(t *testing.T) {
	m := drive(nvme.Namespace{Blocks: 1 << 20, DataSize: 512}, 0, nil)
	for _, line := range []string{"-u1 -O0 -p0 -r2 /dev/null", "-u1 -O0 -p0 -r2 -B0 -F0 /dev/null /dev/null", "-u1 -O0 -p0 -r2 -e1 -X0 -V1 -B0 /dev/null"} {
		out, _, err := measured(t, m, line)
		if err != nil || !strings.Contains(out, "Exiting on timeout") {
			t.Errorf("%s: error %v in\n%s", line, err, out)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	twoFiles(t)
	if err := os.WriteFile("small", make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"-O0 none", "none: no such file or directory"},
		{"-O0 small", "small: 100 bytes, less than one read of 4096"},
		{"-O0 .", ". is no file or block device"},
		{".", ". is no file or block device"},
		{"-O0 pipe", "pipe is no file or block device"},
		{"-O0 /dev/null", "/dev/null is a character device: only NVMe namespaces can be read, with -u1"},
		{"-u1 /dev/null", "a character device refuses O_DIRECT: give -O0"},
		{"-u1 -O0 f", "f is not a character device: commands need that of an NVMe namespace"},
		{"-u1 -O0 /dev/null", "/dev/null is not an NVMe namespace"},
		{"-O0 -p0 -H none f", "-H: stat none"},
		{"-O0 -p0 -H small f", "-H: small has 100 bytes; 1 threads with 128 buffers of 4096 bytes need 524288"},
		{"-O0 -p0 -H g f", "-H: g is not in a hugetlbfs: what it holds would be overwritten"},
	} {
		_, _, err := measured(t, fast(time.Millisecond), c.line)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.line, err, c.want)
		}
	}
}

// TestHugetlb takes an ordinary file for the hugetlbfs one: it is mapped in the same way.
func TestHugetlb(t *testing.T) {
	twoFiles(t)
	m := fast(10 * time.Millisecond)
	m.hugePage = func(string) (int, error) { return os.Getpagesize(), nil }
	out, _, err := measured(t, m, "-O0 -p0 -r1 -n2 -B0 -H g f")
	if err != nil || !strings.HasPrefix(out, "Using hugetlb file g, size 1048576\n") {
		t.Errorf("error %v in\n%s", err, out)
	}
}

// TestVectoredFixed is -V1 with the default of -B, which gives way on older kernels.
func TestVectoredFixed(t *testing.T) {
	twoFiles(t)
	out, notes, err := measured(t, fast(10*time.Millisecond), "-O0 -p0 -r2 -V1 f")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "fixedbufs=1") && !strings.Contains(notes, "-B0 is used with -V1") {
		t.Errorf("neither registered buffers nor a note:\n%s%s", out, notes)
	}
	if feature.AtLeast(6, 15) && !strings.Contains(out, "fixedbufs=1") {
		t.Errorf("registered buffers are off:\n%s", out)
	}
}

func TestDistinct(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	if err := distinct(nil, errors.Join(a, errors.Join(b, errors.New("a"))), nil); err == nil || err.Error() != "a\nb" {
		t.Errorf("got %v", err)
	}
	if err := distinct(nil, errors.Join(nil)); err != nil {
		t.Errorf("an error of none: %v", err)
	}
}

// TestShare deals files out as t/io_uring does.
func TestShare(t *testing.T) {
	files := []*file{{path: "a"}, {path: "b"}, {path: "c"}}
	for _, c := range []struct {
		files, threads int
		want           []string
	}{
		{1, 1, []string{"a"}}, {3, 1, []string{"abc"}}, {3, 2, []string{"ac", "b"}}, {2, 3, []string{"a", "a", "b"}},
		{3, 7, []string{"a", "a", "a", "b", "b", "c", "c"}},
	} {
		var got []string
		for _, list := range share(files[:c.files], c.threads) {
			names := ""
			for _, f := range list {
				names += f.path
			}
			got = append(got, names)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%d files, %d threads (-want +got)\n%s", c.files, c.threads, d)
		}
	}
}
