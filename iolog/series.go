package iolog

import (
	"strconv"

	"fiord/job"
)

// Window says what a line of an averaging log holds: the average of its window, the largest value, or both.
type Window uint8

// The values of log_window_value.
const (
	Average Window = iota
	Maximum
	Both
)

// config is what one series is made from.
type config struct {
	avgMs   int64 // log_avg_msec; 0: a line for each value
	window  Window
	entries int // log_entries: records in a chunk

	offset, prio, issue bool // further columns

	compress int   // bytes of records that are compressed together (log_compression); 0: none are
	store    bool  // leave the file compressed
	cpus     []int // where compression runs; empty: anywhere

	// slack allows a window that is read by a timer to end up to 1 ms early, because timers are not exact.
	slack bool
}

// point is one record.
type point struct {
	ms      int64
	value   uint64
	peak    uint64 // the second value of log_window_value=both
	bs      uint64
	offset  uint64
	issueNs int64
	prio    uint16
	dir     job.Dir
}

const pointBytes = 64

// Series is one log of values over time. It is used by one goroutine.
type Series struct {
	cfg    config
	start  int64 // clock value that times count from, ns
	epoch  int64 // added to the times written, ms
	queue  *queue[point]
	window [job.NDirs]window
}

// window is what came since the last line of an averaging log.
type window struct {
	n, sum, peak uint64
	lastMs       int64 // when the window began, on a multiple of log_avg_msec
}

func newSeries(f *file, cfg config) *Series {
	s := &Series{cfg: cfg}
	entries := max(cfg.entries, 1)
	var out sink[point] = newTextSink(f, entries, pointBytes, s.cfg.line)
	if cfg.compress > 0 {
		out = &packedSink{file: f, cfg: cfg, limit: cfg.compress, store: cfg.store, cpus: cfg.cpus}
	}
	s.queue = newQueue(f, entries, out)
	return s
}

// PerIO reports whether the log has a line for each I/O, which the worker adds. Bandwidth and IOPS logs that average
// are fed by the sampler of the helper goroutine instead.
func (s *Series) PerIO() bool { return s.cfg.avgMs == 0 }

// Begin sets when time 0 is, as a clock.Now value, and what is added to the times written, in ms (log_alternate_epoch).
// What came before, as in a ramp, is forgotten unless it is written already.
func (s *Series) Begin(now, epochMs int64) {
	s.start, s.epoch = now, epochMs
	s.window = [job.NDirs]window{}
}

// Add records a value. now and issued are clock.Now values; bs, offset, prio and issued appear in logs that do not
// average and have such a column. It returns the milliseconds until a window ends, 0 where nothing is averaged.
func (s *Series) Add(now int64, value uint64, dir job.Dir, bs, offset uint64, prio uint16, issued int64) int64 {
	ms := (now - s.start) / 1e6
	if s.cfg.avgMs != 0 {
		return s.average(ms, value, dir)
	}
	p := s.queue.next()
	*p = point{ms: ms + s.epoch, value: value, dir: dir, bs: bs, offset: offset, prio: prio}
	if issued != 0 {
		p.issueNs = max(issued-s.start, 0)
	}
	return 0
}

// average adds value to its window and ends the window when its time is over (fio's add_log_sample).
func (s *Series) average(ms int64, value uint64, dir job.Dir) int64 {
	w := &s.window[dir]
	w.n++
	w.sum += value
	w.peak = max(w.peak, value)
	left := w.lastMs + s.cfg.avgMs - ms
	if left > 1 || left == 1 && !s.cfg.slack {
		return left
	}
	s.flush(dir, ms)
	w.lastMs = ms - ms%s.cfg.avgMs
	return s.cfg.avgMs
}

// flush writes the line of a window that has values.
func (s *Series) flush(dir job.Dir, ms int64) {
	w := &s.window[dir]
	if w.n == 0 {
		return
	}
	mean := (w.sum + w.n/2) / w.n
	p := s.queue.next()
	*p = point{ms: ms + s.epoch, value: mean, peak: w.peak, dir: dir}
	if s.cfg.window == Maximum {
		p.value = w.peak
	}
	w.n, w.sum, w.peak = 0, 0, 0
}

// Close ends the windows still open as of now, a clock.Now value, writes what is left and closes the file. Its error is
// the first that any write met.
func (s *Series) Close(now int64) error {
	ms := (now - s.start) / 1e6
	for d := range s.window {
		s.flush(job.Dir(d), ms)
	}
	return s.queue.close()
}

// line formats one record (fio's flush_samples): time, value, second value, direction, block size, offset, priority,
// issue time.
func (c *config) line(b []byte, p *point) []byte {
	b = strconv.AppendInt(b, p.ms, 10)
	b = field(b, p.value)
	if c.window == Both {
		b = field(b, p.peak)
	}
	b = field(b, uint64(p.dir))
	b = field(b, p.bs)
	if c.offset {
		b = field(b, p.offset)
	}
	switch {
	case c.prio:
		b = append(b, ", 0x"...)
		for shift := 12; shift >= 0; shift -= 4 {
			b = append(b, "0123456789abcdef"[p.prio>>shift&15])
		}
	case p.prio>>13 == classRealtime:
		b = append(b, ", 1"...)
	default:
		b = append(b, ", 0"...)
	}
	if c.issue {
		b = field(b, uint64(p.issueNs))
	}
	return append(b, '\n')
}

// classRealtime is IOPRIO_CLASS_RT, the three top bits of a priority.
const classRealtime = 1

func field(b []byte, v uint64) []byte {
	b = append(b, ", "...)
	return strconv.AppendUint(b, v, 10)
}
