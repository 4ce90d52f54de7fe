// Package zoned decides where the I/Os of a job with zonemode=zbd go: writes to write pointers, reads to what has been
// written, trims to zones that hold data. It is fio's zonemode=zbd.
//
// It owns the state of the zones, which the jobs on one device share, the limits on zones that are written at once, and
// when a zone is reset or finished. It must not know how I/O is issued or measured; requests to the device go through
// engines.ZoneManager.
package zoned
