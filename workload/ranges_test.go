package workload

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
)

// trims are the places and lengths that the trims of a job have, a range each, and how many trims there were.
func trims(t *testing.T, args string) (ranges []engines.Range, n int) {
	t.Helper()
	j := loadJobs(t, append([]string{"--name=a", "--filename=f", "--size=1m", "--ioengine=io_uring_cmd"}, strings.Fields(args)...))[0]
	j.NumRange = max(j.NumRange, 1)
	cfg := lay(j)
	cfg.Files[0].Size, cfg.Files[0].Name = 1<<30, "/dev/ng0n1" // the job works in the first part of a drive
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	reqs := make([]Req, 16)
	for {
		m, v := g.Fill(reqs)
		if v != Issue {
			return ranges, n
		}
		if j.NumRange == 1 {
			for _, r := range reqs[:m] {
				ranges = append(ranges, engines.Range{Offset: r.Offset, Len: int64(r.Len)})
			}
			n += m
			continue
		}
		if m != 1 {
			t.Fatalf("%d trims of several ranges at once", m)
		}
		sum := 0
		for _, r := range g.Ranges() {
			sum += int(r.Len)
		}
		if last := g.Ranges()[len(g.Ranges())-1]; reqs[0].Offset != last.Offset || reqs[0].Len != sum {
			t.Errorf("%+v for ranges %v", reqs[0], g.Ranges())
		}
		ranges = append(ranges, g.Ranges()...)
		n++
	}
}

// TestRangesAreTheTrimsOfAPlainJob: several ranges a trim group what a job with one range would trim.
func TestRangesAreTheTrimsOfAPlainJob(t *testing.T) {
	for _, args := range []string{
		"--rw=randtrim", "--rw=trim", "--rw=randtrim --norandommap", "--rw=trim --bsrange=4k-32k", "--rw=trim:4k",
		"--rw=randtrim --random_generator=lfsr", "--rw=randtrim --bs=8k --offset=64k --size=512k",
	} {
		one, n := trims(t, args)
		several, groups := trims(t, args+" --num_range=7")
		if diff := cmp.Diff(one, several[:min(len(one), len(several))]); diff != "" || len(several) < len(one) {
			t.Errorf("%s: %s", args, diff)
		}
		if groups != (n+6)/7 {
			t.Errorf("%s: %d trims of 7 ranges for %d of one", args, groups, n)
		}
	}
}

func TestRangesCountAsOneIO(t *testing.T) {
	ranges, n := trims(t, "--rw=randtrim --num_range=256 --number_ios=1")
	if len(ranges) != 256 || n != 1 {
		t.Errorf("%d trims of %d ranges", n, len(ranges))
	}
	if slices.ContainsFunc(ranges, func(r engines.Range) bool { return r.Len != 4096 }) {
		t.Error("a range is not a block long")
	}
}

// TestRangesAreFios compares with the ranges that fio 3.42 trimmed on a drive of 1 GiB: testdata/ranges/fio.txt has options
// and, in blocks of 4 KiB, places and lengths.
func TestRangesAreFios(t *testing.T) {
	text, err := os.ReadFile("testdata/ranges/fio.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(strings.TrimPrefix(string(text), "= "), "\n= ") {
		args, list, _ := strings.Cut(part, "\n")
		got, _ := trims(t, args)
		var blocks []string
		for _, r := range got {
			blocks = append(blocks, fmt.Sprintf("%d+%d", r.Offset/4096, r.Len/4096))
		}
		if diff := cmp.Diff(strings.Fields(list), blocks); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}
