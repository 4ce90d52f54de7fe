package uringcmd

import (
	"fiord/engines"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/nvme"
)

// isPlain reports whether reads and writes are just that: nothing of them is drawn, checked, placed or asynchronous, so
// that writePlain may write their entries.
func (e *engine) isPlain() bool {
	for _, d := range e.devices {
		if d != nil && d.fmt.Meta != 0 {
			return false
		}
	}
	return !e.compare && e.append == nil && e.place == nil && e.draw == nil && !e.protect && !e.vectored && e.meta == nil &&
		e.o.ForceAsync <= 0 && nvme.MovesData(e.writes[0].opcode)
}

// writePlain writes the entries of the plain reads and writes that ios begins with, all of the same file, and reports
// how many. What it leaves is for entry.
func (e *engine) writePlain(ios []*engines.IO) int {
	if len(ios) == 0 {
		return 0
	}
	f := ios[0].File
	if f.Index >= len(e.devices) || e.devices[f.Index] == nil || e.Files && !e.Has(f) {
		return 0
	}
	d := e.devices[f.Index]
	fd, flags := int32(f.Fd), uint8(0)
	if e.Files {
		fd, flags = int32(f.Index), ring.IOSQE_FIXED_FILE
	}
	opcodes := [2]uint8{nvme.OpRead, e.writes[0].opcode}
	dword12 := [2]uint32{e.readFlags, e.writes[0].flags}
	for i, u := range ios {
		n, at := uint64(len(u.Buf)), uint64(u.Offset)
		if u.Op > engines.Write || u.File != f || n == 0 || !d.fmt.Aligned(at, n) {
			return i
		}
		s := e.R.SQE128(uint32(i))
		*s = ring.SQE128{}
		s.Opcode, s.Flags, s.Fd = ring.IORING_OP_URING_CMD, flags, fd
		s.Off = nvme.NVME_URING_CMD_IO
		s.UserData = uint64(u.Index)
		if e.Fixed {
			s.OpFlags, s.BufIndex = ring.IORING_URING_CMD_FIXED, e.BufIndex[u.Index]
		}
		c := nvme.At(s.Command())
		c.Blocks(opcodes[u.Op&1], d.ns.NSID, d.fmt.LBA(at), uint32(d.fmt.LBA(n)), dword12[u.Op&1])
		c.Addr, c.DataLen = queue.Addr(u.Buf), uint32(n)
	}
	return len(ios)
}
