package nvme

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestZoned(t *testing.T) {
	n := Namespace{NSID: 1, Blocks: 1 << 17, formatIdx: 1}
	b := make([]byte, IdentifySize)
	binary.LittleEndian.PutUint32(b[4:], 13)
	binary.LittleEndian.PutUint32(b[8:], 0xffffffff)
	if _, err := n.Zoned(b); err == nil {
		t.Error("zones of no size are taken")
	}
	binary.LittleEndian.PutUint64(b[2816+16:], 4096)
	got, err := n.Zoned(b)
	if diff := cmp.Diff(ZonedNamespace{ZoneSize: 4096, MaxActive: 14}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := n.Zoned(b[:100]); !errors.Is(err, ErrShort) {
		t.Error(err)
	}
	b[0] = 5
	if most, err := AppendLimit(b); most != 128<<10 || err != nil {
		t.Error(most, err)
	}
	if _, err := AppendLimit(nil); !errors.Is(err, ErrShort) {
		t.Error(err)
	}
}

// FuzzReport: whatever a drive reports, no zone is made up.
func FuzzReport(f *testing.F) {
	b := make([]byte, ReportHead+2*ReportZone)
	b[0], b[64], b[65] = 9, 2, 0xe0
	f.Add(b)
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		zones := make([]Zone, 3)
		n, err := ParseReport(b, zones)
		if err != nil {
			return
		}
		if n > len(zones) || ReportHead+n*ReportZone > len(b) {
			t.Errorf("%d zones from %d bytes", n, len(b))
		}
	})
}

func TestZoneCommands(t *testing.T) {
	want := Command{Opcode: 0x7a, NSID: 3, Addr: 0x1000, DataLen: 128, CDW10: 5, CDW11: 2, CDW12: 31, CDW13: 1 << 16}
	if diff := cmp.Diff(want, ReportZones(3, 2<<32|5, 0x1000, 128), cmp.AllowUnexported(Command{})); diff != "" {
		t.Error(diff)
	}
	want = Command{Opcode: 0x79, NSID: 3, CDW10: 7, CDW11: 1, CDW13: 4}
	if diff := cmp.Diff(want, ZoneManage(3, 1<<32|7, ZoneReset), cmp.AllowUnexported(Command{})); diff != "" {
		t.Error(diff)
	}
}
