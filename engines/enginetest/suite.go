// Package enginetest checks that an engine keeps the contract of package engines, and has a scripted engine for the tests
// of those who drive one.
//
// It owns the conformance suite and Fake. It must not know any engine but through its Driver.
package enginetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
)

// BlockSize is the length of the suite's I/Os, in bytes.
const BlockSize = 4096

// Depth is the queue depth of the suite's workers, unless a test says otherwise.
const Depth = 8

type config struct {
	options any
	job     job.Job
	dir     string
	depth   int
	skip    map[string]string
	flags   int
}

// Option changes how Run tests an engine.
type Option func(*config)

// WithOptions gives the engine these decoded options in place of the zero value of its options struct.
func WithOptions(o any) Option { return func(c *config) { c.options = o } }

// WithJob lets set change the job that the engine sees.
func WithJob(set func(*job.Job)) Option { return func(c *config) { set(&c.job) } }

// WithDir puts the test files into dir in place of a temporary directory, for a file system of another kind.
func WithDir(dir string) Option { return func(c *config) { c.dir = dir } }

// WithDepth sets the queue depth.
func WithDepth(n int) Option { return func(c *config) { c.depth = n } }

// WithOpenFlags adds flags, such as O_DIRECT, to how the test files are opened.
func WithOpenFlags(flags int) Option { return func(c *config) { c.flags |= flags } }

// Without leaves out one part of the suite that does not apply to the engine, for the reason given. The parts are batch,
// full, idle, single, data, scatter, short, badfd, sync, trim, close and allocs.
func Without(part, reason string) Option { return func(c *config) { c.skip[part] = reason } }

// Run checks the engine of d against the contract, on files of its own. It skips where d.Probe says that this machine
// cannot run the engine.
func Run(t *testing.T, d *engines.Driver, opts ...Option) {
	t.Helper()
	if d.Probe != nil {
		if err := d.Probe(); errors.Is(err, engines.ErrUnsupported) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	c := config{depth: Depth, skip: map[string]string{}}
	c.job.RW = job.RWMode{Read: true, Write: true, Text: "rw"}
	if d.Options != nil {
		c.options = d.Options()
	}
	for _, o := range opts {
		o(&c)
	}
	c.job.IODepth = c.depth
	c.job.IOEngine = d.Name
	if d.Traits.Diskless || d.Traits.FakeIO || d.Traits.NoIO {
		for _, part := range []string{"data", "scatter", "short", "badfd", "trim"} {
			c.skip[part] = "the engine moves no data"
		}
	}
	for _, part := range []struct {
		name string
		test func(*testing.T, *Rig)
	}{
		{"batch", testBatch}, {"full", testFull}, {"idle", testIdle}, {"single", testSingle}, {"data", testData},
		{"scatter", testScatter}, {"short", testShort}, {"badfd", testBadFd}, {"sync", testSync}, {"trim", testTrim}, {"close", testClose},
		{"allocs", testAllocs},
	} {
		t.Run(part.name, func(t *testing.T) {
			if reason, ok := c.skip[part.name]; ok {
				t.Skip(reason)
			}
			part.test(t, newRig(t, d, &c))
		})
	}
}

// Rig is one open engine with its I/Os and its file, for tests and benchmarks of engines.
type Rig struct {
	Engine engines.Engine
	Worker *engines.Worker
	File   *engines.File // a block of zeros for each I/O, 64 at least
	Path   string
	done   []*engines.IO
	size   int64 // of the file
}

// minBlocks is the least size of a test file in blocks.
const minBlocks = 64

// NewRig opens the engine of d on a fresh file, at the given depth. It is closed when the test ends.
func NewRig(t testing.TB, d *engines.Driver, depth int, opts ...Option) *Rig {
	t.Helper()
	c := config{depth: depth, skip: map[string]string{}}
	c.job.RW = job.RWMode{Read: true, Write: true, Text: "rw"}
	if d.Options != nil {
		c.options = d.Options()
	}
	for _, o := range opts {
		o(&c)
	}
	c.job.IODepth = c.depth
	return newRig(t, d, &c)
}

func newRig(t testing.TB, d *engines.Driver, c *config) *Rig {
	t.Helper()
	// An engine belongs to one thread, as in a run. The thread ends with the test's goroutine.
	runtime.LockOSThread()
	dir := c.dir
	if dir == "" {
		dir = t.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("enginetest.%d", os.Getpid()))
	size := int64(max(minBlocks, c.depth) * BlockSize)
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	arena, err := sys.NewArena("malloc", c.depth*BlockSize, BlockSize, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	j := c.job
	w := &engines.Worker{Job: &j, Depth: c.depth, MaxBatch: c.depth, Arena: arena.Mem,
		Notice: func(format string, args ...any) { t.Logf("notice: "+format, args...) }}
	f := &engines.File{Name: path, Fd: -1, Kind: engines.Regular, Size: size, Length: size}
	w.Files = []*engines.File{f}
	for i := range c.depth {
		w.IOs = append(w.IOs, &engines.IO{Index: uint32(i), File: f,
			Buf: arena.Mem[i*BlockSize : (i+1)*BlockSize : (i+1)*BlockSize], Len: BlockSize})
	}
	flags := syscall.O_RDWR | syscall.O_CLOEXEC | c.flags
	// The file is open before the engine is, as in a run, so that an engine can register it.
	if f.Fd, err = syscall.Open(path, flags, 0); err != nil {
		t.Fatal(err)
	}
	e, err := d.Open(w, c.options)
	if errors.Is(err, engines.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &Rig{Engine: e, Worker: w, File: f, Path: path, done: make([]*engines.IO, c.depth), size: size}
	r.openOwn(t, flags)
	t.Cleanup(func() {
		r.Close(t)
		if err := arena.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// openOwn lets an engine that opens its files itself do so.
func (r *Rig) openOwn(t testing.TB, flags int) {
	t.Helper()
	o, ok := r.Engine.(engines.FileOpener)
	if !ok {
		o, ok = engines.Inner(r.Engine).(engines.FileOpener)
	}
	if !ok {
		return
	}
	_ = syscall.Close(r.File.Fd)
	r.File.Fd = -1
	if err := o.OpenFile(r.File, flags); err != nil {
		t.Fatal(err)
	}
}

// Close closes the engine and the file, once.
func (r *Rig) Close(t testing.TB) {
	t.Helper()
	if r.Engine == nil {
		return
	}
	if err := r.Engine.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	r.Engine = nil
	if r.File.Fd >= 0 {
		_ = syscall.Close(r.File.Fd)
		r.File.Fd = -1
	}
}

// Do runs ios to their end, submitting again what the engine was too full for, and fails the test when one is lost,
// handed back twice or unknown.
func (r *Rig) Do(t testing.TB, ios []*engines.IO) {
	t.Helper()
	seen := make(map[*engines.IO]bool, len(ios))
	left, flight := ios, 0
	for len(left) > 0 || flight > 0 {
		n, err := r.Engine.Submit(left)
		if err != nil {
			t.Fatalf("Submit: %v", err)
		}
		if n < 0 || n > len(left) {
			t.Fatalf("Submit took %d of %d", n, len(left))
		}
		left, flight = left[n:], flight+n
		if flight == 0 {
			t.Fatal("Submit took nothing although nothing is in flight")
		}
		n, err = r.Engine.Reap(r.done, 1, -1)
		if err != nil {
			t.Fatalf("Reap: %v", err)
		}
		if n < 1 || n > flight {
			t.Fatalf("Reap of at least 1 of %d in flight returned %d", flight, n)
		}
		for _, u := range r.done[:n] {
			if u == nil || seen[u] {
				t.Fatalf("Reap returned an I/O twice or nil: %v", u)
			}
			seen[u] = true
		}
		flight -= n
	}
	for _, u := range ios {
		if !seen[u] {
			t.Fatalf("I/O %d was never handed back", u.Index)
		}
	}
}

// DoOne runs one I/O of the given operation, offset and length, and returns it.
func (r *Rig) DoOne(t testing.TB, op engines.Op, offset int64, length int) *engines.IO {
	t.Helper()
	u := r.Worker.IOs[0]
	u.Op, u.Offset, u.Len = op, offset, length
	u.Buf = u.Buf[:length]
	r.Do(t, r.Worker.IOs[:1])
	u.Buf = u.Buf[:BlockSize]
	return u
}

// Cycle submits all I/Os of the worker and reaps them all, without checks, for benchmarks and allocation counts.
func (r *Rig) Cycle() error {
	left, flight := r.Worker.IOs, 0
	for len(left) > 0 || flight > 0 {
		n, err := r.Engine.Submit(left)
		if err != nil {
			return err
		}
		left, flight = left[n:], flight+n
		n, err = r.Engine.Reap(r.done, 1, -1)
		if err != nil {
			return err
		}
		flight -= n
	}
	return nil
}

// Bench measures cycles of reads at the given depth and reports the time of one I/O.
func Bench(b *testing.B, d *engines.Driver, depth int, opts ...Option) {
	b.Helper()
	r := NewRig(b, d, depth, opts...)
	for i, u := range r.Worker.IOs {
		u.Op, u.Offset = engines.Read, int64(i)*BlockSize
	}
	b.ReportAllocs()
	start := time.Now()
	for b.Loop() {
		if err := r.Cycle(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(b.N*depth), "ns/IO")
}
