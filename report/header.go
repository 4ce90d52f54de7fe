package report

import (
	"fmt"
	"io"
	"strconv"

	"fiord/job"
)

// Header writes the lines before a normal report: one for each section ("..." stands for its clones), the version,
// and how many jobs start.
func Header(w io.Writer, version string, jobs []*job.Job) error {
	var p printer
	threads, processes := 0, 0
	for _, j := range jobs {
		p.headerJob(j)
		if j.Thread {
			threads++
		} else {
			processes++
		}
	}
	p.printf("%s\nStarting %s\n", version, starting(threads, processes))
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write report header: %w", err)
	}
	return nil
}

// starting counts the jobs as they were asked for; fiord runs all of them as threads.
func starting(threads, processes int) string {
	t := fmt.Sprintf("%d thread%s", threads, plural(threads, "s"))
	p := fmt.Sprintf("%d process%s", processes, plural(processes, "es"))
	switch {
	case threads > 0 && processes > 0:
		return t + " and " + p
	case threads > 0:
		return t
	case processes > 0:
		return p
	}
	return ""
}

func plural(n int, ending string) string {
	if n > 1 {
		return ending
	}
	return ""
}

func (p *printer) headerJob(j *job.Job) {
	if j.SubJob > 0 {
		if j.SubJob == 1 {
			p.printf("...\n")
		}
		return
	}
	engine := j.IOEngine
	if j.EngineDoc != nil {
		if j.EngineDoc.Traits.NoIO {
			return
		}
		engine = j.EngineDoc.Name
	}
	sc := newScale(kbBase(j), 0, j.SignificantFigures)
	p.printf("%s: (g=%d): rw=%s, bs=(R) %s, (W) %s, ", j.Name, j.Group, j.RW.Text,
		blockRange(j, job.Read, sc), blockRange(j, job.Write, sc))
	if j.BSIsSeqRand {
		p.printf("bs_is_seq_rand, ")
	} else {
		p.printf("(T) %s, ", blockRange(j, job.Trim, sc))
	}
	p.printf("ioengine=%s, iodepth=%d\n", engine, j.IODepth)
}

// kbBase is 0 where the option says something else than a number, which stands for its default.
func kbBase(j *job.Job) int {
	n, _ := strconv.Atoi(j.KBBase)
	return n
}

// blockRange is the least and the largest block of a direction.
func blockRange(j *job.Job, d job.Dir, sc scale) string {
	low, high := j.BS[d], j.BS[d]
	if r := j.BSRange[d]; r.Max > 0 {
		low, high = r.Min, r.Max
	}
	if split := j.BSSplit[d]; len(split) > 0 {
		low, high = split[0].BS, split[0].BS
		for _, share := range split[1:] {
			low, high = min(low, share.BS), max(high, share.BS)
		}
	}
	return sc.bytes(low) + "-" + sc.bytes(high)
}
