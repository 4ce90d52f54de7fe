package scsi

import (
	"encoding/hex"
	"strings"
	"testing"
	"unsafe"
)

func TestCommandBlocks(t *testing.T) {
	var list [UnmapSize]byte
	for _, c := range []struct {
		name   string
		length int // of what is looked at
		set    func(*CDB)
		want   string
	}{
		{"read 10", 10, func(c *CDB) { c.Blocks(Read, 10, 0x12345678, 0x9abc, 0) }, "28 00 12345678 00 9abc 00"},
		{"write 10", 10, func(c *CDB) { c.Blocks(Write, 10, 1, 2, FUA) }, "2a 08 00000001 00 0002 00"},
		{"verify 10", 10, func(c *CDB) { c.Blocks(Verify, 10, 1, 2, Bytchk(3)) }, "2f 06 00000001 00 0002 00"},
		{"prefetch 10", 10, func(c *CDB) { c.Blocks(Prefetch, 10, 1, 2, 0) }, "34 00 00000001 00 0002 00"},
		{"read 16", 16, func(c *CDB) { c.Blocks(Read, 16, 0x123456789a, 0xbcdef, FUA) }, "88 08 000000123456789a 000bcdef 0000"},
		{"write 16", 16, func(c *CDB) { c.Blocks(Write, 16, 1, 2, 0) }, "8a 00 0000000000000001 00000002 0000"},
		{"verify 16", 16, func(c *CDB) { c.Blocks(Verify, 16, 1, 2, Bytchk(1)) }, "8f 02 0000000000000001 00000002 0000"},
		{"prefetch 16", 16, func(c *CDB) { c.Blocks(Prefetch, 16, 1, 2, 0) }, "90 00 0000000000000001 00000002 0000"},
		{"read 32", 32, func(c *CDB) { c.Blocks(Read, 32, 5, 6, FUA) },
			"7f 000000000000 18 0009 08 00 0000000000000005 00000000 00000000 00000006"},
		{"write 32", 32, func(c *CDB) { c.Blocks(Write, 32, 5, 6, 0) },
			"7f 000000000000 18 000b 00 00 0000000000000005 00000000 00000000 00000006"},
		{"verify 32", 32, func(c *CDB) { c.Blocks(Verify, 32, 5, 6, Bytchk(1)) },
			"7f 000000000000 18 000a 02 00 0000000000000005 00000000 00000000 00000006"},
		{"flush 10", 10, func(c *CDB) { c.SyncCache(10) }, "35 00 00000000 00 0000 00"},
		{"flush 16", 16, func(c *CDB) { c.SyncCache(32) }, "91 00 0000000000000000 00000000 0000"},
		{"unmap", 10, func(c *CDB) { c.Unmap(&list, 0x1122334455, 0x66) }, "42 00 00000000 00 0018 00"},
		{"capacity", 10, func(c *CDB) { c.ReadCapacity(false) }, "25 00 00000000 00 0000 00"},
		{"large capacity", 16, func(c *CDB) { c.ReadCapacity(true) }, "9e 10 0000000000000000 00000020 0000"},
	} {
		cdb := CDB{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
		c.set(&cdb)
		if got, want := hex.EncodeToString(cdb[:c.length]), strings.ReplaceAll(c.want, " ", ""); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
	if got := hex.EncodeToString(list[:]); got != "00160010000000000000001122334455"+"0000006600000000" {
		t.Errorf("list of the unmap: %s", got)
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		lba, n uint64
		want   int
	}{{0, 1, 10}, {1<<32 - 1, 1<<16 - 1, 10}, {1 << 32, 1, 16}, {0, 1 << 16, 16}} {
		if got := Fit(c.lba, c.n); got != c.want {
			t.Errorf("%d blocks from %d: %d bytes, want %d", c.n, c.lba, got, c.want)
		}
	}
	for _, c := range []struct {
		length    int
		most, end uint64
		good      bool
	}{{10, 65535, 1 << 32, true}, {10, 65536, 1, false}, {10, 1, 1<<32 + 1, false}, {0, 1 << 31, 1 << 40, true}, {16, 1 << 32, 1, false}} {
		if err := Check(c.length, c.most, c.end); (err == nil) != c.good {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestCapacity(t *testing.T) {
	for _, c := range []struct {
		text   string
		large  bool
		blocks uint64
		size   uint32
		good   bool
	}{
		{"0001ffff00000200", false, 131072, 512, true},
		{"ffffffff00000200", false, 0, 512, true},
		{"00000001ffffffff00001000", true, 1 << 33, 4096, true},
		{"0001ffff00000000", false, 0, 0, false},
		{"0001ffff00000201", false, 0, 0, false},
		{"ffffffffffffffff00000200", true, 0, 0, false},
	} {
		b := make([]byte, CapacitySize)
		if _, err := hex.Decode(b, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		blocks, size, err := ParseCapacity(b, c.large)
		if (err == nil) != c.good && blocks != 0 || err == nil && c.good && (blocks != c.blocks || size != c.size) {
			t.Errorf("%s: %d blocks of %d bytes, %v", c.text, blocks, size, err)
		}
	}
	if _, _, err := ParseCapacity(nil, true); err == nil {
		t.Error("no answer at all is a capacity")
	}
}

func TestDescribe(t *testing.T) {
	fixed := append([]byte{0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x21, 0}, make([]byte, 50)...)
	descriptors := append([]byte{0x72, 0x0e, 0x1d, 0}, make([]byte, 60)...)
	for _, c := range []struct {
		status Status
		sense  []byte
		want   string
	}{
		{2, fixed, "SCSI status: check condition (0x02), illegal request, logical block address out of range (key 0x5, asc 0x21, ascq 0x00)"},
		{2, descriptors, "SCSI status: check condition (0x02), miscompare, miscompare during verify (key 0xe, asc 0x1d, ascq 0x00)"},
		{2, nil, "SCSI status: check condition (0x02)"},
		{8, fixed, "SCSI status: busy (0x08)"},
		{3 << 16, nil, "host status: 0x03"},
		{1 << 8, nil, "status 0x100"},
	} {
		if got := Describe(c.status, c.sense); got != c.want {
			t.Errorf("%#x: %s, want %s", uint32(c.status), got, c.want)
		}
	}
}

// TestLayout checks offsets against linux/bsg.h.
func TestLayout(t *testing.T) {
	var c Command
	var r Request
	for name, got := range map[string][2]uintptr{
		"response": {unsafe.Offsetof(c.Response), 24}, "dout_xferp": {unsafe.Offsetof(c.DoutXferp), 32},
		"din_xferp": {unsafe.Offsetof(c.DinXferp), 48}, "timeout_ms": {unsafe.Offsetof(c.TimeoutMs), 64},
		"v4 request": {unsafe.Offsetof(r.Request), 16}, "v4 response": {unsafe.Offsetof(r.Response), 48},
		"v4 dout_xferp": {unsafe.Offsetof(r.DoutXferp), 72}, "v4 timeout": {unsafe.Offsetof(r.Timeout), 88},
		"v4 device_status": {unsafe.Offsetof(r.DeviceStatus), 116}, "v4 generated_tag": {unsafe.Offsetof(r.GeneratedTag), 144},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is at %d, want %d", name, got[0], got[1])
		}
	}
}

func FuzzDescribe(f *testing.F) {
	f.Add(uint32(2), []byte{0x70, 0, 5})
	f.Add(uint32(2), make([]byte, 64))
	f.Fuzz(func(t *testing.T, status uint32, sense []byte) {
		if Describe(Status(status), sense) == "" {
			t.Error("nothing said")
		}
	})
}
