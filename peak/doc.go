// Package peak measures how many reads a second one CPU can get out of devices: the work and the flags of fio's
// t/io_uring, which kernel developers measure with.
//
// It owns the flags, a loop that does nothing but reads, and the lines and the document that tell of it. It never
// writes. It must not know of jobs and their options; rings, commands and drives are those of the engines.
//
// One worker is one goroutine on a thread of its own. Everything it needs exists before the first I/O; its counters are
// published about once a system call, and read once a second.
package peak
