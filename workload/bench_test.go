package workload

import (
	"testing"
)

// benchJobs are the shapes whose cost per I/O matters: the plain ones must be a few nanoseconds.
var benchJobs = []struct{ name, options string }{
	{"seqread", "rw=read bs=4k size=16g"},
	{"randread", "rw=randread bs=4k size=1g norandommap=1"},
	{"randread-map", "rw=randread bs=4k size=1g"},
	{"randread-lfsr", "rw=randread bs=4k size=1g random_generator=lfsr"},
	{"randread-zipf", "rw=randread bs=4k size=64m random_distribution=zipf:1.2"},
	{"randrw", "rw=randrw bs=4k size=1g norandommap=1"},
	{"bssplit", "rw=randread bssplit=4k/50:64k/50 size=1g norandommap=1"},
	{"files", "rw=randread bs=4k size=1g nrfiles=8 norandommap=1"},
	{"fsync", "rw=write bs=4k size=16g fsync=32"},
}

func newBench(tb testing.TB, options string) *Generator {
	tb.Helper()
	g, err := New(lay(testJob(tb, options+" io_size=1000000g")))
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func BenchmarkNext(b *testing.B) {
	for _, c := range benchJobs {
		b.Run(c.name, func(b *testing.B) {
			g := newBench(b, c.options)
			var r Req
			b.ReportAllocs()
			for b.Loop() {
				if g.Next(&r) == End {
					g.NextPass()
				}
			}
		})
	}
}

// BenchmarkBatch reports the cost of one I/O, in batches of 16.
func BenchmarkBatch(b *testing.B) {
	for _, c := range benchJobs[:3] {
		b.Run(c.name, func(b *testing.B) {
			g := newBench(b, c.options)
			reqs := make([]Req, 16)
			b.ReportAllocs()
			for i := 0; i < b.N; {
				n, v := g.Fill(reqs)
				i += n
				if v == End {
					g.NextPass()
				}
			}
		})
	}
}

// TestNoAllocations plays each benchmark's job over the end of its range.
func TestNoAllocations(t *testing.T) {
	for _, c := range benchJobs {
		g := newBench(t, c.options)
		reqs := make([]Req, 16)
		allocs := testing.AllocsPerRun(100, func() {
			for range 100 {
				if _, v := g.Fill(reqs); v == End {
					t.Errorf("%s: the pass is over", c.name)
				}
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations in 100 calls of Fill, want 0", c.name, allocs)
		}
	}
}
