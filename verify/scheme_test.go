package verify

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"
)

func TestNewRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"name=v rw=write verify=pattern":                                            "verify=pattern needs verify_pattern",
		"name=v rw=write verify=sha512 bs=4k verify_interval=128":                   "no room behind its header of 176 bytes",
		"name=v rw=write verify=sha512 bs=4k verify_offset=100":                     "verify_offset=100: the header of verify=sha512 has 176 bytes: want 176 to 3920",
		"name=v rw=write verify=sha512 bs=1k verify_interval=512 verify_offset=400": "want 176 to 336",
	} {
		if _, err := New(loadJob(t, args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
}

// TestRoundTrip fills and checks blocks of many shapes.
func TestRoundTrip(t *testing.T) {
	for _, args := range []string{
		"bs=4k", "bs=16k verify_interval=4k", "bs=4k verify_offset=1024", "bs=4k verify_interval=1k verify_offset=256",
		"bs=4k verify_pattern=0xdeadbeef", `bs=4k verify_pattern="abc"%o12`, "bs=8k verify_interval=2k verify_pattern=%o",
		"bs=8k verify_pattern=%o0x11 verify_pattern_interval=512", "bs=8k verify_interval=1k verify_pattern=%o0x11 verify_pattern_interval=3000",
		"bs=4k buffer_compress_percentage=40", `bs=4k buffer_compress_percentage=40 buffer_pattern="xy"`, "bs=512",
	} {
		for kind := range types {
			args := "name=v rw=write verify=" + kind + " " + args
			j := loadJob(t, args)
			s, err := New(j)
			if err != nil {
				if !strings.HasPrefix(kind, "pattern") {
					t.Errorf("%s: %v", args, err)
				}
				continue
			}
			b := &Block{Buf: make([]byte, j.BS[1]), File: "f", Offset: 81920, NumberIO: 7, Time: 5e9 + 3}
			if s.Random() {
				b.Seed = 0x123456789abcdef
			}
			s.Fill(b)
			if s.Check(b, func(f *Failure) { t.Errorf("%s: %v", args, f) }) {
				t.Errorf("%s: refused", args)
			}
		}
	}
}

// TestCloneIsIndependent makes sure that two goroutines do not share what a check writes to.
func TestCloneIsIndependent(t *testing.T) {
	s, _ := newScheme(t, "name=v rw=write verify=pattern verify_pattern=%o0x11 bs=4k")
	done := make(chan bool)
	for i := range 2 {
		go func() {
			c := s.Clone()
			bad := false
			b := &Block{Buf: make([]byte, 4096), Offset: int64(i * 4096)}
			for range 100 {
				c.Fill(b)
				bad = bad || c.Check(b, func(*Failure) {})
			}
			done <- bad
		}()
	}
	first, second := <-done, <-done
	if first || second {
		t.Error("a block was refused")
	}
}

// TestMessages holds what is printed against fio's words.
func TestMessages(t *testing.T) {
	s, j := newScheme(t, "name=v rw=write verify=md5 bs=4k size=8k")
	data := make([]byte, 8192)
	blocks(j, data, func(b *Block) { s.Fill(b) })
	for _, c := range []struct {
		at   int
		want string
	}{
		{4096, "verify: bad magic header acda, wanted acca at file data.bin offset 4096, length 4096 (requested block: offset=4096, length=4096)"},
		{4096 + 2, "verify: unsupported header version 91, wanted 81. Are you trying to verify across versions of fio? at file data.bin offset 4096, length 4096 (requested block: offset=4096, length=4096)"},
		{4096 + 4, "verify: bad header length 4112, wanted 4096 at file data.bin offset 4096, length 4096 (requested block: offset=4096, length=4096)"},
		{4096 + 16, "verify: bad header offset 4112, wanted 4096 at file data.bin offset 4096, length 4096 (requested block: offset=4096, length=4096)"},
		{4096 + 32, "verify: bad header numberio 17, wanted 1 at file data.bin offset 4096, length 4096 (requested block: offset=4096, length=4096)"},
		{8000, "md5: verify failed at file data.bin offset 4096, length 4096 (requested block: offset=4096, length=4096, flags=0)\n       Expected CRC: "},
	} {
		hurt := bytes.Clone(data)
		hurt[c.at] ^= 0x10
		all, _ := check(s, j, hurt)
		if len(all) != 1 || !strings.HasPrefix(all[0].Error(), c.want) {
			t.Errorf("byte %d: got %v, want %q", c.at, all, c.want)
		}
		if !errors.Is(all[0], syscall.EILSEQ) {
			t.Errorf("byte %d: the failure is not EILSEQ", c.at)
		}
	}
	s, j = newScheme(t, "name=v rw=write verify=pattern verify_pattern=0xab bs=4k size=4k")
	data = bytes.Repeat([]byte{0xab}, 4096)
	data[4000] = 0xa8
	all, _ := check(s, j, data)
	want := "fio: got pattern 'a8', wanted 'ab'. Bad bits 2\nfio: bad pattern block offset 4000\n" +
		"pattern: verify failed at file data.bin offset 0, length 4096 (requested block: offset=0, length=4096, flags=0)"
	if len(all) != 1 || all[0].Error() != want {
		t.Errorf("got %v, want %s", all, want)
	}
}

// TestDump checks both sides of a failure: what was read, and what was written.
func TestDump(t *testing.T) {
	for _, args := range []string{"verify=md5 bs=4k", "verify=md5 bs=8k verify_interval=4k verify_offset=512", "verify=pattern bs=4k verify_pattern=%o"} {
		s, j := newScheme(t, "name=v rw=write size=16k "+args)
		data := make([]byte, 16384)
		blocks(j, data, func(b *Block) { s.Fill(b) })
		hurt := bytes.Clone(data)
		hurt[16000] ^= 1
		blocks(j, bytes.Clone(hurt), func(b *Block) {
			s.Check(b, func(f *Failure) {
				got, want := s.Dump(b, f)
				if !bytes.Equal(got, hurt[f.Offset:f.Offset+int64(f.Length)]) {
					t.Errorf("%s: what was received is not what was read", args)
				}
				if !bytes.Equal(want, data[f.Offset:f.Offset+int64(f.Length)]) {
					t.Errorf("%s: what was expected is not what was written", args)
				}
			})
		})
	}
}

func TestCheckZero(t *testing.T) {
	b := &Block{Buf: make([]byte, 4096), File: "f", Offset: 8192}
	if f := CheckZero(b); f != nil {
		t.Error(f)
	}
	b.Buf[77] = 1
	const want = "verify failed for zeroed data at file f offset 8192, length 4096, block offset 77"
	if f := CheckZero(b); f == nil || f.Error() != want {
		t.Errorf("got %v, want %s", f, want)
	}
}

// TestNoAllocations: neither filling nor checking good data allocates.
func TestNoAllocations(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates")
	}
	for kind := range types {
		s, j := newScheme(t, "name=v rw=write bs=4k verify_pattern=%o verify="+kind)
		b := &Block{Buf: make([]byte, j.BS[1])}
		found := func(*Failure) {}
		s.Fill(b)
		s.Check(b, found)
		if n := testing.AllocsPerRun(20, func() {
			s.Fill(b)
			s.Check(b, found)
		}); n > 0 {
			t.Errorf("%s: %v allocations", kind, n)
		}
	}
}

func BenchmarkFillAndCheck(b *testing.B) {
	for _, kind := range []string{"crc32c", "md5", "sha256", "xxhash", "pattern"} {
		s, j := newScheme(b, "name=v rw=write bs=4k verify_interval=4k verify="+kind+map[bool]string{true: " verify_pattern=0xab12"}[kind == "pattern"])
		block := &Block{Buf: make([]byte, j.BS[1]), Seed: 42}
		b.Run("fill "+kind, func(b *testing.B) {
			b.SetBytes(4096)
			for b.Loop() {
				s.Fill(block)
			}
		})
		b.Run("check "+kind, func(b *testing.B) {
			b.SetBytes(4096)
			for b.Loop() {
				s.Check(block, func(f *Failure) { b.Fatal(f) })
			}
		})
	}
}
