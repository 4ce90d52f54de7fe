package nvme

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlacementCommands(t *testing.T) {
	var c Command
	c.Blocks(OpWrite, 1, 8, 8, FUA)
	c.Direct(DirectivePlacement, 0xabcd)
	want := Command{Opcode: 1, NSID: 1, CDW10: 8, CDW12: 7 | 1<<30 | 2<<20, CDW13: 0xabcd0000}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Command{})); diff != "" {
		t.Error(diff)
	}
	c = ReclaimUnits(3, 0x1000, ReclaimSize(4))
	want = Command{Opcode: 0x12, NSID: 3, Addr: 0x1000, DataLen: 144, CDW10: 1, CDW11: 35}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Command{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseReclaimUnits(t *testing.T) {
	b := make([]byte, ReclaimSize(3))
	binary.LittleEndian.PutUint16(b[14:], 5)
	for i := range 3 {
		binary.LittleEndian.PutUint16(b[16+32*i:], uint16(7+i))
	}
	for size, want := range map[int][]uint16{ReclaimSize(3): {7, 8, 9}, ReclaimSize(1): {7}, ReclaimSize(0): {}, ReclaimSize(2) + 31: {7, 8}} {
		total, ids, err := ParseReclaimUnits(b[:size])
		if diff := cmp.Diff(want, ids); diff != "" || total != 5 || err != nil {
			t.Errorf("%d bytes: %d handles, %v: %s", size, total, err, diff)
		}
	}
	if _, _, err := ParseReclaimUnits(b[:15]); err == nil {
		t.Error("no header at all is an answer")
	}
}

func FuzzParseReclaimUnits(f *testing.F) {
	f.Add(make([]byte, 16))
	f.Add(make([]byte, 80))
	f.Fuzz(func(t *testing.T, b []byte) {
		if total, ids, err := ParseReclaimUnits(b); err == nil && len(ids) > total {
			t.Errorf("%d identifiers of %d handles", len(ids), total)
		}
	})
}

func TestSeparateFormat(t *testing.T) {
	for _, c := range []struct {
		data, meta uint32
		pi         PI
		good       bool
	}{
		{4096, 8, PIAt(1, Guard16, 0, 8), true}, {512, 64, PIAt(3, Guard64, 48, 16), true}, {4096, 8, PIAt(1, Guard16, 1, 8), false},
		{4096, 16, PIAt(1, Guard64, 0, 8), false}, {4095, 8, PIAt(1, Guard16, 0, 8), false}, {0, 8, PIAt(1, Guard16, 0, 8), false},
	} {
		f, err := SeparateFormat(c.data, c.meta, c.pi)
		if (err == nil) != c.good || err == nil && (f.LBA(uint64(c.data)*3) != 3 || f.Block != c.data) {
			t.Errorf("%+v: %+v, %v", c, f, err)
		}
	}
}
