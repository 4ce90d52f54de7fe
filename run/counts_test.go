package run

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/engines/cpu"
	"fiord/engines/enginetest"
	"fiord/engines/mmap"
	"fiord/engines/splice"
	"fiord/stats"
)

// counts are what a job did.
type counts struct {
	Reads, Writes, Trims, Syncs uint64
	Bytes                       uint64
}

func countsOf(j *stats.Job) counts {
	return counts{Reads: j.Dirs[0].IOs, Writes: j.Dirs[1].IOs, Trims: j.Dirs[2].IOs, Syncs: j.SyncIOs,
		Bytes: j.Dirs[0].Bytes + j.Dirs[1].Bytes + j.Dirs[2].Bytes}
}

// TestCounts runs plain jobs to their end. The numbers are fio's.
func TestCounts(t *testing.T) {
	const k = 1024
	for _, c := range []struct {
		name, options string
		want          counts
	}{
		{"sequential", "rw=read size=64k bs=4k", counts{Reads: 16, Bytes: 64 * k}},
		{"random", "rw=randread size=64k bs=4k", counts{Reads: 16, Bytes: 64 * k}},
		{"loops", "rw=write size=64k bs=4k loops=3", counts{Writes: 48, Bytes: 192 * k}},
		{"io_size above size", "rw=write size=64k bs=4k io_size=160k", counts{Writes: 40, Bytes: 160 * k}},
		{"io_size of a random reader", "rw=randread size=64k bs=4k io_size=160k", counts{Reads: 40, Bytes: 160 * k}},
		{"io_size below size", "rw=read size=64k bs=4k io_size=16k", counts{Reads: 4, Bytes: 16 * k}},
		{"number_ios", "rw=randread size=64k bs=4k number_ios=7", counts{Reads: 7, Bytes: 28 * k}},
		{"number_ios and loops", "rw=randread size=64k bs=4k number_ios=7 loops=2", counts{Reads: 14, Bytes: 56 * k}},
		{"fsync", "rw=write size=64k bs=4k fsync=4", counts{Writes: 16, Syncs: 3, Bytes: 64 * k}},
		{"end_fsync is not counted", "rw=write size=64k bs=4k end_fsync=1", counts{Writes: 16, Bytes: 64 * k}},
		{"fdatasync", "rw=write size=64k bs=4k fdatasync=8", counts{Writes: 16, Syncs: 1, Bytes: 64 * k}},
		{"trims", "rw=trim size=64k bs=4k", counts{Trims: 16, Bytes: 64 * k}},
		{"trim and write", "rw=trimwrite size=64k bs=4k", counts{Trims: 16, Writes: 16, Bytes: 128 * k}},
		{"files", "rw=write size=64k bs=4k nrfiles=4", counts{Writes: 16, Bytes: 64 * k}},
		{"few open files", "rw=randwrite size=64k bs=4k nrfiles=4 openfiles=1", counts{Writes: 16, Bytes: 64 * k}},
		{"without statistics of latency", "rw=read size=64k bs=4k gtod_reduce=1", counts{Reads: 16, Bytes: 64 * k}},
	} {
		for _, engine := range []string{
			"null", "null iodepth=8", "null iodepth=8 iodepth_batch=4", "psync", "sync", "libaio", "libaio iodepth=8",
			"libaio iodepth=8 iodepth_batch=3 iodepth_batch_complete_min=2 iodepth_low=4",
			"libaio iodepth=8 iodepth_batch_complete_min=0 iodepth_batch_complete_max=0",
		} {
			trims := c.want.Trims > 0
			if trims && !strings.HasPrefix(engine, "null") {
				continue // a file system does not trim
			}
			t.Run(c.name+" on "+engine, func(t *testing.T) {
				t.Chdir(t.TempDir())
				g := newRig()
				j := g.one(t, section("a", "ioengine="+engine+" fallocate=none "+c.options))
				if j.Error != 0 {
					t.Fatalf("%s\n%s", j.ErrorText, g.said())
				}
				if d := cmp.Diff(c.want, countsOf(j)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// TestMixed checks that a mixed job does what its generator says in both directions.
func TestMixed(t *testing.T) {
	t.Chdir(t.TempDir())
	j := newRig().one(t, section("a", "ioengine=psync rw=randrw rwmixread=75 size=256k bs=4k loops=2"))
	got := countsOf(j)
	if got.Reads+got.Writes != 128 || got.Bytes != 512<<10 || got.Reads <= got.Writes {
		t.Errorf("%+v", got)
	}
	if j.Dirs[0].Runtime == 0 || j.Dirs[1].Runtime == 0 || j.Dirs[2].Runtime != 0 {
		t.Errorf("run times %d, %d, %d ms", j.Dirs[0].Runtime, j.Dirs[1].Runtime, j.Dirs[2].Runtime)
	}
}

// TestDepths checks the distributions of depth and batches, fio's for the same jobs.
func TestDepths(t *testing.T) {
	type dist struct{ Depth, Submit, Complete [7]uint64 }
	for _, c := range []struct {
		options string
		want    dist
	}{
		{"ioengine=null rw=read", dist{Depth: [7]uint64{64}}},
		{"ioengine=psync rw=read", dist{[7]uint64{64}, [7]uint64{1: 64}, [7]uint64{1: 64}}},
		{"ioengine=psync rw=write fsync=8", dist{[7]uint64{71}, [7]uint64{1: 71}, [7]uint64{1: 71}}},
		{"ioengine=null iodepth=16 iodepth_batch=16 rw=read",
			dist{[7]uint64{4: 64}, [7]uint64{3: 4}, [7]uint64{3: 4}}},
		{"ioengine=fake iodepth=1 rw=read", dist{[7]uint64{64}, [7]uint64{1: 64}, [7]uint64{1: 64}}},
	} {
		t.Run(c.options, func(t *testing.T) {
			t.Chdir(t.TempDir())
			f := enginetest.NewFake(enginetest.Script{})
			j := newRig(f.Driver("fake", diskless)).one(t, section("a", c.options+" size=256k bs=4k"))
			if d := cmp.Diff(c.want, dist{j.Depth, j.Submit, j.Complete}); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestBehaviours runs the same job on an engine that reorders, refuses and delays: none of it may show in what is issued.
func TestBehaviours(t *testing.T) {
	scripts := map[string]enginetest.Script{
		"plain":        {},
		"newest first": {Newest: true},
		"one a submit": {PerSubmit: 1},
		"one a reap":   {PerReap: 1},
		"shallow":      {Depth: 3},
		"late":         {Late: map[int]int{0: 9, 5: 3, 11: 2}},
		"all of it":    {Newest: true, PerSubmit: 2, PerReap: 3, Depth: 5, Late: map[int]int{1: 4, 7: 7}},
	}
	for name, script := range scripts {
		for _, more := range []string{"", " iodepth_batch=4", " iodepth_batch_complete_min=3 iodepth_low=2", " nrfiles=3 openfiles=2",
			" iodepth_batch_complete_min=0 iodepth_batch_complete_max=0", " thinktime=1 thinktime_blocks=5", " rate=1g",
			" serialize_overlap=1"} {
			t.Run(name+more, func(t *testing.T) {
				f := enginetest.NewFake(script)
				j := newRig(f.Driver("fake", diskless)).one(t, fakeJob("rw=write size=192k bs=4k iodepth=8 fsync=12"+more))
				want := counts{Writes: 48, Syncs: 3, Bytes: 192 << 10}
				if d := cmp.Diff(want, countsOf(j)); d != "" || j.Error != 0 {
					t.Errorf("error %d %s\n%s", j.Error, j.ErrorText, d)
				}
				if !f.Closed || f.ClosedInFlight != 0 {
					t.Errorf("closed %v with %d I/Os in flight", f.Closed, f.ClosedInFlight)
				}
				seen := map[string]int{}
				for _, r := range f.Log {
					if r.Op == engines.Write {
						seen[r.File+"@"+ops(&enginetest.Fake{Log: []enginetest.Record{r}})[0]]++
					}
				}
				if len(seen) != 48 {
					t.Errorf("%d different blocks written, want 48", len(seen))
				}
			})
		}
	}
}

// TestShort checks that the rest of a short transfer goes out with the right offset and length, on both kinds of engine.
func TestShort(t *testing.T) {
	want := []string{"read 0+4096", "read 4096+4096", "read 5096+3096", "read 6096+2096", "read 8192+4096", "read 12288+4096"}
	check := func(t *testing.T, j *stats.Job, got []string) {
		t.Helper()
		slices.SortFunc(got, func(a, b string) int { // rests go out when a place is free
			return slices.Index(want, a) - slices.Index(want, b)
		})
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(counts{Reads: 4, Bytes: 16384}, countsOf(j)); d != "" || j.Dirs[0].Short != 2 {
			t.Errorf("%d short\n%s", j.Dirs[0].Short, d)
		}
	}
	t.Run("fake", func(t *testing.T) {
		for _, depth := range []string{"iodepth=1", "iodepth=4", "iodepth=4 iodepth_batch=4"} {
			f := enginetest.NewFake(enginetest.Script{})
			// I/Os are numbered as accepted: at depth 1 the rest of number 1 is number 2; deeper, rests come last.
			f.Short = map[int]int{1: 1000, 2: 1000}
			if depth != "iodepth=1" {
				f.Short = map[int]int{1: 1000, 4: 1000}
			}
			j := newRig(f.Driver("fake", diskless)).one(t, fakeJob("rw=read size=16k bs=4k "+depth))
			check(t, j, ops(f))
			if n := j.Dirs[0].Slat.N; n != 4 {
				t.Errorf("%d submission latencies of 4 reads", n)
			}
		}
	})
	t.Run("synchronous", func(t *testing.T) {
		var got []string
		var addresses []*byte
		d := syncDriver("fake", func(_ *engines.Worker, n int, u *engines.IO) {
			got = append(got, ops(&enginetest.Fake{Log: []enginetest.Record{{Op: u.Op, Offset: u.Offset, Len: len(u.Buf)}}})...)
			addresses = append(addresses, &u.Buf[0])
			if n == 1 || n == 2 {
				u.Done = 1000
			}
		})
		check(t, newRig(d).one(t, fakeJob("rw=read size=16k bs=4k")), got)
		if cap := addresses[1]; addresses[0] != cap || addresses[2] == cap || addresses[4] != cap {
			t.Error("the rest must go to the rest of the buffer, the next I/O to its start")
		}
	})
}

// TestEndOfFile reads a file that ends inside a block.
func TestEndOfFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("f", make([]byte, 10000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"psync", "libaio iodepth=4"} {
		j := newRig().one(t, section("a", "ioengine="+engine+" rw=read filename=f bs=4k"))
		if d := cmp.Diff(counts{Reads: 2, Bytes: 8192}, countsOf(j)); d != "" || j.Error != 0 {
			t.Errorf("%s: error %d\n%s", engine, j.Error, d)
		}
	}
}

// TestZeroRead checks that a transfer of nothing without an error is one.
func TestZeroRead(t *testing.T) {
	f := enginetest.NewFake(enginetest.Script{Short: map[int]int{1: 0}})
	j := newRig(f.Driver("fake", diskless)).one(t, fakeJob("rw=read size=16k bs=4k"))
	if j.Error != 5 || !strings.Contains(j.ErrorText, "full resid") {
		t.Errorf("error %d %q", j.Error, j.ErrorText)
	}
}

// TestContents checks that a job leaves files of the right size, and none with unlink.
func TestContents(t *testing.T) {
	for _, c := range []struct {
		options string
		want    map[string]int64
	}{
		{"rw=write nrfiles=2 size=64k end_fsync=1", map[string]int64{"a.0.0": 32768, "a.0.1": 32768}},
		{"rw=write size=64k fsync_on_close=1", map[string]int64{"a.0.0": 65536}},
		{"rw=write size=64k end_syncfs=1", map[string]int64{"a.0.0": 65536}},
		{"rw=write size=64k unlink=1", map[string]int64{}},
		{"rw=write size=64k loops=3 unlink_each_loop=1", map[string]int64{"a.0.0": 65536}},
		{"rw=read size=64k pre_read=1", map[string]int64{"a.0.0": 65536}},
		{"rw=write size=64k create_serialize=0", map[string]int64{"a.0.0": 65536}},
	} {
		t.Run(c.options, func(t *testing.T) {
			dir := t.TempDir()
			before := openFds(t)
			j := newRig().one(t, section("a", "ioengine=psync bs=4k directory="+dir+" "+c.options))
			if j.Error != 0 {
				t.Fatal(j.ErrorText)
			}
			got := map[string]int64{}
			files, _ := filepath.Glob(dir + "/*")
			for _, f := range files {
				if st, err := os.Stat(f); err == nil {
					got[filepath.Base(f)] = st.Size()
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if after := openFds(t); after > before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}

// TestEndSync looks at the syncs at the end of each pass.
func TestEndSync(t *testing.T) {
	w := []string{"write 0+4096", "write 4096+4096"}
	for _, c := range []struct {
		options string
		want    []string
	}{
		{"end_fsync=1", append(slices.Clone(w), "sync 4096+0")},
		{"end_syncfs=1", append(slices.Clone(w), "syncfs 4096+0")},
		{"end_fsync=1 loops=2", append(append(append(slices.Clone(w), "sync 4096+0"), w...), "sync 4096+0")},
		{"fsync=2", w}, // an engine that completes later has issued its bytes before the sync is due
		{"fsync=2 end_fsync=1", append(slices.Clone(w), "sync 4096+0")},
		{"", w},
	} {
		t.Run(c.options, func(t *testing.T) {
			f := enginetest.NewFake(enginetest.Script{})
			j := newRig(f.Driver("fake", diskless)).one(t, fakeJob("rw=write size=8k bs=4k "+c.options))
			if j.Error != 0 {
				t.Fatal(j.ErrorText)
			}
			got := ops(f)
			for i := range got {
				if !strings.HasPrefix(got[i], "write") {
					got[i] = strings.Split(got[i], "+")[0] + "+0" // the length of a sync means nothing
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLateLayout runs jobs that lay their files out on their own thread: by then the engine must not have been opened, as
// it keeps something for each file.
func TestLateLayout(t *testing.T) {
	for _, engine := range []string{"sync", "psync", "mmap", "vsync", "libaio", "splice", "sync io_submit_mode=offload iodepth=4"} {
		for _, files := range []string{"filename=p:q:r", "nrfiles=3", "opendir=have"} {
			t.Run(engine+" "+files, func(t *testing.T) {
				t.Chdir(t.TempDir())
				if err := os.Mkdir("have", 0o700); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"1", "2", "3"} {
					if err := os.WriteFile("have/"+name, make([]byte, 16384), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				j := newRig(mmap.Driver(), splice.Driver()).one(t, section("a", "rw=read size=48k bs=4k create_serialize=0 "+files+" ioengine="+engine))
				if d := cmp.Diff(counts{Reads: 12, Bytes: 48 << 10}, countsOf(j)); d != "" || j.Error != 0 {
					t.Errorf("error %d %s, counts %s", j.Error, j.ErrorText, d)
				}
			})
		}
	}
}

// TestNoIOCountsReads checks that a job of cpuio counts reads whatever its rw is, and needs no map of the blocks that it
// does not have.
func TestNoIOCountsReads(t *testing.T) {
	for _, rw := range []string{"write", "randwrite", "randrw", "trim"} {
		j := newRig(cpu.Driver()).one(t, section("a", "ioengine=cpuio cpuload=100 cpuchunks=100 runtime=10ms rw="+rw))
		if j.Error != 0 || j.Dirs[0].IOs == 0 || j.Dirs[1].IOs+j.Dirs[2].IOs != 0 {
			t.Errorf("rw=%s: error %d %s, %+v", rw, j.Error, j.ErrorText, countsOf(j))
		}
	}
}

// TestLatencyDepth checks which jobs report the keys of latency_target: those whose I/O could begin.
func TestLatencyDepth(t *testing.T) {
	for options, want := range map[string]int{
		"size=4k":               1,
		"size=4k opendir=.":     1, // a directory without files
		"size=4k create_only=1": 0,
		"size=4k create_only=1 latency_target=1ms latency_window=5ms latency_percentile=100": 0,
	} {
		t.Chdir(t.TempDir())
		j := newRig().one(t, section("a", "ioengine=psync rw=read "+options))
		if j.Error != 0 || j.LatencyDepth != want {
			t.Errorf("%s: error %d %s, depth %d, want %d", options, j.Error, j.ErrorText, j.LatencyDepth, want)
		}
	}
}

// TestNullVerifyPattern checks what verify=null writes: the pattern where there is one, with 0 for each %o.
func TestNullVerifyPattern(t *testing.T) {
	t.Chdir(t.TempDir())
	j := newRig().one(t, section("a", `ioengine=psync rw=write size=8k bs=4k filename=f verify=null verify_pattern=0xab%o"z"`))
	if j.Error != 0 {
		t.Fatal(j.ErrorText)
	}
	got, err := os.ReadFile("f")
	if err != nil {
		t.Fatal(err)
	}
	block := strings.Repeat("\xab\x00\x00\x00\x00\x00\x00\x00\x00z", 410)[:4096]
	if d := cmp.Diff(block+block, string(got)); d != "" {
		t.Error(d)
	}
}

// TestBufferOrder checks the order in which buffers are filled: as in fio, what is filled first is used last.
func TestBufferOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	contents := map[string][]byte{}
	for name, options := range map[string]string{"one": "psync", "deep": "libaio iodepth=8", "batch": "libaio iodepth=8 iodepth_batch=4"} {
		j := newRig().one(t, section("a", "rw=write size=32k bs=4k scramble_buffers=0 filename="+name+" ioengine="+options))
		data, err := os.ReadFile(name)
		if err != nil || j.Error != 0 {
			t.Fatal(err, j.ErrorText)
		}
		contents[name] = data
	}
	for _, name := range []string{"deep", "batch"} {
		if !bytes.Equal(contents[name][7*4096:], contents["one"][:4096]) {
			t.Errorf("%s: the eighth block is not what a job with one buffer writes", name)
		}
	}
}

// TestLateLayoutContents checks what a job with create_serialize=0 writes: its buffers are filled before its files are laid
// out, from the same random numbers. The checksum is that of fio's file.
func TestLateLayoutContents(t *testing.T) {
	t.Chdir(t.TempDir())
	j := newRig().one(t, section("a", "ioengine=psync rw=readwrite size=48k bs=12k blockalign=16k refill_buffers=1 create_serialize=0"))
	data, err := os.ReadFile("a.0.0")
	if err != nil || j.Error != 0 {
		t.Fatal(err, j.ErrorText)
	}
	if got, want := fmt.Sprintf("%x", sha1.Sum(data)), "3c07c61f2e9cce36108a68bf7beb71a3b94f0304"; got != want {
		t.Errorf("the file's checksum is %s, want %s", got, want)
	}
}

// TestOpenDirTakesTurns checks that the files of a directory are all open at once, as in fio, unless the job limits that.
func TestOpenDirTakesTurns(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("have", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"have/p", "have/q"} {
		if err := os.WriteFile(name, make([]byte, 8<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for options, want := range map[string][]string{
		"":            {"0", "0", "4096", "4096"},
		"openfiles=1": {"0", "4096", "0", "4096"},
		"openfiles=9": {"0", "0", "4096", "4096"},
	} {
		log := "log" + options
		j := newRig().one(t, section("a", "ioengine=sync rw=read bs=4k opendir=have write_iolog="+log+" "+options))
		text, err := os.ReadFile(log)
		if err != nil || j.Error != 0 {
			t.Fatal(err, j.ErrorText)
		}
		var got []string
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 5 && f[2] == "read" {
				got = append(got, f[3])
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: offsets (-want +got)\n%s", options, d)
		}
	}
}
