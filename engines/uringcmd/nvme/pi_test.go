package nvme

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestGuards(t *testing.T) {
	check := []byte("123456789")
	if got := CRC16(0, check); got != 0xd0db {
		t.Errorf("CRC16: %#x", got)
	}
	if got := CRC64(0, check); got != 0xae8b14860a799888 {
		t.Errorf("CRC64: %#x", got)
	}
	// Vectors of the NVM Command Set specification for 4096 bytes.
	ramp := make([]byte, 4096)
	for i := range ramp {
		ramp[i] = byte(i)
	}
	for _, c := range []struct {
		data []byte
		want uint64
	}{
		{make([]byte, 4096), 0x6482d367eb22b64e},
		{bytes.Repeat([]byte{0xff}, 4096), 0xc0ddba7302eca3ac},
		{ramp, 0x3e729f5f6750449c},
	} {
		if got := CRC64(0, c.data); got != c.want {
			t.Errorf("CRC64 of %x...: %#x, want %#x", c.data[:4], got, c.want)
		}
	}
	for cut := range 20 { // in two parts, whatever their lengths
		if CRC16(CRC16(0, ramp[:cut]), ramp[cut:]) != CRC16(0, ramp) || CRC64(CRC64(0, ramp[:cut]), ramp[cut:]) != CRC64(0, ramp) {
			t.Errorf("cut at %d: the parts do not make the whole", cut)
		}
	}
}

var all = Checks{Flags: PRInfoChkGuard | PRInfoChkApp | PRInfoChkRef, AppTag: 0x1234, AppMask: 0xffff}

func formats() map[string]Format {
	f := map[string]Format{}
	for _, n := range []Namespace{
		{DataSize: 512, MetaSize: 8, PIType: 1, PISize: 8},
		{DataSize: 4096, MetaSize: 64, PIType: 2, PISize: 8},
		{DataSize: 4096, MetaSize: 64, PIType: 1, PISize: 8, PIFirst: true},
		{DataSize: 512, MetaSize: 8, PIType: 3, PISize: 8, Extended: true},
		{DataSize: 4096, MetaSize: 64, PIType: 1, PISize: 8, Extended: true},
		{DataSize: 4096, MetaSize: 16, PIType: 1, PISize: 16, Guard: Guard64},
		{DataSize: 4096, MetaSize: 32, PIType: 2, PISize: 16, Guard: Guard64, Extended: true},
	} {
		f[fmt.Sprintf("%d+%d type %d guard %d extended=%v first=%v", n.DataSize, n.MetaSize, n.PIType, n.Guard, n.Extended, n.PIFirst)] = n.Format(false)
	}
	return f
}

// buffers are n blocks of f, filled.
func buffers(f *Format, n int) (data, meta []byte) {
	data = make([]byte, n*int(f.Block))
	if !f.Extended {
		meta = make([]byte, n*int(f.Meta))
	}
	for i := range data {
		data[i] = byte(i * 7)
	}
	for i := range meta {
		meta[i] = byte(i * 5)
	}
	return data, meta
}

func TestWhatIsMadePasses(t *testing.T) {
	const start = 1<<32 - 1 // the reference tag of 16-bit guards wraps around
	for name, f := range formats() {
		data, meta := buffers(&f, 3)
		f.Generate(&all, data, meta, start)
		if err := f.Check(&all, data, meta, start); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var e *PIError
		if err := f.Check(&all, data, meta, start+1); f.PI.Type != 3 && (!errors.As(err, &e) || e.Field != "reference tag") {
			t.Errorf("%s: at another LBA: %v", name, err)
		}
		other := all
		other.AppTag = 0x1235
		if err := f.Check(&other, data, meta, start); !errors.As(err, &e) || e.Field != "application tag" {
			t.Errorf("%s: with another application tag: %v", name, err)
		}
		if other.AppMask = 0xfffe; f.Check(&other, data, meta, start) != nil {
			t.Errorf("%s: a bit of the application tag that is masked out counts", name)
		}
		data[len(data)-int(f.Block)] ^= 1
		if err := f.Check(&all, data, meta, start); !errors.As(err, &e) || e.Field != "guard" || e.LBA != start+2 {
			t.Errorf("%s: with a bit of the data flipped: %v", name, err)
		}
		if err := f.Check(&Checks{Flags: PRInfoChkApp | PRInfoChkRef, AppTag: 0x1234, AppMask: 0xffff}, data, meta, start); err != nil {
			t.Errorf("%s: the guard counts although it is not to be checked: %v", name, err)
		}
	}
}

// TestUnprotectedBlocksPass sets the tags that switch checking off.
func TestUnprotectedBlocksPass(t *testing.T) {
	for name, f := range formats() {
		data, meta := buffers(&f, 1)
		b := f.blockAt(0, data, meta)
		for i := range b.pi {
			b.pi[i] = 0xff
		}
		if err := f.Check(&all, data, meta, 9); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLayoutOfProtection(t *testing.T) {
	n := Namespace{DataSize: 512, MetaSize: 8, PIType: 1, PISize: 8}
	f := n.Format(false)
	meta := make([]byte, 8)
	f.Generate(&all, make([]byte, 512), meta, 0x1_89abcdef)
	if want := []byte{0, 0, 0x12, 0x34, 0x89, 0xab, 0xcd, 0xef}; !bytes.Equal(meta, want) {
		t.Errorf("16-bit guard: % x, want % x", meta, want)
	}
	n = Namespace{DataSize: 4096, MetaSize: 16, PIType: 1, PISize: 16, Guard: Guard64}
	f = n.Format(false)
	meta = make([]byte, 16)
	f.Generate(&all, make([]byte, 4096), meta, 0x7601_89abcdef)
	want := []byte{0x64, 0x82, 0xd3, 0x67, 0xeb, 0x22, 0xb6, 0x4e, 0x12, 0x34, 0x76, 0x01, 0x89, 0xab, 0xcd, 0xef}
	if !bytes.Equal(meta, want) {
		t.Errorf("64-bit guard: % x, want % x", meta, want)
	}
}

func BenchmarkGuards(b *testing.B) {
	p := make([]byte, 4096)
	b.Run("16", func(b *testing.B) {
		b.SetBytes(int64(len(p)))
		for b.Loop() {
			CRC16(0, p)
		}
	})
	b.Run("64", func(b *testing.B) {
		b.SetBytes(int64(len(p)))
		for b.Loop() {
			CRC64(0, p)
		}
	})
}
