package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/job"
)

func TestRandBetween(t *testing.T) {
	for _, wide := range []bool{false, true} {
		r := NewRand(7, wide)
		seen := map[uint64]int{}
		for range 10000 {
			seen[r.Between(3, 7)]++
		}
		for v := uint64(3); v <= 7; v++ {
			if seen[v] < 1700 || seen[v] > 2300 {
				t.Errorf("wide=%v: %d drawn %d times of 10000, want about 2000", wide, v, seen[v])
			}
		}
		if len(seen) != 5 {
			t.Errorf("wide=%v: drew %v, want 3 to 7", wide, seen)
		}
		if got := r.Between(9, 9); got != 9 {
			t.Errorf("wide=%v: Between(9, 9) = %d", wide, got)
		}
		for range 1000 {
			if f := r.open01(); f <= 0 || f > 1 {
				t.Fatalf("wide=%v: open01 = %v", wide, f)
			}
		}
	}
}

func TestRandMax(t *testing.T) {
	narrow, wide := NewRand(1, false), NewRand(1, true)
	if narrow.Max() != 1<<32-1 || wide.Max() != 1<<64-1 {
		t.Errorf("Max = %d, %d", narrow.Max(), wide.Max())
	}
	var or32, or64 uint64
	for range 100 {
		or32 |= narrow.Next()
		or64 |= wide.Next()
	}
	if or32 != 1<<32-1 || or64 != 1<<64-1 {
		t.Errorf("bits seen: %#x and %#x, want all", or32, or64)
	}
}

// TestStreamsApart checks that each purpose has numbers of its own, that they repeat, and which ones fio makes alike.
func TestStreamsApart(t *testing.T) {
	j := testJob(t, "rw=randrw size=1m")
	first := map[uint64]Stream{}
	for s := range nStreams {
		a, b := StreamRand(j, s), StreamRand(j, s)
		v := a.Next()
		if b.Next() != v {
			t.Errorf("stream %d does not repeat", s)
		}
		if other, ok := first[v]; ok && s != seqWriteStream && s != seqTrimStream {
			t.Errorf("streams %d and %d are alike", other, s)
		}
		first[v] = s
	}
	clone := *j
	clone.Number = 2
	if StreamRand(j, OffsetStream).Next() == StreamRand(&clone, OffsetStream).Next() {
		t.Error("two jobs have the same offsets")
	}
	if Seed(j, OffsetStream) == Seed(&clone, OffsetStream) {
		t.Error("two jobs have the same seed")
	}
}

func TestStreamsThatRepeat(t *testing.T) {
	equal := func(j *job.Job, a, b Stream) bool { return StreamRand(j, a).Next() == StreamRand(j, b).Next() }
	if j := testJob(t, "rw=randtrimwrite size=1m"); !equal(j, BSTrimStream, BSWriteStream) {
		t.Error("trimwrite: trims and writes have other lengths")
	}
	if j := testJob(t, "rw=randrw size=1m"); !equal(j, SeqReadStream, seqWriteStream) || equal(j, BSReadStream, BSWriteStream) {
		t.Error("randrw: percentage_random must draw alike in all directions, lengths must not")
	}
}

func TestUnrepeatable(t *testing.T) {
	for _, c := range []struct {
		options string
		alike   bool
	}{
		{"randrepeat=0", false},
		{"randrepeat=0 randseed=5", true},
		{"randseed=5", true},
	} {
		j := testJob(t, "rw=randread size=1m "+c.options)
		a, b := StreamRand(j, OffsetStream), StreamRand(j, OffsetStream)
		if got := a.Next() == b.Next(); got != c.alike {
			t.Errorf("%s: two streams alike: %v, want %v", c.options, got, c.alike)
		}
	}
}

// TestFileSizes draws the sizes that fio gave the files of the recorded job filesize-range.
func TestFileSizes(t *testing.T) {
	j := testJob(t, "rw=randread bs=4k nrfiles=4 filesize=64k-256k")
	var got []int64
	for _, f := range lay(j).Files {
		got = append(got, f.Length)
	}
	if diff := cmp.Diff([]int64{90112, 122880, 122880, 237568}, got); diff != "" {
		t.Errorf("sizes (-fio +fiord):\n%s", diff)
	}
}
