package stats

import "math/bits"

// MarkDepth counts n I/Os issued while depth I/Os were in flight, these included.
func (j *Job) MarkDepth(depth int, n uint64) {
	j.Depth[min(max(bits.Len(uint(depth)), 1)-1, 6)] += n
}

// MarkSubmit counts a submit of n I/Os.
func (j *Job) MarkSubmit(n int) {
	j.Submit[batchClass(n)]++
	j.Submits++
}

// MarkComplete counts a reap of n I/Os.
func (j *Job) MarkComplete(n int) {
	j.Complete[batchClass(n)]++
	j.Reaps++
}

// batchClass is the class of a batch: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
func batchClass(n int) int {
	if n <= 0 {
		return 0
	}
	return min(max(bits.Len(uint(n-1))-1, 1), 6)
}

// latClass is the class of latencies that ends above v, which is below 1000: below 2, 4, 10, 20, 50, 100, 250, 500, 750,
// 1000. Comparing costs less than the cache line of a table, which each system call may have evicted.
func latClass(v uint64) int {
	if v < 50 {
		switch {
		case v < 2:
			return 0
		case v < 4:
			return 1
		case v < 10:
			return 2
		case v < 20:
			return 3
		}
		return 4
	}
	switch {
	case v < 100:
		return 5
	case v < 250:
		return 6
	case v < 500:
		return 7
	case v < 750:
		return 8
	}
	return 9
}

// MarkLatency counts one completion latency in ns.
func (j *Job) MarkLatency(ns uint64) { j.MarkLatencies(ns, 1) }

// MarkLatencies counts n completion latencies of ns each in the distribution of latencies. fio counts the completion latency
// of data I/Os here, and nothing with disable_clat.
func (j *Job) MarkLatencies(ns, n uint64) {
	switch {
	case ns < 1e3:
		j.LatNs[latClass(ns)] += n
	case ns < 1e6:
		j.LatUs[latClass(ns/1e3)] += n
	case ns < 1e9:
		j.LatMs[latClass(ns/1e6)] += n
	case ns < 2e9:
		j.LatMs[10] += n
	default:
		j.LatMs[11] += n
	}
}

// TotalIOs is the number of data I/Os in all directions.
func (j *Job) TotalIOs() uint64 {
	var n uint64
	for i := range j.Dirs {
		n += j.Dirs[i].IOs
	}
	return n
}

// Percent turns a distribution of depths or batches into percent of total. What happened at all is at least 0.1.
func Percent(counts [7]uint64, total uint64) (p [7]float64) {
	shares(p[:], counts[:], total, 0.1)
	return p
}

// LatPercent turns the distribution of latencies into percent of the data I/Os. What happened at all is at least 0.01.
func (j *Job) LatPercent() (ns, us [10]float64, ms [12]float64) {
	total := j.TotalIOs()
	shares(ns[:], j.LatNs[:], total, 0.01)
	shares(us[:], j.LatUs[:], total, 0.01)
	shares(ms[:], j.LatMs[:], total, 0.01)
	return ns, us, ms
}

// TerseLatUs is the microsecond part of the distribution as the terse format has it, which knows no nanoseconds: all
// latencies below a microsecond are in the first class.
func (j *Job) TerseLatUs() [10]float64 {
	_, us, _ := j.LatPercent()
	var below uint64
	for _, n := range j.LatNs {
		below += n
	}
	if total := j.TotalIOs(); total != 0 {
		us[0] += 100 * float64(below) / float64(total)
	}
	return us
}

func shares(p []float64, counts []uint64, total uint64, least float64) {
	for i, n := range counts {
		if total == 0 || n == 0 {
			continue
		}
		p[i] = max(float64(n)/float64(total)*100, least)
	}
}
