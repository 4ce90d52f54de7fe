package iolog

import (
	"errors"
	"os"

	"fiord/job"
)

// AggLogs are the logs of --bandwidth-log: what all jobs together moved, a file for each direction.
type AggLogs struct{ dirs [job.NDirs]*Series }

// NewAggLogs opens PREFIX-read_bw.log, PREFIX-write_bw.log and PREFIX-trim_bw.log; an empty prefix is "agg".
func NewAggLogs(prefix string) (*AggLogs, error) {
	l := &AggLogs{}
	for d, path := range AggPaths(prefix) {
		f, err := openFile(path, os.O_TRUNC)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.dirs[d] = newSeries(f, config{entries: defaultEntries})
	}
	return l, nil
}

// AggPaths are the files that NewAggLogs opens, one a direction.
func AggPaths(prefix string) (paths [job.NDirs]string) {
	if prefix == "" {
		prefix = "agg"
	}
	for d := range job.Dir(job.NDirs) {
		paths[d] = prefix + "-" + d.String() + "_bw.log"
	}
	return paths
}

// defaultEntries is log_entries of a log that belongs to no job.
const defaultEntries = 1024

// Add records the rates in KiB/s, ms milliseconds after the run began.
func (l *AggLogs) Add(ms int64, rates [job.NDirs]uint64) {
	for d, s := range l.dirs {
		s.Add(ms*1e6, rates[d], job.Dir(d), 0, 0, 0, 0)
	}
}

// Close writes what is left and closes the files.
func (l *AggLogs) Close() error {
	var errs []error
	for d := range l.dirs {
		errs = append(errs, closeSeries(&l.dirs[d], 0))
	}
	return errors.Join(errs...)
}
