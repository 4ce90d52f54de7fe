// Package nvme is the NVMe command set as a passthrough user meets it: commands, what identify tells, protection
// information, and status codes as text.
//
// It owns the layouts and rules of the NVM Express specifications (Base 2.0, NVM Command Set 1.0) and the structures by
// which Linux takes commands. It makes no system calls and must not know of rings, jobs or files.
package nvme
