// Package ring is io_uring on bare system calls: entries, constants, set-up, memory order, enter and register.
//
// It owns the kernel's binary interface and the memory shared with it. It must not know what the entries are for:
// nothing of jobs, files or reports is in it. Constants keep the kernel's spelling and say since which Linux they
// exist.
//
// A Ring belongs to one thread. Entries are written in place (SQE), published with one release store (Publish),
// handed over (Submit), and completions are read in place (CQE) and given back with one release store (Advance).
// Indices run freely through 2^32 and are only ever subtracted from one another.
package ring
