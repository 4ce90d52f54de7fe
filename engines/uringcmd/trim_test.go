package uringcmd

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/engines/uringcmd/nvme"
)

func TestTrimOfSeveralRanges(t *testing.T) {
	j := jobOf("t", 4096)
	j.NumRange = 3
	e, w := openOn(t, drive(t, "ng0n1", nil), 2, defaults(), j)
	u := w.IOs[1]
	u.Op, u.Offset, u.Len = engines.Trim, 8192, 4096+512+8192
	e.SetRanges(u, []engines.Range{{Offset: 4096, Len: 4096}, {Offset: 1 << 20, Len: 512}, {Offset: 8192, Len: 8192}})
	for range 2 { // the second time as when the kernel had no room for it
		_, c, ok := command(t, e, u)
		if !ok || c.Opcode != nvme.OpDSM || c.CDW10 != 2 || c.CDW11 != 4 || c.DataLen != 48 || c.Addr != e.ranges.At(3) {
			t.Errorf("trim: %+v", c)
		}
	}
	want := []nvme.Range{{Start: 8, Blocks: 8}, {Start: 2048, Blocks: 1}, {Start: 16, Blocks: 16}}
	if diff := cmp.Diff(want, e.rangesOf(u)); diff != "" {
		t.Error(diff)
	}
	e.trimmed(u)
	u.Len = 4096
	if _, c, ok := command(t, e, u); !ok || c.CDW10 != 0 || c.DataLen != 16 || e.rangesOf(u)[0] != (nvme.Range{Start: 16, Blocks: 8}) {
		t.Errorf("a trim of one range after that: %+v, %+v", c, e.rangesOf(u)[0])
	}
	e.SetRanges(u, []engines.Range{{Offset: 4096, Len: 4096}, {Offset: 100, Len: 4096}})
	if _, _, ok := command(t, e, u); ok {
		t.Error("a range inside of a block is sent")
	}
	if e.doOutside(u); u.Errno != syscall.EINVAL || e.several[1] != 0 {
		t.Errorf("%v, %d ranges left", u.Errno, e.several[1])
	}
}

// TestVerificationTrims trims in a job that does not trim by itself.
func TestVerificationTrims(t *testing.T) {
	j := jobOf("w", 4096)
	j.TrimPercentage, j.NumRange = 50, 4
	e, w := openOn(t, drive(t, "ng0n1", nil), 1, defaults(), j)
	w.IOs[0].Op = engines.Trim
	if _, c, ok := command(t, e, w.IOs[0]); !ok || c.CDW10 != 0 {
		t.Errorf("%+v, %v", c, ok)
	}
	plain, w := openOn(t, drive(t, "ng0n1", nil), 1, defaults(), jobOf("w", 4096))
	w.IOs[0].Op = engines.Trim
	if _, _, ok := command(t, plain, w.IOs[0]); ok {
		t.Error("a job without trims has room for ranges")
	}
}

func TestCompareCommand(t *testing.T) {
	j := jobOf("rw", 4096)
	j.Verify = "pattern"
	e, w := openOn(t, drive(t, "ng0n1", nil), 1, with(func(o *Options) { o.VerifyMode = "compare" }), j)
	u := w.IOs[0]
	u.Op, u.Offset = engines.Read, 8192
	if _, c, ok := command(t, e, u); !ok || c.Opcode != nvme.OpRead {
		t.Errorf("a plain read: %+v", c)
	}
	u.Compare = true
	if _, c, ok := command(t, e, u); !ok || c.Opcode != nvme.OpCompare || c.DataLen != 4096 || c.CDW10 != 16 || c.CDW12 != 7 {
		t.Errorf("a compare: %+v", c)
	}
	e.failed(u, 0x4285)
	if got := e.DecodeError(u).Error(); got != "NVMe status: compare failure (sct=0x02; sc=0x85; do not retry)" {
		t.Error(got)
	}
}
