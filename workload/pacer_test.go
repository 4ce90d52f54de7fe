package workload

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/job"
)

// TestPacerLinear checks the schedule of rate and rate_iops against numbers worked out by hand.
func TestPacerLinear(t *testing.T) {
	for _, c := range []struct {
		options string
		d       job.Dir
		issued  []uint64 // bytes after each I/O
		want    []time.Duration
	}{
		{"rw=read bs=4k rate=4096000", job.Read, []uint64{4096, 8192, 4096 * 1500}, []time.Duration{1e6, 2e6, 1500e6}},
		{"rw=read bs=4k rate_iops=250", job.Read, []uint64{4096, 8192}, []time.Duration{4e6, 8e6}},
		{"rw=rw bs=4k,8k rate_iops=,100", job.Write, []uint64{8192, 16384}, []time.Duration{10e6, 20e6}},
		{"rw=rw bs=4k,8k rate_iops=,100", job.Read, []uint64{4096}, []time.Duration{0}},
		{"rw=randread bssplit=4k/50:64k/50 rate_iops=1000", job.Read, []uint64{65536, 69632}, []time.Duration{1e6, 2e6}},
		{"rw=read bs=4k rate=3", job.Read, []uint64{4096}, []time.Duration{1365333333000}},
		{"rw=read bs=4k rate_min=1m", job.Read, []uint64{4096}, []time.Duration{0}},
	} {
		p := NewPacer(testJob(t, "size=1m "+c.options))
		var got []time.Duration
		for _, n := range c.issued {
			got = append(got, time.Duration(p.Due(c.d, n)))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, %v (-want +got):\n%s", c.options, c.d, diff)
		}
	}
}

// TestPacerPoisson: the gaps vary, their mean is the rate's, and a pass repeats them.
func TestPacerPoisson(t *testing.T) {
	p := NewPacer(testJob(t, "rw=randread bs=4k size=1m rate_iops=1000 rate_process=poisson"))
	const n = 200_000
	var dues []int64
	for i := range uint64(n) {
		dues = append(dues, p.Due(job.Read, (i+1)*4096))
	}
	if mean := dues[n-1] / n; mean < 993_000 || mean > 1_007_000 {
		t.Errorf("mean gap %d ns, want about 1 ms", mean)
	}
	gaps := map[int64]bool{}
	for i := 1; i < n; i++ {
		gaps[dues[i]-dues[i-1]] = true
	}
	if len(gaps) < 1000 {
		t.Errorf("only %d different gaps", len(gaps))
	}
	p.Reset()
	p.NextPass()
	if got := p.Due(job.Read, 4096); got != dues[0] {
		t.Errorf("first gap of the second pass %d, want %d", got, dues[0])
	}
}

func TestPacerSkip(t *testing.T) {
	p := NewPacer(testJob(t, "rw=read bs=4k size=1m rate=4096000"))
	if got, want := p.Skip(job.Read, 4096, 10e6), uint64(4096+40960-4096); got != want {
		t.Errorf("after 10 ms: %d bytes, want %d", got, want)
	}
	if got, want := p.Skip(job.Read, 4096, 500e3), uint64(4096+2048); got != want {
		t.Errorf("after half a block's time: %d bytes, want %d", got, want)
	}
	free := NewPacer(testJob(t, "rw=read bs=4k size=1m rate_min=1"))
	if got := free.Skip(job.Read, 5, 1e9); got != 5 {
		t.Errorf("a direction without a rate: %d bytes, want 5", got)
	}
}
