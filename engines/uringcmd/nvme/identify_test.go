package nvme

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded reads testdata/identify.txt, what emulated drives answered: a line "= device answer" before each, then the
// lines that are not all zero, with their offsets.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/identify.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	var at []byte
	for line := range strings.Lines(string(text)) {
		a, b, _ := strings.Cut(strings.TrimSpace(line), " ")
		if a == "=" {
			at = make([]byte, IdentifySize)
			all[b] = at
			continue
		}
		off, err := strconv.ParseUint(a, 16, 12)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hex.Decode(at[off:], []byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func namespace(t testing.TB, name string) Namespace {
	t.Helper()
	all := recorded(t)
	c, err := ParseController(all[name+" ctrl"])
	if err != nil {
		t.Fatal(err)
	}
	n, err := ParseNamespace(1, all[name+" ns"])
	if err != nil {
		t.Fatal(err)
	}
	if c.Formats {
		if err := n.ExtendedFormat(all[name+" csi_ns"]); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestController(t *testing.T) {
	all := recorded(t)
	got, err := ParseController(all["ng0n1 ctrl"])
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Limits(all["ng0n1 csi_ctrl"]); err != nil {
		t.Fatal(err)
	}
	want := Controller{Serial: "lab-plain512", Model: "QEMU NVMe Ctrl", Firmware: "7.2.22", Version: 0x10400,
		MaxTransfer: 512 << 10, Formats: true, Compare: true, DSM: true, WriteZeroes: true, WriteCache: true,
		MaxVerify: 512 << 10, MaxRange: 0x3fffff}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNamespace(t *testing.T) {
	for _, c := range []struct {
		name string
		want Namespace
	}{
		{"ng0n1", Namespace{NSID: 1, Blocks: 1 << 21, DataSize: 512}},
		{"ng1n1", Namespace{NSID: 1, Blocks: 130816, DataSize: 4096, MetaSize: 8, PIType: 1, PISize: 8}},
		{"ng2n1", Namespace{NSID: 1, Blocks: 1 << 17, DataSize: 4096}},
		{"ng3n1", Namespace{NSID: 1, Blocks: 1 << 17, DataSize: 4096}},
		{"ng4n1", Namespace{NSID: 1, Blocks: 65408, DataSize: 4096, MetaSize: 8, Extended: true, PIType: 1, PISize: 8}},
		{"ng5n1", Namespace{NSID: 1, Blocks: 65280, DataSize: 4096, MetaSize: 16, PIType: 1, Guard: Guard64, PISize: 16}},
	} {
		got := namespace(t, c.name)
		got.formatIdx = 0
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(Namespace{})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		name        string
		act         bool
		block, meta uint32
		extended    bool
		size        uint64
	}{
		{"ng0n1", true, 512, 0, false, 1 << 30},
		{"ng1n1", true, 4096, 0, false, 130816 * 4096},
		{"ng1n1", false, 4096, 8, false, 130816 * 4096},
		{"ng4n1", true, 4096, 0, false, 65408 * 4096},
		{"ng4n1", false, 4104, 8, true, 65408 * 4104},
		{"ng5n1", true, 4096, 0, false, 65280 * 4096},
		{"ng5n1", false, 4096, 16, false, 65280 * 4096},
	} {
		n := namespace(t, c.name)
		f := n.Format(c.act)
		if f.Block != c.block || f.Meta != c.meta || f.Extended != c.extended || n.Size(&f) != c.size {
			t.Errorf("%s act=%v: %+v, size %d; want %+v", c.name, c.act, f, n.Size(&f), c)
		}
		block := uint64(c.block)
		if f.LBA(7*block) != 7 || !f.Aligned(3*block, block) || f.Aligned(3*block+1, block) || f.Aligned(block, block/2) {
			t.Errorf("%s act=%v: blocks of %d are counted wrong", c.name, c.act, block)
		}
	}
}

// TestFormatIndex uses the upper bits of FLBAS, which only count where there are more than 16 formats.
func TestFormatIndex(t *testing.T) {
	b := make([]byte, IdentifySize)
	b[26] = 0x21 | 0x10 // format 1, or 17; extended
	copy(b[128+4*1:], []byte{8, 0, 9, 0})
	copy(b[128+4*17:], []byte{64, 0, 12, 0})
	for formats, want := range map[byte]Namespace{
		15: {NSID: 7, DataSize: 512, MetaSize: 8, Extended: true, formatIdx: 1},
		16: {NSID: 7, DataSize: 4096, MetaSize: 64, Extended: true, formatIdx: 17},
	} {
		b[25] = formats
		got, err := ParseNamespace(7, b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Namespace{})); diff != "" {
			t.Errorf("%d formats: %s", formats, diff)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	n := namespace(t, "ng5n1")
	csi := make([]byte, IdentifySize)
	for elbaf, want := range map[uint32]string{
		1 << 7:      "guards of type 1",
		3 << 7:      "guards of type 3",
		2<<7 | 0x10: "storage tags of 16 bits",
	} {
		at := 12 + 4*n.formatIdx
		csi[at], csi[at+1] = byte(elbaf), byte(elbaf>>8)
		if err := n.ExtendedFormat(csi); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%#x: %v, want %q", elbaf, err, want)
		}
	}
	narrow := namespace(t, "ng1n1")
	clear(csi)
	csi[12+4*narrow.formatIdx+1] = 1 // a guard of 64 bits
	if err := narrow.ExtendedFormat(csi); err == nil || !strings.Contains(err.Error(), "cannot hold 16") {
		t.Errorf("16 bytes of protection information in 8 of metadata: %v", err)
	}
	if _, err := ParseNamespace(1, make([]byte, IdentifySize)); err == nil {
		t.Error("an inactive namespace, all zeros, has a format")
	}
	if _, err := ParseNamespace(1, nil); err == nil {
		t.Error("no data make a namespace")
	}
	if _, err := ParseController(nil); err == nil {
		t.Error("no data make a controller")
	}
}

// FuzzIdentify must neither panic nor make a format whose protection information lie outside of its blocks.
func FuzzIdentify(f *testing.F) {
	for name, b := range recorded(f) {
		if strings.HasSuffix(name, " ns") {
			f.Add(b[:512], []byte{0, 1}, true)
		}
	}
	f.Fuzz(func(t *testing.T, ns, csi []byte, act bool) {
		a, b := make([]byte, IdentifySize), make([]byte, IdentifySize)
		copy(a, ns)
		copy(b[12:], csi)
		n, err := ParseNamespace(1, a)
		if err != nil || n.ExtendedFormat(b) != nil {
			return
		}
		format := n.Format(act)
		if format.Block > 1<<20 {
			return
		}
		c := Checks{Flags: PRInfoChkGuard | PRInfoChkApp | PRInfoChkRef, AppTag: 1, AppMask: 0xffff}
		if !format.Host(&c) {
			return
		}
		data := make([]byte, 2*format.Block)
		var meta []byte
		if !format.Extended {
			meta = make([]byte, 2*format.Meta)
		}
		format.Generate(&c, data, meta, 5)
		if err := format.Check(&c, data, meta, 5); err != nil {
			t.Errorf("%+v: what was made does not pass: %v", format, err)
		}
	})
}
