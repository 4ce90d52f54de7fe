package run

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
	"fiord/verify"
)

// fio's flags of an I/O that it prints with a failure: in the current depth, trimmed, and from its list of writes.
const (
	flagCurrent = 1 << 3
	flagListed  = 1 << 7
)

// block is what u writes or must have read into buf; it holds until the next call.
func (c *checker) block(u *engines.IO, x *verifiedIO, buf []byte) *verify.Block {
	b := &c.at
	if len(buf) != len(b.Buf) || len(buf) > 0 && &buf[0] != &b.Buf[0] {
		b.Buf = buf // seldom at a depth of 1, and a store of a pointer costs more than the look
	}
	if c.file != u.File {
		c.file, b.File = u.File, u.File.Name
	}
	b.Offset, b.Seed, b.NumberIO, b.Time, b.Flags = x.offset, x.seed, x.number, u.Start, flagCurrent
	if x.listed {
		b.Flags |= flagListed
	}
	return b
}

// checker checks blocks on one goroutine.
type checker struct {
	v      *verifier
	scheme *verify.Scheme
	at     verify.Block  // the one in hand
	file   *engines.File // its file
	found  func(*verify.Failure)
	fake   bool // the engine moves no data, or there is nothing to check
	zeroes bool // what was trimmed must read back as zeroes
}

func newChecker(v *verifier, s *verify.Scheme) *checker {
	c := &checker{v: v, scheme: s, fake: v.w.drv.Traits.FakeIO || !s.Checks(), zeroes: v.w.job.TrimVerifyZero}
	c.found = c.show
	return c
}

// check holds what u has read against what was written, and notes when it is bad.
func (c *checker) check(u *engines.IO) {
	x := &c.v.ios[u.Index]
	x.bad = false
	if c.fake {
		return
	}
	b := c.block(u, x, c.v.w.loop.full(u)[:u.Len])
	switch {
	case !x.trimmed:
		x.bad = c.scheme.Check(b, c.found)
	case c.zeroes:
		if f := verify.CheckZero(b); f != nil {
			x.bad = true
			c.found(f)
		}
	}
}

// show prints a failure and, with verify_dump, stores what was read and what was expected.
func (c *checker) show(f *verify.Failure) {
	w := c.v.w
	for line := range strings.SplitSeq(f.Error(), "\n") {
		w.r.warn("%s", line)
	}
	if !w.job.VerifyDump || f.Kind == verify.TypeMismatch || f.Kind == verify.NotZero {
		return
	}
	got, want := c.scheme.Dump(&c.at, f)
	if f.Kind.IsHeader() {
		c.dump(got, f, "hdr_fail")
		return
	}
	c.dump(got, f, "received")
	c.dump(want, f, "expected")
}

// dump stores one side of a failure where --aux-path says, else in the current directory.
func (c *checker) dump(data []byte, f *verify.Failure, kind string) {
	w := c.v.w
	path := filepath.Join(w.r.cfg.AuxPath, fmt.Sprintf("%s.%d.%s", filepath.Base(f.File), f.Offset, kind))
	if err := os.WriteFile(path, data, 0o644); err != nil {
		w.r.warn("verify_dump: %v", err)
		return
	}
	w.r.warn("       %s data dumped as %s", kind, path)
}

// judge does what a check that failed means for the job. fn is what fio calls the function that finds it.
func (v *verifier) judge(x *verifiedIO) {
	if !x.bad {
		return
	}
	w := v.w
	if w.passOver(engines.Read, errBad) {
		w.st.TotalErr++
		if w.st.FirstError == 0 {
			w.st.FirstError = int(errBad)
		}
	} else {
		fn := "io_u_queued_complete"
		switch {
		case v.async != nil:
			fn = "async_verify"
		case w.doer != nil:
			fn = "io_u_sync_complete"
		}
		w.fail(errBad, fn)
	}
	if w.job.VerifyFatal {
		w.terminate()
	}
}

// asyncChecks are the threads of verify_async. They own an I/O from check until it is back.
type asyncChecks struct {
	v     *verifier
	queue chan *engines.IO
	back  chan *engines.IO
	held  int // I/Os that the threads have; the worker's own
	ended sync.WaitGroup
}

// newAsyncChecks starts the threads, on the CPUs of verify_async_cpus where it is given.
func newAsyncChecks(v *verifier) (*asyncChecks, error) {
	n := len(v.w.loop.ios)
	a := &asyncChecks{v: v, queue: make(chan *engines.IO, n), back: make(chan *engines.IO, n)}
	ready := make(chan error)
	for range v.w.job.VerifyAsync {
		a.ended.Add(1)
		go a.run(newChecker(v, v.scheme.Clone()), ready) // cloned here: the worker goes on using its own
	}
	var first error
	for range v.w.job.VerifyAsync {
		if err := <-ready; err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		a.end()
		return nil, fmt.Errorf("verify_async_cpus: %w", first)
	}
	return a, nil
}

// run is one of the threads; it ends with its goroutine, which leaves no mask behind.
func (a *asyncChecks) run(c *checker, ready chan<- error) {
	runtime.LockOSThread()
	defer a.ended.Done()
	var err error
	if cpus := a.v.w.job.VerifyAsyncCPUs; len(cpus) > 0 {
		err = sys.SetAffinity([]int(cpus))
	}
	ready <- err
	for u := range a.queue {
		c.check(u)
		a.back <- u
	}
}

// check hands u over.
func (a *asyncChecks) check(u *engines.IO) {
	a.held++
	a.queue <- u // it has room for every I/O
}

func (a *asyncChecks) end() {
	close(a.queue)
	a.ended.Wait()
}

// collect takes back I/Os whose checks are done; with wait it waits for one if any are held.
func (v *verifier) collect(wait bool) {
	a := v.async
	if a == nil {
		return
	}
	for a.held > 0 {
		var u *engines.IO
		if wait {
			u = <-a.back
			wait = false
		} else {
			select {
			case u = <-a.back:
			default:
				return
			}
		}
		a.held--
		v.judge(&v.ios[u.Index])
		v.giveBack(u)
	}
}

// collectAll waits for all checks.
func (v *verifier) collectAll() {
	for v != nil && v.async != nil && v.async.held > 0 {
		v.collect(true)
	}
}

// asyncThreads is how many threads check for the jobs, all together.
func asyncThreads(jobs []*job.Job) int {
	n := 0
	for _, j := range jobs {
		if verifies(j) {
			n += max(j.VerifyAsync, 0)
		}
	}
	return n
}
