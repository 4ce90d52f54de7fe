package workload

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/job"
)

func newTest(t testing.TB, options string) *Generator {
	t.Helper()
	g, err := New(lay(testJob(t, options)))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// take is the next n I/Os, fewer when the pass ends.
func take(t testing.TB, g *Generator, n int) []Req {
	t.Helper()
	var list []Req
	for len(list) < n {
		var r Req
		if v := g.Next(&r); v != Issue {
			break
		}
		list = append(list, r)
	}
	return list
}

func TestNewRefuses(t *testing.T) {
	j := testJob(t, "rw=randread size=1m")
	one := []File{{Length: 1 << 20, Size: 1 << 20}}
	zero := *j
	zero.MinBS[job.Write] = 0
	register := testJob(t, "rw=randread size=16k random_generator=lfsr")
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no file", Config{Job: j}, "no file"},
		{"block size 0", Config{Job: &zero, Files: one}, "block sizes of writes"},
		{"map too large", Config{Job: j, Files: []File{{Length: 1 << 62, Size: 1 << 62}}}, "16 GiB"},
		{"register's dead state", Config{Job: register, Files: []File{{Length: 16 << 10, Size: 16 << 10}}}, "lfsr"},
	} {
		if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestSoftRandomMap(t *testing.T) {
	j := testJob(t, "rw=randread filesize=1m softrandommap=1")
	g, err := New(Config{Job: j, Files: []File{{Length: 1 << 62, Size: 1 << 62}}, TotalSize: 1 << 62})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(take(t, g, 10)); n != 10 {
		t.Errorf("%d I/Os without the map that does not fit, want 10", n)
	}
}

// failing is an Events whose files do not open or close.
type failing struct{ open, close error }

func (f failing) OpenFile(int) error  { return f.open }
func (f failing) CloseFile(int) error { return f.close }

func TestEventErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, e := range []failing{{open: broken}, {close: broken}} {
		for _, service := range []string{"roundrobin", "random"} {
			cfg := lay(testJob(t, "rw=read size=64k nrfiles=2 file_service_type="+service))
			cfg.Events = e
			g, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(take(t, g, 100)); n == 100 || e.open != nil && n > 0 {
				t.Errorf("%+v: %d I/Os", e, n)
			}
			g.Close()
			if !errors.Is(g.Err(), broken) {
				t.Errorf("%+v: Err = %v", e, g.Err())
			}
		}
	}
}

// TestWaits plays a job that may have two of its four files open, with all its I/Os in flight for as long as possible: as
// in fio each turn of a file that may not open yet costs a completion.
func TestWaits(t *testing.T) {
	g := newTest(t, "rw=read bs=4k size=32k nrfiles=4 openfiles=2 iodepth=64")
	if !g.NeedsCompletions() {
		t.Fatal("the job needs no completions")
	}
	var held []int
	var order []int
	waits := 0
	for {
		var r Req
		v := g.Next(&r)
		if v == End {
			break
		}
		if v == Issue {
			held, order = append(held, r.File), append(order, r.File)
			continue
		}
		if len(held) == 0 {
			t.Fatal("Wait with nothing in flight")
		}
		waits++
		g.Completed(held[0])
		held = held[1:]
	}
	if diff := cmp.Diff([]int{0, 1, 0, 1, 2, 3, 2, 3}, order); diff != "" || waits == 0 {
		t.Errorf("%d waits; files in turn (-want +got):\n%s", waits, diff)
	}
	if plain := newTest(t, "rw=read size=32k iodepth=64"); plain.NeedsCompletions() {
		t.Error("a job of one file needs completions")
	}
}

func TestNumberIOsCountsThoseDone(t *testing.T) {
	g := newTest(t, "rw=randread size=1m number_ios=10")
	take(t, g, 4)
	g.Failed()
	if n := len(take(t, g, 100)); n != 7 {
		t.Errorf("%d more I/Os after one of four failed, want 7", n)
	}
}

func TestRampOver(t *testing.T) {
	g := newTest(t, "rw=write size=1m number_ios=10 fsync=4")
	take(t, g, 7)
	g.RampOver(2)
	rest := take(t, g, 100)
	var got strings.Builder
	for _, r := range rest {
		got.WriteByte("rwts"[r.Op])
	}
	if got.String() != "wwwwswwww" {
		t.Errorf("after the ramp, two in flight: %s, want wwwwswwww", &got)
	}
}

func TestTotals(t *testing.T) {
	g := newTest(t, "rw=randrw bs=4k,8k size=256k loops=2")
	if g.Remaining() != 512<<10 {
		t.Errorf("Remaining = %d", g.Remaining())
	}
	var want [job.NDirs]uint64
	for range 2 {
		for _, r := range take(t, g, 1000) {
			want[r.Op] += uint64(r.Len)
		}
		g.NextPass()
	}
	_, bytes := g.Issued()
	if bytes != want {
		t.Errorf("Issued says %v bytes, issued %v", bytes, want)
	}
	if left := 512<<10 - want[0] - want[1]; g.Remaining() != left {
		t.Errorf("Remaining = %d, want %d", g.Remaining(), left)
	}
	if g := newTest(t, "rw=read size=64k time_based=1 runtime=1"); g.Remaining() != 0 {
		t.Errorf("a job by time: Remaining = %d", g.Remaining())
	}
}

func TestMore(t *testing.T) {
	for _, c := range []struct {
		options string
		moved   uint64
		want    bool
	}{
		{"rw=read bs=4k size=64k", 64 << 10, false},
		{"rw=read bs=4k size=64k io_size=128k", 64 << 10, true},
		{"rw=read bs=4k size=64k io_size=128k", 126 << 10, false}, // less than a block
		{"rw=read bs=4k size=64k number_ios=16", 64 << 10, false},
	} {
		g := newTest(t, c.options)
		take(t, g, 1000)
		if got := g.More(c.moved); got != c.want {
			t.Errorf("%s: More(%d) = %v, want %v", c.options, c.moved, got, c.want)
		}
	}
}

func TestPaceDecides(t *testing.T) {
	cfg := lay(testJob(t, "rw=rw size=64k"))
	asked := 0
	cfg.Pace = func(job.Dir) job.Dir {
		if asked++; asked > 5 {
			return Stop
		}
		return job.Write
	}
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	list := take(t, g, 100)
	if len(list) != 5 {
		t.Fatalf("%d I/Os until Pace stopped, want 5", len(list))
	}
	for _, r := range list {
		if r.Op != engines.Write {
			t.Errorf("%v, want writes only", r.Op)
		}
	}
}

// rewinds counts how often files start over inside a pass.
type rewinds struct {
	failing
	n int
}

func (r *rewinds) RewindFile(int) { r.n++ }

func TestRewind(t *testing.T) {
	for _, rw := range []string{"read", "randread"} {
		cfg := lay(testJob(t, "size=16k bs=4k time_based=1 runtime=1 rw="+rw))
		ev := &rewinds{}
		cfg.Events = ev
		g, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(take(t, g, 17)); n != 17 || ev.n != 4 {
			t.Errorf("%s: %d I/Os, %d rewinds, want 17 and 4", rw, n, ev.n)
		}
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{"rw=randread size=64k random_distribution=zoned_abs:100/1m", "beyond the end"},
		{"rw=randread size=64k nrfiles=16 bs=8k file_service_type=zipf:1.2", "room"},
	} {
		g := newTest(t, c.options)
		take(t, g, 1000)
		if notes := g.Notes(); len(notes) != 1 || !strings.Contains(notes[0], c.want) {
			t.Errorf("%s: notes %q, want one with %q", c.options, notes, c.want)
		}
	}
}

// TestSequenceBeyondEnd: a list with a block that the file does not have ends the job with an error, as with fio.
func TestSequenceBeyondEnd(t *testing.T) {
	g := newTest(t, "rw=randread size=64k random_distribution=sequence:1,99")
	if n := len(take(t, g, 10)); n != 1 {
		t.Errorf("%d I/Os, want 1", n)
	}
	if err := g.Err(); err == nil || !strings.Contains(err.Error(), "got 99") {
		t.Errorf("error %v, want one that names the block", err)
	}
}

// TestDrainedCloses: a file given up with I/Os in flight closes when the pass has drained.
func TestDrainedCloses(t *testing.T) {
	cfg := lay(testJob(t, "rw=read bs=4k size=16k iodepth=8 io_size=32k"))
	p := &player{cfg: cfg, open: make([]bool, 1)}
	cfg.Events = p
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	take(t, g, 100)
	if !p.open[0] {
		t.Fatal("the file closed under I/Os in flight")
	}
	g.Close()
	if p.open[0] {
		t.Error("the file is open after Close")
	}
	g.NextPass()
	if n := len(take(t, g, 100)); n != 4 {
		t.Errorf("%d I/Os in the second pass, want 4", n)
	}
}

func TestStartOffset(t *testing.T) {
	file := File{Offset: 512, Length: 1 << 20, Size: 1<<20 + 10}
	for _, c := range []struct {
		options string
		sub     int
		want    uint64
	}{
		{"offset=512", 0, 512},
		{"offset=50%", 0, 528384}, // 524293, up to the next 4 KiB
		{"offset=50% offset_align=512", 0, 524800},
		{"offset=50% offset_align=0", 0, 524293},
		{"offset=0 offset_increment=10%", 2, 212992}, // 2 * 104858
		{"file_append=1", 0, 1<<20 + 10},
	} {
		j := *testJob(t, "rw=read bs=4k size=1m "+c.options)
		j.SubJob = c.sub
		if got := startOffset(&j, &file, 4096); got != c.want {
			t.Errorf("%s: %d, want %d", c.options, got, c.want)
		}
	}
}

// TestClonesDiffer is a guard on the seeds: the second clone of a job goes elsewhere.
func TestClonesDiffer(t *testing.T) {
	args := strings.Fields("name=j ioengine=null rw=randread size=1m numjobs=2")
	var texts [2]string
	for i, j := range loadJobs(t, args) {
		g, err := New(lay(j))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = fmt.Sprint(take(t, g, 20))
	}
	if cmp.Equal(texts[0], texts[1]) {
		t.Error("both clones issue the same I/Os")
	}
}
