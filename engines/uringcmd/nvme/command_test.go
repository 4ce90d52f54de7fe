package nvme

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

func TestCommands(t *testing.T) {
	pi := Namespace{NSID: 3, DataSize: 4096, MetaSize: 16, PIType: 1, PISize: 16, Guard: Guard64}
	f := pi.Format(false)
	for _, c := range []struct {
		name string
		make func(*Command)
		want Command
	}{
		{"read", func(c *Command) { c.Blocks(OpRead, 3, 0x5_00000006, 8, FUA) },
			Command{Opcode: 2, NSID: 3, CDW10: 6, CDW11: 5, CDW12: 7 | 1<<30}},
		{"write zeroes", func(c *Command) { c.Blocks(OpWriteZeroes, 3, 9, MaxBlocks, Deallocate) },
			Command{Opcode: 8, NSID: 3, CDW10: 9, CDW12: 0xffff | 1<<25}},
		{"flush", func(c *Command) { c.Flush(3) }, Command{NSID: 3}},
		{"deallocate", func(c *Command) { c.DeallocateRanges(3, 0x1000, 2) },
			Command{Opcode: 9, NSID: 3, Addr: 0x1000, DataLen: 32, CDW10: 1, CDW11: 4}},
		{"protected", func(c *Command) {
			c.Blocks(OpWrite, 3, 0x7_00000006, 1, 0)
			all.Command(&f, c, 0x7_00000006)
		}, Command{Opcode: 1, NSID: 3, CDW10: 6, CDW11: 7, CDW12: 7 << 26, CDW14: 6, CDW3: 7, CDW15: 0xffff1234}},
		{"identify", func(c *Command) { *c = Identify(3, CNSNamespaceCSI, CSIZNS, 0x2000) },
			Command{Opcode: 6, NSID: 3, Addr: 0x2000, DataLen: 4096, CDW10: 5, CDW11: 2 << 24}},
	} {
		var got Command
		c.make(&got)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(Command{})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestLayout checks offsets and request numbers against linux/nvme_ioctl.h.
func TestLayout(t *testing.T) {
	var c Command
	for name, got := range map[string][2]uintptr{
		"nsid": {unsafe.Offsetof(c.NSID), 4}, "metadata": {unsafe.Offsetof(c.Metadata), 16}, "addr": {unsafe.Offsetof(c.Addr), 24},
		"metadata_len": {unsafe.Offsetof(c.MetadataLen), 32}, "data_len": {unsafe.Offsetof(c.DataLen), 36},
		"cdw10": {unsafe.Offsetof(c.CDW10), 40}, "cdw15": {unsafe.Offsetof(c.CDW15), 60}, "timeout_ms": {unsafe.Offsetof(c.TimeoutMs), 64},
		"NVME_IOCTL_ID": {NVME_IOCTL_ID, 0x4e40}, "NVME_IOCTL_ADMIN_CMD": {NVME_IOCTL_ADMIN_CMD, 0xc0484e41},
		"NVME_IOCTL_IO_CMD": {NVME_IOCTL_IO_CMD, 0xc0484e43}, "NVME_URING_CMD_IO": {NVME_URING_CMD_IO, 0xc0484e80},
		"NVME_URING_CMD_IO_VEC": {NVME_URING_CMD_IO_VEC, 0xc0484e81},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is %#x, want %#x", name, got[0], got[1])
		}
	}
}

func TestStatus(t *testing.T) {
	for s, want := range map[Status]string{
		0x4080: "LBA out of range (sct=0x00; sc=0x80; do not retry)",
		0x282:  "end-to-end guard check error (sct=0x02; sc=0x82)",
		0x7aa:  "vendor specific (sct=0x07; sc=0xaa)",
		0x0ff:  "unknown status (sct=0x00; sc=0xff)",
	} {
		if got := s.String(); got != want {
			t.Errorf("%#x: %q, want %q", uint16(s), got, want)
		}
	}
}
