package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fiord/engines"
	"fiord/job"
)

// gathering is an engine whose trims have several ranges and whose device compares: it keeps what it was given.
type gathering struct {
	ready    []*engines.IO
	given    map[uint32][]engines.Range
	trims    [][]engines.Range
	compared []byte // first bytes of the blocks to compare
	read     int    // plain reads
	bad      int    // the compare of this number fails; 0: none
}

func (g *gathering) Submit(ios []*engines.IO) (int, error) {
	for _, u := range ios {
		u.Done, u.Errno = u.Len, 0
		switch {
		case u.Op == engines.Trim:
			g.trims = append(g.trims, g.given[u.Index])
		case u.Op == engines.Read && u.Compare:
			if g.compared = append(g.compared, u.Buf[0]); len(g.compared) == g.bad {
				u.Done, u.Errno = 0, 0x285
			}
		case u.Op == engines.Read:
			g.read++
		case u.Op == engines.Write && u.Compare:
			u.Errno = 1
		}
		g.ready = append(g.ready, u)
	}
	return len(ios), nil
}

func (g *gathering) Reap(done []*engines.IO, _ int, _ time.Duration) (int, error) {
	n := copy(done, g.ready)
	g.ready = g.ready[:copy(g.ready, g.ready[n:])]
	return n, nil
}

func (g *gathering) Close() error { return nil }

func (g *gathering) SetRanges(u *engines.IO, ranges []engines.Range) {
	g.given[u.Index] = append([]engines.Range(nil), ranges...)
}

func (g *gathering) Compares() bool { return true }

func (g *gathering) driver() *engines.Driver {
	g.given = map[uint32][]engines.Range{}
	return &engines.Driver{Name: "gathering", Traits: job.Traits{Diskless: true, MultiRange: true},
		Open: func(*engines.Worker, any) (engines.Engine, error) { return g, nil }}
}

func TestTrimsOfSeveralRanges(t *testing.T) {
	log := filepath.Join(t.TempDir(), "iolog")
	e := &gathering{}
	j := newRig(e.driver()).one(t, "[a]\nioengine=gathering\nrw=trim\nbs=4k\nsize=80k\nnum_range=8\niodepth=2\nwrite_iolog="+log+"\n")
	if j.Error != 0 || j.Dirs[job.Trim].IOs != 3 || j.Dirs[job.Trim].Bytes != 80<<10 || len(e.trims) != 3 || len(e.trims[2]) != 4 {
		t.Fatalf("error %d, %d trims of %d bytes: %v", j.Error, j.Dirs[job.Trim].IOs, j.Dirs[job.Trim].Bytes, e.trims)
	}
	for n, ranges := range e.trims {
		for i, r := range ranges {
			if r.Len != 4096 || r.Offset != int64(8*n+i)*4096 {
				t.Errorf("range %d of trim %d: %+v", i, n, r)
			}
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), " trim "); n != 20 {
		t.Errorf("%d lines in the log, want one for each range:\n%s", n, text)
	}
}

func TestDeviceCompares(t *testing.T) {
	t.Chdir(t.TempDir()) // for the saved state
	const text = "[a]\nioengine=gathering\nrw=write\nbs=4k\nsize=32k\niodepth=4\nverify=pattern\nverify_pattern=0x5a\n"
	e := &gathering{}
	j := newRig(e.driver()).one(t, text)
	if j.Error != 0 || len(e.compared) != 8 || e.read != 0 || strings.Trim(string(e.compared), "\x5a") != "" {
		t.Errorf("error %d, %d compares of %x, %d reads", j.Error, len(e.compared), e.compared, e.read)
	}
	e = &gathering{bad: 3}
	if j := newRig(e.driver()).one(t, text); j.Error != 0x285 {
		t.Errorf("a block that differs: error %#x", j.Error)
	}
}
