// Package scsi is as much of the SCSI block commands as sending I/O to a disk takes: command blocks, the capacity, sense
// data, and the structures in which Linux takes commands for /dev/bsg.
//
// It owns the bytes of commands. It must not know how they are sent, nor jobs.
package scsi
