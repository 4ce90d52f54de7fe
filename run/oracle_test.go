package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/clock"
	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
	"fiord/report"
)

// The oracle: engines replay known lists of latencies by a clock of their own, and what the json+ report says of them must
// be what is worked out here from the lists, by other means than the product's.

// virtual is a clock that each worker has for itself: a replaying engine moves it on.
type virtual struct{ threads sync.Map } // thread id to *atomic.Int64

const virtualStart = int64(1e12)

func (v *virtual) now() int64 {
	if t, ok := v.threads.Load(sys.Gettid()); ok {
		return t.(*atomic.Int64).Load()
	}
	return virtualStart
}

// enter gives the calling thread a clock of its own, until leave.
func (v *virtual) enter() *atomic.Int64 {
	t := new(atomic.Int64)
	t.Store(virtualStart)
	v.threads.Store(sys.Gettid(), t)
	return t
}

func (v *virtual) leave() { v.threads.Delete(sys.Gettid()) }

// replayed are the latencies of one worker: of the nth I/O, or with a batch of the nth batch.
type replayed struct{ slat, clat []uint64 }

// syncReplay does each I/O in the time that the list says.
type syncReplay struct {
	v    *virtual
	at   *atomic.Int64
	list replayed
	n    int
}

func (r *syncReplay) Do(u *engines.IO) {
	r.at.Add(int64(r.list.clat[r.n]))
	r.n++
	u.Done, u.Errno = len(u.Buf), 0
}

func (r *syncReplay) Close() error { r.v.leave(); return nil }

// asyncReplay takes a batch in the time of its slat, and has all of it done clat after.
type asyncReplay struct {
	syncReplay
	flying []*engines.IO
}

func (r *asyncReplay) Submit(ios []*engines.IO) (int, error) {
	r.at.Add(int64(r.list.slat[r.n]))
	r.flying = append(r.flying, ios...)
	return len(ios), nil
}

func (r *asyncReplay) Reap(done []*engines.IO, least int, _ time.Duration) (int, error) {
	if least == 0 || len(r.flying) == 0 {
		return 0, nil
	}
	r.at.Add(int64(r.list.clat[r.n]))
	r.n++
	n := copy(done, r.flying)
	for _, u := range done[:n] {
		u.Done, u.Errno = len(u.Buf), 0
	}
	r.flying = r.flying[:copy(r.flying, r.flying[n:])]
	return n, nil
}

// replayDrivers are the engines over the lists, by the worker's number.
func replayDrivers(v *virtual, lists []replayed) []*engines.Driver {
	of := func(w *engines.Worker) syncReplay {
		return syncReplay{v: v, at: v.enter(), list: lists[w.Job.Number-1]}
	}
	return []*engines.Driver{
		{Name: "replaysync", Traits: job.Traits{Diskless: true, Sync: true},
			Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
				r := of(w)
				return engines.Adapt(&r, 1), nil
			}},
		{Name: "replayasync", Traits: job.Traits{Diskless: true},
			Open: func(w *engines.Worker, _ any) (engines.Engine, error) {
				return &asyncReplay{syncReplay: of(w)}, nil
			}},
	}
}

const longest = uint64(20e9)

// distributions make n latencies each, from 1 ns to 20 s.
var distributions = []struct {
	name string
	draw func(r *rand.Rand, i int) float64 // ns; cut to the range
}{
	{"one value", func(*rand.Rand, int) float64 { return 1 }},
	{"exact buckets", func(r *rand.Rand, _ int) float64 { return float64(1 + r.IntN(127)) }},
	{"normal", func(r *rand.Rand, _ int) float64 { return 80e3 + 9e3*r.NormFloat64() }},
	{"exponential", func(r *rand.Rand, _ int) float64 { return 1e6 * r.ExpFloat64() }},
	{"two humps", func(r *rand.Rand, i int) float64 { return [...]float64{9e3, 12e6}[i%7/6] * (1 + r.Float64()/10) }},
	{"heavy tail", func(r *rand.Rand, _ int) float64 { return 1e4 * math.Pow(1-r.Float64(), -2.5) }},
	{"all magnitudes", func(r *rand.Rand, _ int) float64 { return math.Pow(float64(longest), r.Float64()) }},
	{"edges of buckets", func(_ *rand.Rand, i int) float64 { return math.Ldexp(1, i/3%35) + float64(i%3-1) }},
	{"both ends", func(_ *rand.Rand, i int) float64 { return [...]float64{1, float64(longest)}[i%2] }},
}

func drawAll(r *rand.Rand, draw func(*rand.Rand, int) float64, n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(min(max(draw(r, i), 1), float64(longest)))
	}
	return list
}

func TestLatencyOracle(t *testing.T) {
	for _, d := range distributions {
		for _, shape := range []struct {
			name    string
			options string
			jobs    int
			n       int // latencies of a job
			batch   int // I/Os that share one
			async   bool
		}{
			{"one job", "ioengine=replaysync", 1, 1001, 1, false},
			{"two jobs", "ioengine=replaysync", 2, 777, 1, false},
			{"64 jobs", "ioengine=replaysync", 64, 100, 1, false},
			{"asynchronous", "ioengine=replayasync", 1, 1000, 1, true},
			{"batches", "ioengine=replayasync iodepth=4 iodepth_batch=4 iodepth_batch_complete_min=4 iodepth_low=1", 2, 250, 4, true},
		} {
			t.Run(d.name+", "+shape.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, uint64(shape.n)))
				lists := make([]replayed, shape.jobs)
				var slat, clat, lat []uint64
				for i := range lists {
					l := replayed{clat: drawAll(r, d.draw, shape.n), slat: make([]uint64, shape.n)}
					if shape.async {
						l.slat = drawAll(r, distributions[(i+3)%5].draw, shape.n)
					}
					lists[i] = l
					for k := range l.clat {
						for range shape.batch {
							slat, clat, lat = append(slat, l.slat[k]), append(clat, l.clat[k]), append(lat, l.slat[k]+l.clat[k])
						}
					}
				}
				dir, doc := runReplay(t, lists, fmt.Sprintf("%s numjobs=%d group_reporting=1 rw=read bs=4k size=%dk slat_percentiles=1 "+
					"clat_percentiles=1 lat_percentiles=1 percentile_list=%s", shape.options, shape.jobs, 4*shape.n*shape.batch, percentileList))
				if shape.async {
					checkLatency(t, "slat", dir.Slat, slat)
				}
				checkLatency(t, "clat", dir.Clat, clat)
				checkLatency(t, "lat", dir.Lat, lat)
				checkMarks(t, doc, clat)
			})
		}
	}
}

const percentileList = "0.001:1:10:25:50:66.6:90:95:99:99.5:99.9:99.95:99.99:100"

// oracleLatency is a latency of the report, with numbers as written.
type oracleLatency struct {
	Min, Max     json.Number
	Mean, Stddev json.Number
	N            json.Number
	Percentile   map[string]json.Number
	Bins         map[string]json.Number
}

type oracleDir struct {
	IOs  uint64        `json:"total_ios"`
	Slat oracleLatency `json:"slat_ns"`
	Clat oracleLatency `json:"clat_ns"`
	Lat  oracleLatency `json:"lat_ns"`
}

type oracleJob struct {
	Read oracleDir
	Ns   map[string]float64 `json:"latency_ns"`
	Us   map[string]float64 `json:"latency_us"`
	Ms   map[string]float64 `json:"latency_ms"`
}

// runReplay runs one job section over the lists and reads its json+ report.
func runReplay(t *testing.T, lists []replayed, options string) (oracleDir, oracleJob) {
	t.Helper()
	v := &virtual{}
	g := newRig(replayDrivers(v, lists)...)
	r := g.start(t, section("a", options))
	defer clock.Script(v.now)()
	res, err := r.run()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.Write(&b, res, report.Options{Formats: []report.Format{report.JSONPlus}}); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Jobs []oracleJob }
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || len(doc.Jobs) != 1 {
		t.Fatalf("%v, %d jobs, %s", err, len(doc.Jobs), g.said())
	}
	return doc.Jobs[0].Read, doc.Jobs[0]
}

// checkLatency compares a reported latency with what follows from its values.
func checkLatency(t *testing.T, name string, got oracleLatency, values []uint64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(values))
	mean, dev := momentsOf(sorted)
	want := oracleLatency{
		N: integer(uint64(len(sorted))), Min: integer(sorted[0]), Max: integer(sorted[len(sorted)-1]),
		Mean: got.Mean, Stddev: got.Stddev, // compared below
		Percentile: map[string]json.Number{}, Bins: map[string]json.Number{},
	}
	counts := map[uint64]uint64{}
	for _, v := range sorted {
		counts[middle(v)]++
	}
	for at, n := range counts {
		want.Bins[strconv.FormatUint(at, 10)] = integer(n)
	}
	for key := range got.Percentile {
		p, err := strconv.ParseFloat(key, 64)
		if err != nil {
			t.Fatal(err)
		}
		want.Percentile[key] = integer(middle(sorted[rank(p, len(sorted))-1]))
	}
	if len(got.Percentile) != 14 {
		t.Errorf("%s: %d percentiles, want 14", name, len(got.Percentile))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
	near(t, name+" mean", got.Mean, mean)
	near(t, name+" stddev", got.Stddev, dev)
}

func integer(n uint64) json.Number { return json.Number(strconv.FormatUint(n, 10)) }

// near allows for the six decimals of the report, and for the last bit of a float64.
func near(t *testing.T, name string, got json.Number, want *big.Float) {
	t.Helper()
	f, err := got.Float64()
	w, _ := want.Float64()
	if err != nil || math.Abs(f-w) > 5.1e-7+w*3e-16 {
		t.Errorf("%s: %s, want %.6f", name, got, w)
	}
}

// momentsOf are mean and deviation by the definition, with n-1, in 400 bits.
func momentsOf(values []uint64) (mean, dev *big.Float) {
	wide := func(v uint64) *big.Float { return new(big.Float).SetPrec(400).SetUint64(v) }
	n := wide(uint64(len(values)))
	mean, dev = wide(0), wide(0)
	for _, v := range values {
		mean.Add(mean, wide(v))
	}
	mean.Quo(mean, n)
	for _, v := range values {
		d := new(big.Float).Sub(wide(v), mean)
		dev.Add(dev, d.Mul(d, d))
	}
	if len(values) < 2 {
		return mean, dev
	}
	return mean, dev.Quo(dev, wide(uint64(len(values)-1))).Sqrt(dev)
}

// middle is the value that the report has for a latency: itself below 128 ns; above, the middle of the one of 64 equal
// parts of its power of two; from 2^34 ns on, that of the last part below.
func middle(v uint64) uint64 {
	if v < 128 {
		return v
	}
	v = min(v, 1<<34-1)
	power := uint64(128)
	for v >= 2*power {
		power *= 2
	}
	width := power / 64
	return v/width*width + width/2
}

// rank is the number, from 1, of the value that at least p percent are not above.
func rank(p float64, n int) int {
	want := new(big.Rat).SetFloat64(p)
	want.Mul(want, big.NewRat(int64(n), 100))
	q, rest := new(big.Int).QuoRem(want.Num(), want.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return max(1, int(q.Int64()))
}

// checkMarks compares the coarse distribution: what share of the completion latencies lies below each limit and not below
// the one before.
func checkMarks(t *testing.T, got oracleJob, clat []uint64) {
	t.Helper()
	want := map[string]float64{}
	limits := []uint64{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000}
	for _, v := range clat {
		unit, step := "ns", uint64(1)
		switch {
		case v >= 1e6:
			unit, step = "ms", 1e6
		case v >= 1e3:
			unit, step = "us", 1e3
		}
		name := ">=2000"
		for _, l := range append(limits, 2000) {
			if v/step < l {
				name = strconv.FormatUint(l, 10)
				break
			}
		}
		want[unit+name]++
	}
	all := map[string]float64{}
	for unit, m := range map[string]map[string]float64{"ns": got.Ns, "us": got.Us, "ms": got.Ms} {
		for name, share := range m {
			all[unit+name] = share
		}
	}
	for name, share := range all {
		exact := 100 * want[name] / float64(len(clat))
		if math.Abs(share-exact) > 1e-6 {
			t.Errorf("latencies below %s: %f %%, want %f %%", name, share, exact)
		}
	}
	if len(all) != 32 {
		t.Errorf("%d limits, want 32", len(all))
	}
}
