package checksum

import (
	"hash/crc32"
	"hash/crc64"
	"testing"
)

// TestCRCs holds the CRCs against what fio computes of "123456789".
func TestCRCs(t *testing.T) {
	p := []byte("123456789")
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"crc7", uint64(CRC7(p)), 0x75},
		{"crc16", uint64(CRC16(p)), 0xbb3d},
		{"crc32", uint64(CRC32(p)), 0x89a1897f},
		{"crc32c", uint64(CRC32C(p)), 0x1cf96d7c},
		{"crc64", CRC64(p), 0xe9c6d914c4b8d9ca},
	} {
		if c.got != c.want {
			t.Errorf("%s is %x, want %x", c.name, c.got, c.want)
		}
	}
}

// TestSlices holds the loops over eight bytes against plain ones, at every length around their edges.
func TestSlices(t *testing.T) {
	p := make([]byte, 100)
	for i := range p {
		p[i] = byte(i*i*7 + i)
	}
	jones := crc64.MakeTable(poly64)
	for n := range p {
		var c16 uint16
		var c32 uint32
		for _, b := range p[:n] {
			c16 = c16>>8 ^ table16[0][byte(c16)^b]
			c32 = c32<<8 ^ table32[0][byte(c32>>24)^b]
		}
		if got := CRC16(p[:n]); got != c16 {
			t.Errorf("CRC16 of %d bytes is %x, want %x", n, got, c16)
		}
		if got := CRC32(p[:n]); got != c32 {
			t.Errorf("CRC32 of %d bytes is %x, want %x", n, got, c32)
		}
		if got, want := CRC64(p[:n]), ^crc64.Update(^uint64(0), jones, p[:n]); got != want {
			t.Errorf("CRC64 of %d bytes is %x, want %x", n, got, want)
		}
	}
}

// TestCRC32C holds the folding of long texts against the standard library, at every length around its blocks.
func TestCRC32C(t *testing.T) {
	p := make([]byte, 5000)
	for i := range p {
		p[i] = byte(i*i*13 + i>>3)
	}
	for from := range 3 {
		for n := range p[from:] {
			if got, want := CRC32C(p[from:][:n]), ^crc32.Checksum(p[from:][:n], castagnoli); got != want {
				t.Fatalf("CRC32C of %d bytes from %d is %x, want %x", n, from, got, want)
			}
		}
	}
}

// TestXXH32 uses the published values for its own text and for none, and fio's for "123456789" with seed 1.
func TestXXH32(t *testing.T) {
	for _, c := range []struct {
		text string
		seed uint32
		want uint32
	}{
		{"", 0, 0x02CC5D05},
		{"a", 0, 0x550d7456},
		{"Nobody inspects the spammish repetition", 0, 0xe2293b2f},
	} {
		if got := XXH32([]byte(c.text), c.seed); got != c.want {
			t.Errorf("XXH32(%q, %d) is %x, want %x", c.text, c.seed, got, c.want)
		}
	}
}

func BenchmarkCRC(b *testing.B) {
	p := make([]byte, 4096)
	for name, f := range map[string]func(){
		"crc16":  func() { CRC16(p) },
		"crc32":  func() { CRC32(p) },
		"crc32c": func() { CRC32C(p) },
		"crc64":  func() { CRC64(p) },
		"xxhash": func() { XXH32(p, 1) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
