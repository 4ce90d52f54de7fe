package run

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiord/engines"
	"fiord/job"
)

// cutEngine is an asynchronous engine on a medium that loses power: it does its I/Os in random order, and from one write on
// it does them in part or not at all, though it says that it had.
type cutEngine struct {
	t       *testing.T
	rnd     *rand.Rand
	depth   int
	pending []*engines.IO
	left    int    // writes until the power goes
	cut     func() // called once, just before
}

func (e *cutEngine) Submit(ios []*engines.IO) (int, error) {
	n := min(len(ios), e.depth-len(e.pending))
	e.pending = append(e.pending, ios[:n]...)
	return n, nil
}

func (e *cutEngine) Reap(done []*engines.IO, least int, _ time.Duration) (int, error) {
	n := 0
	for n < len(done) && len(e.pending) > 0 && (n < least || e.rnd.IntN(2) == 0) {
		i := e.rnd.IntN(len(e.pending))
		u := e.pending[i]
		e.pending[i] = e.pending[len(e.pending)-1]
		e.pending = e.pending[:len(e.pending)-1]
		e.do(u)
		done[n] = u
		n++
	}
	return n, nil
}

// punchHole is FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE, since Linux 2.6.38.
const punchHole = 3

func (e *cutEngine) Close() error { return nil }

func (e *cutEngine) do(u *engines.IO) {
	f, err := os.OpenFile(u.File.Name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		e.t.Error(err)
		return
	}
	defer f.Close()
	u.Done = len(u.Buf)
	switch u.Op {
	case engines.Read:
		if n, err := f.ReadAt(u.Buf, u.Offset); err != nil && err != io.EOF {
			e.t.Error(err)
		} else {
			u.Done = n
		}
	case engines.Trim:
		if err := syscall.Fallocate(int(f.Fd()), punchHole, u.Offset, int64(u.Len)); err != nil {
			e.t.Error(err)
		}
		u.Done = u.Len
	case engines.Write:
		if e.left--; e.left == 0 {
			e.cut()
		}
		data := u.Buf
		if e.left <= 0 {
			data = data[:len(data)*e.rnd.IntN(3)/2/512*512] // nothing, half of it, or all
		}
		if _, err := f.WriteAt(data, u.Offset); err != nil {
			e.t.Error(err)
		}
	}
}

// TestPowerCut cuts the power at a hundred points of jobs with many writes in flight. The state that the trigger saves must
// lead to no false failure, though writes in flight are torn or lost; data that is then damaged must be found.
func TestPowerCut(t *testing.T) {
	shapes := []string{
		"rw=write bs=4k", "rw=randwrite bs=4k", "rw=randwrite bs=4k norandommap=1 io_size=1m",
		"rw=randwrite bssplit=4k/50:8k/50 norandommap=1 io_size=1m", "rw=write bs=8k io_size=1m",
		"rw=randrw bs=4k verify_backlog=8", "rw=randwrite bs=4k random_distribution=zipf:1.1 io_size=1m",
		"rw=randwrite bs=4k nrfiles=2", "rw=write bs=4k verify_interval=1k", "rw=randwrite bs=4k verify_policy=fsynced fsync=5",
	}
	for i := range 100 {
		shape := shapes[i%len(shapes)]
		t.Run(fmt.Sprintf("%d %s", i, shape), func(t *testing.T) { powerCut(t, uint64(i), shape) })
	}
}

func powerCut(t *testing.T, seed uint64, shape string) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(seed, 1))
	g := &rig{}
	left := 1 + rnd.IntN(120)
	d := &engines.Driver{Name: "cut", Traits: job.Traits{}, Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
		return &cutEngine{t: t, rnd: rnd, depth: w.Depth, left: left, cut: func() { g.r.pull() }}, nil
	}}
	g.drivers = []*engines.Driver{d}
	g.cfg.AuxPath = dir
	text := fmt.Sprintf("[v]\ndirectory=%s\nsize=512k\nverify=crc32c\nverify_fatal=1\nioengine=cut\niodepth=16\n%s\n", dir,
		strings.ReplaceAll(shape, " ", "\n"))
	r := g.start(t, text+"do_verify=0\n")
	if res, err := r.run(); err != nil || res.Jobs[0].Error != 0 {
		t.Fatalf("the writer: %v, %q", err, g.said())
	}
	left = 0 // the power is back
	read := func() (int, uint64) {
		g.warned = nil
		res, err := g.start(t, text+"verify_only=1\nverify_state_load=1\n").run()
		if err != nil {
			t.Fatal(err)
		}
		return res.Jobs[0].Error, res.Jobs[0].Dirs[0].IOs
	}
	e, reads := read()
	if e != 0 {
		t.Fatalf("the reader: error %d: %s", e, g.said())
	}
	if reads == 0 {
		return
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "v.*"))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			data[i] ^= 1
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if e, _ := read(); e != int(errBad) {
		t.Errorf("damaged data: error %d", e)
	}
}
