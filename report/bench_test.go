package report

import (
	"fmt"
	"io"
	"testing"
	"time"

	"fiord/stats"
)

// BenchmarkManyJobs renders the reports of 512 jobs, each with three full histograms a direction.
func BenchmarkManyJobs(b *testing.B) {
	r := &Result{Version: "fio-3.42-fiord-0.1.0", Time: time.Unix(0, 0), Final: true}
	var jobs []*stats.Job
	for i := range 512 {
		j := &stats.Job{Name: fmt.Sprint("j", i), Number: i + 1, Opt: stats.Show{ClatPct: true, LatPct: true, SlatPct: true}}
		for d := range j.Dirs {
			for _, l := range []*stats.Latency{&j.Dirs[d].Slat, &j.Dirs[d].Clat, &j.Dirs[d].Lat} {
				l.Hist = new(stats.Hist)
				for n := range uint64(1000) {
					l.Add(n * n * 100)
					l.Hist.Add(n * n * 100)
				}
			}
			j.Dirs[d].IOs, j.Dirs[d].Bytes, j.Dirs[d].Runtime = 1000, 4096000, 1000
		}
		jobs = append(jobs, j)
	}
	for _, f := range []Format{JSON, JSONPlus, Normal, Terse} {
		b.Run(string(f), func(b *testing.B) {
			for b.Loop() {
				rows, groups := stats.BuildGroups(jobs)
				r.Jobs, r.Groups = nil, groups
				for _, row := range rows {
					r.Jobs = append(r.Jobs, Job{Job: *row})
				}
				if err := Write(io.Discard, r, Options{Formats: []Format{f}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
