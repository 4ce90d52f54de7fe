package psync

import (
	"io"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/job"
)

func driver(t testing.TB, name string) *engines.Driver {
	t.Helper()
	for _, d := range Drivers() {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no engine %s", name)
	return nil
}

func TestConformance(t *testing.T) {
	for _, d := range Drivers() {
		t.Run(d.Name, func(t *testing.T) { enginetest.Run(t, d) })
	}
}

func TestConformanceDepth1(t *testing.T) {
	for _, name := range []string{"sync", "vsync"} {
		t.Run(name, func(t *testing.T) { enginetest.Run(t, driver(t, name), enginetest.WithDepth(1)) })
	}
}

// TestSeekAfterReopen makes sure that a cached position does not survive a new descriptor.
func TestSeekAfterReopen(t *testing.T) {
	r := enginetest.NewRig(t, driver(t, "sync"), 1)
	for i := range int64(3) {
		u := r.Worker.IOs[0]
		u.Buf[0] = byte('a' + i)
		if u = r.DoOne(t, engines.Write, i*enginetest.BlockSize, enginetest.BlockSize); u.Errno != 0 {
			t.Fatal(u.Errno)
		}
		// As the layout does: close, open again, and forget what the engine knew of the descriptor.
		if err := syscall.Close(r.File.Fd); err != nil {
			t.Fatal(err)
		}
		fd, err := syscall.Open(r.Path, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.File.Fd, r.File.Engine = fd, nil
	}
	for i := range int64(3) {
		u := r.DoOne(t, engines.Read, i*enginetest.BlockSize, enginetest.BlockSize)
		if u.Errno != 0 || u.Buf[0] != byte('a'+i) {
			t.Errorf("block %d: errno %v, first byte %q", i, u.Errno, u.Buf[0])
		}
	}
}

// TestSeeks checks that engines say so when they go by the position of a file: threads with io_submit_mode=offload must
// not share a descriptor then.
func TestSeeks(t *testing.T) {
	for _, d := range Drivers() {
		r := enginetest.NewRig(t, d, 1)
		for _, op := range []engines.Op{engines.Read, engines.Write} {
			if _, err := syscall.Seek(r.File.Fd, 0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			r.DoOne(t, op, 3*enginetest.BlockSize, enginetest.BlockSize)
			at, err := syscall.Seek(r.File.Fd, 0, io.SeekCurrent)
			if err != nil {
				t.Fatal(err)
			}
			if moved := at != 0; moved != d.Traits.Seeks {
				t.Errorf("%s: a %s leaves the file at %d, but Traits.Seeks is %v", d.Name, op, at, d.Traits.Seeks)
			}
		}
	}
}

// TestVsyncMerges counts the vectors that one batch needs.
func TestVsyncMerges(t *testing.T) {
	r := enginetest.NewRig(t, driver(t, "vsync"), 8)
	calls := func() uint64 { n, _ := r.Engine.(engines.Calls).Calls(); return n }
	for _, c := range []struct {
		name    string
		offsets [8]int64
		writes  int // the first so many are writes
		want    uint64
	}{
		{"contiguous", [8]int64{0, 1, 2, 3, 4, 5, 6, 7}, 0, 1},
		{"apart", [8]int64{0, 2, 4, 6, 8, 10, 12, 14}, 0, 8},
		{"directions", [8]int64{0, 1, 2, 3, 4, 5, 6, 7}, 4, 2},
		{"backwards", [8]int64{7, 6, 5, 4, 3, 2, 1, 0}, 8, 8},
		{"two runs", [8]int64{0, 1, 2, 3, 10, 11, 12, 13}, 8, 2},
	} {
		before := calls()
		for i, u := range r.Worker.IOs {
			u.Op, u.Offset = engines.Read, c.offsets[i]*enginetest.BlockSize
			if i < c.writes {
				u.Op = engines.Write
			}
		}
		r.Do(t, r.Worker.IOs)
		if got := calls() - before; got != c.want {
			t.Errorf("%s: %d vectors, want %d", c.name, got, c.want)
		}
	}
}

// TestVsyncShort reads one vector across the end of the file: the bytes belong to the first I/Os.
func TestVsyncShort(t *testing.T) {
	r := enginetest.NewRig(t, driver(t, "vsync"), 4)
	if err := syscall.Truncate(r.Path, 2*enginetest.BlockSize+100); err != nil {
		t.Fatal(err)
	}
	for i, u := range r.Worker.IOs {
		u.Op, u.Offset = engines.Read, int64(i)*enginetest.BlockSize
	}
	r.Do(t, r.Worker.IOs)
	for i, want := range []int{enginetest.BlockSize, enginetest.BlockSize, 100, 0} {
		if u := r.Worker.IOs[i]; u.Done != want || u.Errno != 0 {
			t.Errorf("I/O %d: done %d, errno %v; want %d, none", i, u.Done, u.Errno, want)
		}
	}
}

func TestPvsync2Flags(t *testing.T) {
	w := &engines.Worker{Job: &job.Job{}}
	for _, c := range []struct {
		name           string
		direct, atomic bool
		o              Options
		flags, write   uintptr
	}{
		{"none", false, false, Options{}, 0, 0},
		{"uncached", false, false, Options{Uncached: 1}, 0x80, 0},
		{"uncached direct", true, false, Options{Uncached: 1}, 0, 0},
		{"nowait", false, false, Options{Nowait: true}, 0x8, 0},
		{"atomic", true, true, Options{}, 0, 0x40},
	} {
		w.Job.Direct, w.Job.Atomic = c.direct, c.atomic
		if v := newVector2(w, c.o); v.flags != c.flags || v.write != c.write {
			t.Errorf("%s: flags %#x and %#x, want %#x and %#x", c.name, v.flags, v.write, c.flags, c.write)
		}
	}
}

func TestPvsync2Hipri(t *testing.T) {
	w := &engines.Worker{Job: &job.Job{}}
	for _, percent := range []int{0, 30, 100} {
		v := newVector2(w, Options{Hipri: true, HipriPercentage: percent})
		const draws = 10000
		n := 0
		for range draws {
			if v.draw() < v.hipriBelow {
				n++
			}
		}
		if got := float64(n) * 100 / draws; got < float64(percent)-2 || got > float64(percent)+2 {
			t.Errorf("hipri_percentage=%d: %.1f %% drawn", percent, got)
		}
	}
	o := Options{Hipri: true, HipriPercentage: 100}
	r := enginetest.NewRig(t, driver(t, "pvsync2"), 1, enginetest.WithOptions(&o))
	// A regular file ignores the flag, or refuses it where its file system cannot poll.
	if u := r.DoOne(t, engines.Read, 0, enginetest.BlockSize); u.Errno != 0 && u.Errno != syscall.EOPNOTSUPP {
		t.Errorf("read with hipri: %v", u.Errno)
	}
}

func BenchmarkPsync(b *testing.B)   { enginetest.Bench(b, driver(b, "psync"), 1) }
func BenchmarkSync(b *testing.B)    { enginetest.Bench(b, driver(b, "sync"), 1) }
func BenchmarkVsync(b *testing.B)   { enginetest.Bench(b, driver(b, "vsync"), 16) }
func BenchmarkPvsync(b *testing.B)  { enginetest.Bench(b, driver(b, "pvsync"), 1) }
func BenchmarkPvsync2(b *testing.B) { enginetest.Bench(b, driver(b, "pvsync2"), 1) }
