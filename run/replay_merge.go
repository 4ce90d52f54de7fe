package run

import (
	"fmt"
	"strings"

	"fiord/iolog"
	"fiord/job"
)

// MergeTraces merges the blktrace files of each job that asks for it with merge_blktrace_file. It is what a run does
// before anything else; --merge-blktrace-only does no more.
func MergeTraces(jobs []*job.Job) error {
	for _, j := range jobs {
		if j.MergeBlktraceFile == "" || j.SubJob > 0 {
			continue // clones replay what the first of them has merged
		}
		if err := iolog.MergeTraces(j); err != nil {
			return fmt.Errorf("job %q: %w", j.Name, err)
		}
	}
	return nil
}

// mergeTraces makes the jobs that merge traces replay the result.
func (r *runner) mergeTraces() error {
	if err := MergeTraces(r.cfg.Jobs); err != nil {
		return err
	}
	for _, w := range r.workers {
		if f := w.job.MergeBlktraceFile; f != "" {
			w.job.ReadIolog = strings.ReplaceAll(f, ":", `\:`)
		}
	}
	return r.oneReader()
}

// oneReader refuses two jobs that would share standard input.
func (r *runner) oneReader() error {
	first := ""
	for _, w := range r.workers {
		if w.job.ReadIolog == "" || iolog.ReplayPath(w.job) != "-" {
			continue
		}
		if first != "" {
			return fmt.Errorf("job %q: read_iolog=-: standard input is read by job %q already", w.job.Name, first)
		}
		first = w.job.Name
	}
	return nil
}
