package workload

import (
	"fmt"
	"testing"

	"fiord/engines"
	"fiord/job"
)

// someJob picks options by the bytes of data, in a fixed order.
func someJob(data []byte) string {
	at := 0
	pick := func(choices ...string) string {
		if at >= len(data) {
			return choices[0]
		}
		at++
		return choices[int(data[at-1])%len(choices)] + " "
	}
	s := "rw=" + pick("read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim", "trimwrite", "randtrimwrite",
		"read:4k", "write:-8k", "randread:4", "randrw:3")
	s += " " + pick("bs=4k", "bs=512", "bs=3000", "bs=4k,8k,16k", "bsrange=1k-16k", "bsrange=1000-9000 bs_unaligned=1",
		"bssplit=4k/50:8k/50", "bssplit=512/1:64k/99", "bs=4k ba=512", "bs=512 ba=4k", "bs=64k")
	s += " " + pick("size=256k", "size=1m", "size=100003", "size=64k offset=64k", "size=300k offset=1000")
	s += " " + pick("", "nrfiles=3", "nrfiles=7 openfiles=2", "nrfiles=5 file_service_type=random", "nrfiles=4 "+
		"file_service_type=zipf:1.2", "nrfiles=4 file_service_type=sequential", "nrfiles=3 file_service_type=normal:10")
	s += " " + pick("", "norandommap=1", "random_generator=lfsr", "random_generator=tausworthe64",
		"random_distribution=zipf:1.1", "random_distribution=pareto:0.3", "random_distribution=normal:20",
		"random_distribution=zoned:50/10:50/90", "random_distribution=sequence:3,1,2", "percentage_random=40")
	s += " " + pick("", "io_size=2m", "io_size=50k", "number_ios=20", "loops=2", "time_based=1 runtime=1")
	s += " " + pick("", "fsync=3", "fdatasync=5 fsync=2", "zonemode=strided zonesize=16k zonerange=32k zoneskip=4k",
		"rw_sequencer=identical", "sync_file_range=write:2", "bs_is_seq_rand=1")
	return s + " " + pick("", "iodepth=4", "iodepth=32")
}

// checkJob plays a job and checks what must hold of every one: each I/O lies in its file, no I/O is empty, the job ends,
// and a random map lets no block pass twice in one pass over a file.
func checkJob(t *testing.T, options string) {
	j, ok := tryJob(options)
	if !ok {
		return
	}
	cfg := lay(j)
	g, err := New(cfg)
	if err != nil {
		return
	}
	once := mapped(j) && len(cfg.Files) == 1 && !j.TimeBased
	var inflight []int
	var reqs [5]Req
	total := 0
	for pass := 1; pass <= 3; pass++ {
		seen := map[int64]bool{}
		for total < 20000 {
			n, v := g.Fill(reqs[:1+total%5])
			if v == End {
				break
			}
			if v == Wait {
				if len(inflight) == 0 {
					t.Fatalf("%s: Wait with nothing in flight", options)
				}
				g.Completed(inflight[0])
				inflight = inflight[1:]
				continue
			}
			for _, r := range reqs[:n] {
				checkReq(t, options, &cfg, r)
				if once && r.Op.IsData() {
					if seen[r.Offset] {
						t.Fatalf("%s: offset %d twice", options, r.Offset)
					}
					seen[r.Offset] = true
				}
				inflight = append(inflight, r.File)
			}
			total += n
			for len(inflight) >= j.IODepth {
				g.Completed(inflight[0])
				inflight = inflight[1:]
			}
		}
		for _, i := range inflight {
			g.Completed(i)
		}
		inflight = inflight[:0]
		g.Drained()
		g.NextPass()
	}
	// A list of blocks may reach beyond the end of a small file.
	if g.Err() != nil && j.RandomDistribution[job.Read].Kind != "sequence" {
		t.Fatalf("%s: %v", options, g.Err())
	}
}

func checkReq(t *testing.T, options string, cfg *Config, r Req) {
	t.Helper()
	f := cfg.Files[r.File]
	if r.Op.IsData() && r.Len <= 0 || !r.Op.IsData() && r.Len != 0 || r.Op > engines.SyncFileRange {
		t.Fatalf("%s: %+v", options, r)
	}
	if r.Op.IsData() && (r.Offset < 0 || r.Offset+int64(r.Len) > f.Size) {
		t.Fatalf("%s: %+v is outside the file of %d bytes", options, r, f.Size)
	}
	if j := cfg.Job; !j.RW.Read && r.Op == engines.Read || !j.RW.Write && r.Op != engines.Read && r.Op != engines.Trim {
		t.Fatalf("%s: %v", options, r.Op)
	}
}

// mapped reports whether no offset may come twice in one pass.
func mapped(j *job.Job) bool {
	return j.RW.Random && !j.NoRandomMap && !j.RW.TrimWrite && j.RW.SeqNr == 1 && j.ZoneMode == "none" &&
		j.RandomGenerator != "lfsr" && j.PercentageRandom == job.PerDir[int]{100, 100, 100} && j.MinBS[0] == j.MinBS[1] &&
		j.MinBS[1] == j.MinBS[2] && j.FileServiceType.Kind == "roundrobin"
}

// tryJob loads a job, or reports that its options exclude each other.
func tryJob(options string) (j *job.Job, ok bool) {
	l := job.Loader{Engines: testEngines}
	l.AddText("test", "[j]\nioengine=null\n"+lines(options))
	jobs, _, _, err := l.Load()
	if err != nil {
		return nil, false
	}
	return jobs[0], true
}

func lines(options string) string {
	b := []byte(options)
	for i := range b {
		if b[i] == ' ' {
			b[i] = '\n'
		}
	}
	return string(b) + "\n"
}

// TestInvariants runs over many combinations of options.
func TestInvariants(t *testing.T) {
	r := NewRand(1, false)
	loaded := 0
	for range 400 {
		data := make([]byte, 8)
		for i := range data {
			data[i] = byte(r.Between(0, 255))
		}
		options := someJob(data)
		if _, ok := tryJob(options); ok {
			loaded++
		}
		checkJob(t, options)
	}
	if loaded < 300 {
		t.Errorf("only %d of 400 jobs load", loaded)
	}
}

func FuzzInvariants(f *testing.F) {
	for i := range 20 {
		f.Add(fmt.Appendf(nil, "%08d", i*7654321))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkJob(t, someJob(data)) })
}
