package uringcmd

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/engines/uringcmd/nvme"
	"fiord/job"
)

// placed is a job whose writes are placed, with fio's default seed.
func placed(kind, choice string, ids ...int) *job.Job {
	j := jobOf("rw", 4096)
	j.Dataplacement, j.PLIDSelect, j.PLIDs = kind, choice, ids
	j.RandSeed, j.RandRepeat, j.Number = 0x89, true, 1
	return j
}

// TestPlacementIsFios compares with what fio 3.42 gave these writes, in two passes of a job with plids=10-12,40,11.
func TestPlacementIsFios(t *testing.T) {
	scheme := filepath.Join(t.TempDir(), "scheme")
	if err := os.WriteFile(scheme, []byte("0,8192,3\n4096,65536,9\n131072,262144,65535\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	places := []int64{0x8000, 0x1000, 0x3000, 0x4000, 0x20000, 0x10000}
	for choice, want := range map[string][]uint16{
		"random":     {11, 10, 12, 11, 11, 12, 11, 10, 12, 11, 11, 12},
		"roundrobin": {10, 11, 11, 12, 40, 10, 11, 11, 12, 40, 10, 11},
		"scheme":     {9, 3, 9, 9, 65535, 0, 9, 3, 9, 9, 65535, 0},
	} {
		j := placed("streams", choice, 10, 11, 11, 12, 40)
		j.DPScheme = scheme
		e, w := openOn(t, drive(t, "ng3n1", withDirectives), 2, defaults(), j)
		var got []uint16
		for i := range want {
			if i == len(places) {
				e.NextPass()
			}
			u := w.IOs[i%2]
			u.Op, u.Offset = engines.Write, places[i%len(places)]
			_, first, _ := command(t, e, u)
			_, again, ok := command(t, e, u) // as when the kernel had no room for it
			if !ok || first.CDW13 != again.CDW13 || again.CDW12 != 1<<20 {
				t.Errorf("%s: dword 12 %#x, dword 13 %#x, then %#x", choice, again.CDW12, first.CDW13, again.CDW13)
			}
			got = append(got, uint16(again.CDW13>>16))
			e.place.done(u)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", choice, diff)
		}
		w.IOs[0].Op = engines.Read
		if _, c, _ := command(t, e, w.IOs[0]); c.CDW12 != 0 || c.CDW13 != 0 {
			t.Errorf("%s: a read is placed: %+v", choice, c)
		}
	}
}

func withDirectives(answer string, b []byte) {
	if answer == "ctrl" {
		b[256] |= 1 << 5
	}
}

func withPlacement(answer string, b []byte) {
	if answer == "ctrl" {
		b[98] |= 1 << 3
	}
}

// handles lets the drive have n reclaim unit handles, whose identifiers are 100 and so on; below 0 it refuses with a status.
func handles(s *system, n int) *system {
	inner := s.ioctl
	s.ioctl = func(fd int, request uint, arg unsafe.Pointer) (int, syscall.Errno) {
		c := (*nvme.Command)(arg)
		if request != nvme.NVME_IOCTL_IO_CMD {
			return inner(fd, request, arg)
		}
		if n < 0 || c.Opcode != 0x12 || c.CDW10 != 1 || c.CDW11 != c.DataLen/4-1 || c.NSID != 1 {
			return 0x4029, 0
		}
		b := unsafe.Slice((*byte)(unsafe.Add(nil, c.Addr)), c.DataLen)
		binary.LittleEndian.PutUint16(b[14:], uint16(n))
		for i := range n {
			if at := 16 + 32*i; at+32 <= len(b) {
				binary.LittleEndian.PutUint16(b[at:], uint16(100+i))
			}
		}
		return 0, 0
	}
	return s
}

func TestReclaimUnitHandles(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		ids   []int
		want  []uint16
		wrong string
	}{
		{"all", 3, nil, []uint16{100, 101, 102}, ""},
		{"some", 8, []int{1, 5, 5}, []uint16{101, 105, 105}, ""},
		{"none", 0, nil, nil, "no reclaim unit handles"},
		{"too few", 4, []int{1, 4}, nil, "has 4 reclaim unit handles"},
		{"many", 300, []int{299}, []uint16{399}, ""},
		{"refused", -1, nil, nil, "is flexible data placement enabled"},
	} {
		s := handles(drive(t, "ng3n1", withPlacement), c.n)
		j := placed("fdp", "roundrobin", c.ids...)
		d, err := s.device(&engines.File{Name: "/dev/null", Kind: engines.Char}, j, defaults())
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.identifiers(d, j)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
			}
		} else if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
	s := handles(drive(t, "ng3n1", withPlacement), 200)
	e, w := openOn(t, s, 1, defaults(), placed("fdp", "roundrobin"))
	if n := len(e.place.files[0].ids); n != mostIDs {
		t.Errorf("%d of 200 handles are used, fio uses %d", n, mostIDs)
	}
	w.IOs[0].Op = engines.Write
	if _, c, _ := command(t, e, w.IOs[0]); c.CDW12 != 2<<20 || c.CDW13 != 100<<16 {
		t.Errorf("dword 12 %#x, dword 13 %#x", c.CDW12, c.CDW13)
	}
}

func TestReadScheme(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"0,4096,1\n\n 4096 , 8192 , 2 \n": "",
		"":                                "no line",
		"0,4096\n":                        ":1: want from,to,number",
		"0,4096,1\nx,1,1\n":               ":2: want from,to,number",
		"0,4096,65536":                    "got \"0,4096,65536\"",
		"0,1,2,3":                         "want from,to,number",
		strings.Repeat("0", 1<<17):        "token too long",
	} {
		path := filepath.Join(dir, "scheme")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readScheme(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "gone"), "/dev/zero"} {
		if _, err := readScheme(path); err == nil {
			t.Errorf("%s is taken for a scheme", path)
		}
	}
}

func FuzzPlacement(f *testing.F) {
	for _, seed := range []string{"0,4096,1", "", ",,", "1,2,3,4", "-1,2,3", "18446744073709551615,0,65535"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parsePlacement(text); err == nil && strings.Count(text, ",") != 2 {
			t.Errorf("%q is taken", text)
		}
	})
}
