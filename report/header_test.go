package report

import (
	"bytes"
	"testing"

	"fiord/job"
)

func TestHeader(t *testing.T) {
	reader := func(name string, sub int) *job.Job {
		j := &job.Job{Name: name, SubJob: sub, EngineDoc: &job.EngineDecl{Name: "psync"}}
		j.RW = job.RWMode{Read: true, Text: "read"}
		j.BS = job.PerDir[uint64]{4096, 4096, 4096}
		j.IODepth, j.KBBase, j.SignificantFigures = 1, "1024", 4
		return j
	}
	seqRand := reader("seqrand", 0)
	seqRand.BSIsSeqRand, seqRand.Thread, seqRand.Group = true, true, 1
	split := reader("split", 0)
	split.BSSplit[job.Read] = job.BSSplit{{BS: 65536, Percent: 50}, {BS: 512, Percent: 50}}
	split.BSRange[job.Write] = job.Range{Min: 1000, Max: 123456}
	split.Thread = true
	split.KBBase = "1000"
	idle := reader("idle", 0)
	idle.EngineDoc = &job.EngineDecl{Name: "cpuio", Traits: job.Traits{NoIO: true}}

	for _, c := range []struct {
		name string
		jobs []*job.Job
		want string
	}{
		{"one", []*job.Job{reader("reader", 0)},
			"reader: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n" +
				"fio-3.42-fiord-0.1.0\nStarting 1 process\n"},
		{"clones", []*job.Job{reader("a", 0), reader("a", 1), reader("a", 2), seqRand},
			"a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n...\n" +
				"seqrand: (g=1): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, bs_is_seq_rand, ioengine=psync, iodepth=1\n" +
				"fio-3.42-fiord-0.1.0\nStarting 1 thread and 3 processes\n"},
		{"threads", []*job.Job{split, seqRand},
			"split: (g=0): rw=read, bs=(R) 512B-65.5kB, (W) 1000B-123kB, (T) 4096B-4096B, ioengine=psync, iodepth=1\n" +
				"seqrand: (g=1): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, bs_is_seq_rand, ioengine=psync, iodepth=1\n" +
				"fio-3.42-fiord-0.1.0\nStarting 2 threads\n"},
		{"no I/O", []*job.Job{idle}, "fio-3.42-fiord-0.1.0\nStarting 1 process\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Header(&b, "fio-3.42-fiord-0.1.0", c.jobs); err != nil {
				t.Fatal(err)
			}
			check(t, "header", c.want, b.String())
		})
	}
}
