package peak

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"syscall"
	"time"

	"fiord/clock"
)

// percentiles are those that -t shows.
var percentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// report writes the lines of t/io_uring as things happen, or keeps them for a document.
type report struct {
	cfg     *Config
	out     io.Writer
	err     error // of the first write that failed
	shown   bool  // the lines on the first worker
	why     string
	began   time.Time
	last    time.Time
	before  sums
	most    uint64
	elapsed time.Duration
	seconds []second
}

// second is one line of rates.
type second struct {
	IOPS      uint64  `json:"iops"`
	BW        uint64  `json:"bw_bytes"`
	Submitted float64 `json:"submitted_per_call"`
	Completed float64 `json:"completed_per_call"`
}

func newReport(c *Config, out io.Writer) *report { return &report{cfg: c, out: out} }

func (r *report) printf(format string, args ...any) {
	if r.cfg.Format != formatText {
		return
	}
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil && r.err == nil {
		r.err = fmt.Errorf("writing the report: %w", err)
	}
}

func (r *report) huge(path string, size int64) {
	r.printf("Using hugetlb file %s, size %d\n", path, size)
}

// worker tells of a thread that is ready.
func (r *report) worker(w *worker) {
	c := r.cfg
	r.printf("submitter=%d, tid=%d, file=%s, nfiles=%d, node=%d\n", w.index, w.tid, w.targets[len(w.targets)-1].path,
		len(w.targets), w.node())
	if r.shown {
		return
	}
	r.shown = true
	r.printf("polled=%d, fixedbufs=%d, register_files=%d, buffered=%d, QD=%d\n", bit(c.Polled), bit(c.FixedBufs),
		bit(c.RegisterFiles), bit(!c.Direct), c.Depth)
	r.printf("%s\n", engineLine(w))
}

func engineLine(w *worker) string {
	if w.ring != nil {
		p := w.ring.Params()
		return fmt.Sprintf("Engine=io_uring, sq_ring=%d, cq_ring=%d", p.SQEntries, p.CQEntries)
	}
	return "Engine=" + w.cfg.engine()
}

func (c *Config) engine() string {
	switch {
	case c.Sync:
		return "preadv2"
	case c.AIO:
		return "aio"
	}
	return "io_uring"
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r *report) begin(now time.Time) { r.began, r.last = now, now }

// tick shows what was done since the last time. fio differs: t/io_uring counts what it has handed over, and takes each
// second for one of the clock.
func (r *report) tick(now time.Time, s sums) {
	d := sums{s.submitted - r.before.submitted, s.done - r.before.done, s.calls - r.before.calls, s.failed - r.before.failed}
	ns := max(now.Sub(r.last), time.Millisecond)
	line := second{IOPS: uint64(float64(d.done-d.failed)*float64(time.Second)/float64(ns) + 0.5)}
	line.BW = line.IOPS * uint64(r.cfg.BlockSize)
	perCall := [2]int64{-1, -1}
	if d.calls > 0 {
		line.Submitted, line.Completed = float64(d.submitted)/float64(d.calls), float64(d.done)/float64(d.calls)
		perCall = [2]int64{int64(d.submitted / d.calls), int64(d.done / d.calls)}
	}
	if r.cfg.Nop {
		line.BW = 0
	}
	r.before, r.last = s, now
	r.most = max(r.most, line.IOPS)
	if r.cfg.Format == formatJSON {
		r.seconds = append(r.seconds, line)
	}
	bw := ""
	if !r.cfg.Nop {
		bw = "BW=" + bandwidth(line.BW) + ", "
	}
	r.printf("IOPS=%s, %sIOS/call=%d/%d\n", rate(line.IOPS), bw, perCall[0], perCall[1])
}

// rate is a number of I/Os a second as t/io_uring prints it.
func rate(n uint64) string {
	switch {
	case n > 1_000_000:
		return fmt.Sprintf("%.2fM", float64(n)/1e6)
	case n > 100_000:
		return fmt.Sprintf("%.2fK", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// bandwidth is a number of bytes a second. fio differs: t/io_uring divides MiB by 1000 for GiB.
func bandwidth(n uint64) string {
	if mib := n >> 20; mib <= 2000 {
		return fmt.Sprintf("%dMiB/s", mib)
	}
	return fmt.Sprintf("%.2fGiB/s", float64(n)/(1<<30))
}

// fail shows a read that ended the run, where t/io_uring does.
func (r *report) fail(err error) {
	e, ok := isRead(err)
	switch {
	case !ok:
	case r.cfg.Sync && e.Result < 0:
		r.printf("preadv2: %v\n", syscall.Errno(-e.Result))
	case !r.cfg.Sync:
		r.printf("io: unexpected ret=%d\n", e.Result)
	}
}

// stop tells that the run ends, before the threads have ended.
func (r *report) stop(why string) {
	r.why = why
	if why == "error" {
		return
	}
	r.printf("Exiting on %s\nMaximum IOPS=%s\n", why, rate(r.most))
}

// end writes what is known only when the threads have ended. Reads that failed are an error then.
func (r *report) end(g *group) error {
	var failed uint64
	for _, w := range g.workers {
		if failed += w.failed; w.failed > 0 {
			r.printf("%d: %d IO errors\n", w.tid, w.failed)
		}
		if r.cfg.Latency {
			r.printf("%d: Latency percentiles:\n%s", w.tid, latencyText(w.percentiles()))
		}
	}
	if r.cfg.Format == formatJSON {
		r.err = r.document(g)
	}
	if r.err == nil && failed > 0 {
		return fmt.Errorf("%d reads failed", failed)
	}
	return r.err
}

// percentiles are a worker's latencies in nanoseconds, one for each of percentiles; none without a sample.
func (w *worker) percentiles() []uint64 {
	n := w.hist.Count()
	if n == 0 {
		return nil
	}
	list := w.hist.Percentiles(percentiles, n)
	now := clock.Ticks()
	for i, ticks := range list {
		if rate := w.cfg.TSCRate; rate != 0 {
			list[i] = uint64(float64(ticks) * 1e9 / float64(rate))
		} else {
			list[i] = uint64(clock.Nanos(now+ticks) - clock.Nanos(now))
		}
	}
	return list
}

// latencyText is the table of percentiles, in microseconds where none is below 2 and the largest has six digits.
func latencyText(ns []uint64) string {
	if len(ns) == 0 {
		return "    no latencies measured\n"
	}
	least, most := ns[0], ns[len(ns)-1]
	unit, divisor := "nsec", uint64(1)
	if least > 2000 && most > 99999 {
		unit, divisor = "usec", 1000
	}
	width := max(5, len(fmt.Sprint(most/divisor)))
	perLine := (80 - 7) / (4 + 10 + width)
	var b strings.Builder
	fmt.Fprintf(&b, "    percentiles (%s):\n     |", unit)
	for i, v := range ns {
		if i > 0 && i%perLine == 0 {
			b.WriteString("     |")
		}
		fmt.Fprintf(&b, " %7.4fth=[%*d]", percentiles[i], width, (v+divisor-1)/divisor)
		switch {
		case i == len(ns)-1:
			b.WriteString("\n")
		case i%perLine == perLine-1:
			b.WriteString(",\n")
		default:
			b.WriteString(",")
		}
	}
	return b.String()
}

// document writes the JSON report. docs/peak.md tells what its keys mean.
func (r *report) document(g *group) error {
	c := r.cfg
	doc := document{
		Ended: r.why, RuntimeNs: r.elapsed.Nanoseconds(), MaxIOPS: r.most, Seconds: r.seconds, Notes: c.notes,
		Options: flagValues{c.engine(), c.Depth, c.Submit, c.Complete, c.BlockSize, c.Threads, c.Polled, c.FixedBufs,
			c.RegisterFiles, c.Direct, c.Random, c.Vectored, c.Passthrough, c.Nop, c.Latency, c.Restrict, c.Place},
	}
	for _, w := range g.workers {
		t := thread{TID: w.tid, Node: w.node(), IOs: w.done - w.failed, Failed: w.failed, Submitted: w.submitted, Calls: w.calls,
			UserNs: w.usage.User.Nanoseconds(), SysNs: w.usage.Sys.Nanoseconds(), RegisteredRing: w.registered}
		for i := range w.targets {
			t.Files = append(t.Files, w.targets[i].path)
		}
		for i, ns := range w.percentiles() {
			if t.Latency == nil {
				t.Latency = map[string]uint64{}
			}
			t.Latency[fmt.Sprintf("%.6f", percentiles[i])] = ns
		}
		doc.IOs += t.IOs
		doc.Failed += t.Failed
		doc.Threads = append(doc.Threads, t)
	}
	if s := r.elapsed.Seconds(); s > 0 {
		doc.MeanIOPS = math.Round(float64(doc.IOs) / s)
	}
	e := json.NewEncoder(r.out)
	e.SetIndent("", "  ")
	return e.Encode(&doc)
}

type document struct {
	Options   flagValues `json:"options"`
	Ended     string     `json:"ended"`
	RuntimeNs int64      `json:"runtime_ns"`
	IOs       uint64     `json:"ios"`
	Failed    uint64     `json:"failed"`
	MeanIOPS  float64    `json:"mean_iops"`
	MaxIOPS   uint64     `json:"max_iops"`
	Seconds   []second   `json:"seconds"`
	Threads   []thread   `json:"threads"`
	Notes     []string   `json:"notes,omitempty"`
}

type flagValues struct {
	Engine        string `json:"engine"`
	Depth         int    `json:"depth"`
	Submit        int    `json:"submit"`
	Complete      int    `json:"complete"`
	BlockSize     int    `json:"block_size"`
	Threads       int    `json:"threads"`
	Polled        bool   `json:"polled"`
	FixedBufs     bool   `json:"fixed_buffers"`
	RegisterFiles bool   `json:"registered_files"`
	Direct        bool   `json:"direct"`
	Random        bool   `json:"random"`
	Vectored      bool   `json:"vectored"`
	Passthrough   bool   `json:"passthrough"`
	Nop           bool   `json:"nop"`
	Latency       bool   `json:"latency"`
	Restrict      bool   `json:"restricted"`
	Place         bool   `json:"on_device_node"`
}

type thread struct {
	TID            int               `json:"tid"`
	Node           int               `json:"node"`
	Files          []string          `json:"files"`
	IOs            uint64            `json:"ios"`
	Failed         uint64            `json:"failed"`
	Submitted      uint64            `json:"submitted"`
	Calls          uint64            `json:"calls"`
	UserNs         int64             `json:"user_ns"`
	SysNs          int64             `json:"sys_ns"`
	RegisteredRing bool              `json:"registered_ring"`
	Latency        map[string]uint64 `json:"latency_ns,omitempty"`
}
