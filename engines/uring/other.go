package uring

import (
	"syscall"

	"fiord/engines"
	"fiord/engines/fileop"
	"fiord/engines/uring/ring"
)

// otherEntry writes the entry of a trim or a sync.
func (e *engine) otherEntry(s *ring.SQE, u *engines.IO, fd int32, flags uint8) bool {
	*s = ring.SQE{Fd: fd, Flags: flags, UserData: uint64(u.Index)}
	switch u.Op {
	case engines.Trim:
		s.Opcode = ring.IORING_OP_URING_CMD
		s.Off = ring.BLOCK_URING_CMD_DISCARD // cmd_op
		s.Addr, s.Addr3 = uint64(u.Offset), uint64(u.Len)
	case engines.Sync:
		s.Opcode = ring.IORING_OP_FSYNC
	case engines.DataSync:
		s.Opcode = ring.IORING_OP_FSYNC
		s.OpFlags = ring.IORING_FSYNC_DATASYNC
	case engines.SyncFileRange:
		n := unsynced(u.File)
		if n == 0 || n > maxTransfer {
			return false // nothing to do, or more than the entry's length can say
		}
		s.Opcode = ring.IORING_OP_SYNC_FILE_RANGE
		s.Off, s.Len, s.OpFlags = uint64(u.File.SyncFrom), uint32(n), e.rangeFlags
	}
	return true
}

// unusual sets the result of what is not a successful read or write.
func (e *engine) unusual(u *engines.IO, res int32) {
	u.Done, u.Errno = 0, 0
	if res < 0 {
		u.Errno = syscall.Errno(-res)
	}
	if u.Op != engines.Trim {
		return
	}
	if res < 0 && !e.trimKnown {
		// Older kernels, and devices without the command, refuse the first trim. As fio does, go on without the ring.
		e.outside[engines.Trim] = true
		fileop.Trim(u)
		if u.Errno == 0 {
			e.notice("io_uring: trims are done by system call, because the kernel does not take them through the ring")
		}
		return
	}
	if res >= 0 {
		e.trimKnown = true
		u.Done = u.Len
	}
}

// isOutside reports whether u has to be done without the ring.
func (e *engine) isOutside(u *engines.IO) bool {
	switch {
	case e.outside[u.Op]:
		return true
	case u.Op == engines.SyncFileRange:
		n := unsynced(u.File)
		return n == 0 || n > maxTransfer
	case e.Files && !e.Has(u.File):
		return true
	}
	return false
}

// doOutside does u at once. What is no sync or trim is here because its file could not be registered.
func (e *engine) doOutside(u *engines.IO) {
	switch {
	case u.Op == engines.SyncFileRange && unsynced(u.File) == 0:
		// fio differs: its io_uring engine sends a range that the kernel refuses, and the job ends.
		u.Done, u.Errno = 0, 0
	case u.Op <= engines.Write || !e.outside[u.Op] && u.Op != engines.SyncFileRange:
		u.Done, u.Errno = 0, e.SlotErr
	default:
		fileop.Op(u, e.rangeFlags)
	}
	u.Inline = true
	e.Ended = append(e.Ended, u)
}

// unsynced is the length of the range written since the last sync_file_range. SyncFrom is below 0 when there is none.
func unsynced(f *engines.File) int64 {
	if f.SyncFrom < 0 {
		return 0
	}
	return max(f.SyncTo-f.SyncFrom, 0)
}
