package peak

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"fiord/clock"
	"fiord/engines/uring/ring"
	"fiord/internal/feature"
	"fiord/internal/sys"
)

// Streams are where a run tells what it does.
type Streams struct {
	Out, Err io.Writer
	// Signals is as in a command's environment: SIGINT and SIGTERM end the run in order, a second one at once.
	Signals func() (<-chan os.Signal, func())
}

// ErrAborted is the error of a run that a second signal has ended.
var ErrAborted = errors.New("ended at once by a second signal")

// Run measures until the time is over, a signal comes or a read fails. The error says what went wrong; what had been
// measured until then has been written.
func Run(c *Config, to Streams) error { return linux.run(c, ring.Linux, to) }

func (m *machine) run(c *Config, k *ring.Kernel, to Streams) error {
	if err := clock.Use(""); err != nil {
		return err
	}
	if c.TSCRate != 0 && clock.Source() == "clock_gettime" {
		return errors.New("-T: the clock counts no ticks here, but nanoseconds")
	}
	signals, off := to.Signals()
	defer off()
	files, err := m.open(c)
	if err != nil {
		return err
	}
	defer closeAll(files)
	if err := checkVectored(c, k); err != nil {
		return err
	}
	g, err := m.newGroup(c, k, files)
	if err != nil {
		return err
	}
	r := newReport(c, to.Out)
	for _, note := range c.notes {
		fmt.Fprintf(to.Err, "fiord: note: %s\n", note)
	}
	if err := g.prepare(r); err != nil {
		return errors.Join(err, g.close())
	}
	// The loop makes no garbage, and a collector cycle would disturb it. The lines of a long run make a little.
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(garbageLimit)
	err = g.measure(r, signals, m.second)
	if errors.Is(err, ErrAborted) {
		return err // a collection would wait for workers that are stuck in the kernel
	}
	debug.SetMemoryLimit(limit)
	debug.SetGCPercent(percent)
	return distinct(err, r.end(g), g.close())
}

// garbageLimit is when the collector runs after all, in bytes.
const garbageLimit = 256 << 20

// distinct joins errors without the joints that they have already, each text once: several threads mostly fail alike.
func distinct(errs ...error) error {
	var out []error
	var add func(error)
	add = func(err error) {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				add(e)
			}
			return
		}
		if err != nil && !slices.ContainsFunc(out, func(e error) bool { return e.Error() == err.Error() }) {
			out = append(out, err)
		}
	}
	for _, err := range errs {
		add(err)
	}
	return errors.Join(out...)
}

// checkVectored settles -V1 with registered buffers, which is an operation of its own. The default of -B gives way where
// the kernel has none.
func checkVectored(c *Config, k *ring.Kernel) error {
	if !c.Vectored || !c.FixedBufs || c.AIO || c.Sync {
		return nil
	}
	lacking := error(nil)
	if c.Passthrough {
		if !feature.AtLeast(6, 15) {
			lacking = &feature.Error{Name: "vectored commands with registered buffers", Since: "6.15"}
		}
	} else {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		r, err := ring.Open(k, ring.Config{Entries: 1, RegisterWait: ring.Never, RegisterRing: ring.Never})
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		ops, err := r.Probe()
		if err != nil {
			return err
		}
		if !ops[ring.IORING_OP_READV_FIXED] {
			lacking = &feature.Error{Name: "vectored reads into registered buffers", Since: "6.15"}
		}
	}
	if lacking != nil && c.given['B'] {
		return fmt.Errorf("-V1 with -B1: %w", lacking)
	}
	if lacking != nil {
		c.FixedBufs = false
		c.notes = append(c.notes, fmt.Sprintf("-B0 is used with -V1: %v", lacking))
	}
	return nil
}

// group is the workers of a run.
type group struct {
	cfg      *Config
	kernel   *ring.Kernel
	workers  []*worker
	start    chan bool
	ended    chan error
	running  int
	huge     *sys.Arena
	hugeSize int64 // of the file behind it, bytes
}

func (m *machine) newGroup(c *Config, k *ring.Kernel, files []*file) (*group, error) {
	g := &group{cfg: c, kernel: k, start: make(chan bool), ended: make(chan error, c.Threads)}
	for i, mine := range share(files, c.Threads) {
		g.workers = append(g.workers, newWorker(c, i, mine))
	}
	// A worker holds its processor, also while it waits; the clock and the signals need another. Setting it, if only to what it
	// is, keeps the runtime from changing it when the CPUs of the process get fewer.
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), c.Threads+2))
	if c.FixedBufs {
		raiseLockLimit()
	}
	return g, g.openHuge(m.hugePage)
}

// raiseLockLimit lets kernels before 5.12 pin more than the default. It may fail, and then registering tells.
func raiseLockLimit() {
	const infinity, memlock = ^uint64(0), 8
	_ = syscall.Setrlimit(memlock, &syscall.Rlimit{Cur: infinity, Max: infinity})
}

// hugePage refuses a file that lies elsewhere: the buffers would go to what it holds, and peak never writes.
func hugePage(path string) (int, error) {
	const magic = 0x958458f6 // HUGETLBFS_MAGIC of linux/magic.h
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if fs.Type != magic {
		return 0, fmt.Errorf("%s is not in a hugetlbfs: what it holds would be overwritten", path)
	}
	return int(fs.Bsize), nil
}

// openHuge maps the hugetlbfs file of -H. page tells the size of its pages.
func (g *group) openHuge(page func(path string) (int, error)) error {
	c := g.cfg
	if c.Hugetlb == "" {
		return nil
	}
	st, err := os.Stat(c.Hugetlb)
	if err != nil {
		return fmt.Errorf("-H: %w", err)
	}
	need := g.perWorker() * c.Threads
	if st.Size() < int64(need) {
		return fmt.Errorf("-H: %s has %d bytes; %d threads with %d buffers of %d bytes need %d", c.Hugetlb, st.Size(),
			c.Threads, c.slots(), c.BlockSize, need)
	}
	g.hugeSize = st.Size()
	size, err := page(c.Hugetlb)
	if err != nil {
		return fmt.Errorf("-H: %w", err)
	}
	g.huge, err = sys.NewArena("mmaphuge", need, 0, size, c.Hugetlb)
	if err != nil {
		return fmt.Errorf("-H: %w", err)
	}
	return nil
}

func (g *group) perWorker() int { return int(g.cfg.slots()) * g.cfg.BlockSize }

// prepare starts the threads one after the other, so that what is printed has an order, and leaves them waiting.
func (g *group) prepare(r *report) error {
	if g.huge != nil {
		r.huge(g.cfg.Hugetlb, g.hugeSize)
	}
	for i, w := range g.workers {
		var part []byte
		if g.huge != nil {
			n := g.perWorker()
			part = g.huge.Mem[i*n : (i+1)*n]
		}
		ready := make(chan error, 1)
		g.running++
		go func() { g.ended <- w.run(g.kernel, part, ready, g.start) }()
		if err := <-ready; err != nil {
			g.drop()
			return err
		}
		r.worker(w)
	}
	return nil
}

// drop ends threads that have not begun.
func (g *group) drop() {
	close(g.start) // they receive false
	for ; g.running > 0; g.running-- {
		<-g.ended
	}
}

// measure lets the threads run and looks at them once a second, or what counts for one.
func (g *group) measure(r *report, signals <-chan os.Signal, second time.Duration) error {
	tick := time.NewTicker(second)
	defer tick.Stop()
	for range g.workers {
		g.start <- true
	}
	r.begin(time.Now())
	for seconds := 1; ; seconds++ {
		select {
		case s := <-signals:
			if s == syscall.SIGUSR1 {
				seconds--
				continue
			}
			return g.stop(r, "signal", signals)
		case err := <-g.ended:
			g.running--
			r.fail(err)
			return errors.Join(err, g.stop(r, "error", signals))
		case <-tick.C:
			if seconds == g.cfg.Seconds {
				return g.stop(r, "timeout", signals)
			}
			if g.cfg.Latency {
				g.tell(toldTimes)
			}
			r.tick(time.Now(), g.total())
		}
	}
}

// stop ends the run and waits for the threads.
func (g *group) stop(r *report, why string, signals <-chan os.Signal) error {
	g.tell(toldStop)
	r.stop(why)
	var errs []error
	for g.running > 0 {
		select {
		case err := <-g.ended:
			g.running--
			errs = append(errs, err)
		case s := <-signals:
			if s != syscall.SIGUSR1 {
				return ErrAborted
			}
		}
	}
	r.elapsed = time.Since(r.began)
	return errors.Join(errs...)
}

func (g *group) tell(what uint32) {
	for _, w := range g.workers {
		w.told.Or(what)
	}
}

// sums are counters of all threads.
type sums struct{ submitted, done, calls, failed uint64 }

func (g *group) total() (s sums) {
	for _, w := range g.workers {
		s.submitted += w.public.submitted.Load()
		s.done += w.public.done.Load()
		s.calls += w.public.calls.Load()
		s.failed += w.public.failed.Load()
	}
	return s
}

func (g *group) close() error { return g.huge.Close() }
