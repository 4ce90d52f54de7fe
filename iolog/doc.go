// Package iolog writes what happened in time: the I/Os of a job as an iolog that can be replayed (write_iolog), and its
// latencies, bandwidth and IOPS as series (write_lat_log and its kin), all in fio's formats. It also reads what is to be
// replayed (read_iolog): iologs and blktrace files, which it merges, too.
//
// It owns file names, line formats, averaging windows and the buffers in between. It must not know how I/O is issued or
// what a report shows. Workers record without locks and without allocation; files are written when a job ends, or by a
// goroutine of their own once a log grows large.
package iolog
