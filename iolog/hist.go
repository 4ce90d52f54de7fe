package iolog

import (
	"strconv"

	"fiord/job"
	"fiord/stats"
)

// HistLog is the log of write_hist_log: how completion latencies spread, every log_hist_msec. It is used by one
// goroutine.
type HistLog struct {
	everyMs int64 // log_hist_msec; 0: no lines
	stride  int   // buckets summed into one column
	start   int64 // clock value that times count from, ns
	epoch   int64 // added to the times written, ms
	lastMs  [job.NDirs]int64
	since   [job.NDirs]stats.Hist // latencies since the last line
	queue   *queue[histPoint]
}

// histPoint is one line.
type histPoint struct {
	ms     int64
	bs     uint64
	dir    job.Dir
	counts stats.Hist
}

func newHistLog(f *file, everyMs int64, coarseness int) *HistLog {
	l := &HistLog{everyMs: everyMs, stride: 1 << coarseness}
	const lines = 16
	l.queue = newQueue(f, lines, newTextSink(f, lines, stats.HistBuckets*8, l.line))
	return l
}

// Begin sets when time 0 is, as a clock.Now value, and what is added to the times written, in ms. What came before and
// is not written yet is forgotten.
func (l *HistLog) Begin(now, epochMs int64) {
	l.start, l.epoch = now, epochMs
	l.lastMs, l.since = [job.NDirs]int64{}, [job.NDirs]stats.Hist{}
}

// Add counts the completion latency ns of an I/O of bs bytes that ended at now, a clock.Now value. The first I/O after
// a period ends makes the period's line.
func (l *HistLog) Add(now int64, ns uint64, dir job.Dir, bs uint64) {
	if l.everyMs == 0 {
		return
	}
	h := &l.since[dir]
	h.Add(ns)
	ms := (now - l.start) / 1e6
	if l.lastMs[dir] == 0 {
		l.lastMs[dir] = ms // fio counts the first period from the first completion
	}
	if ms-l.lastMs[dir] < l.everyMs {
		return
	}
	l.lastMs[dir] += l.everyMs
	p := l.queue.next()
	p.ms, p.bs, p.dir, p.counts = ms+l.epoch, bs, dir, *h
	*h = stats.Hist{}
}

// Close writes what is left and closes the file. Its error is the first that any write met. Latencies since the last
// line are not written, as with fio.
func (l *HistLog) Close() error { return l.queue.close() }

// line formats one record (fio's flush_hist_samples): time, direction, block size, then the columns.
func (l *HistLog) line(b []byte, p *histPoint) []byte {
	b = strconv.AppendInt(b, p.ms, 10)
	b = field(b, uint64(p.dir))
	b = field(b, p.bs)
	for i := 0; i < stats.HistBuckets; i += l.stride {
		var n uint64
		for _, c := range p.counts.Buckets[i : i+l.stride] {
			n += c
		}
		b = field(b, n)
	}
	return append(b, '\n')
}
