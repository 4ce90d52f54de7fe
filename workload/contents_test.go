package workload

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"fiord/engines"
	"fiord/job"
)

// contentsJobs loads a job from options with blanks between them, and its clones.
func contentsJobs(t testing.TB, args string) []*job.Job {
	t.Helper()
	l := job.Loader{Engines: []job.EngineDecl{{Name: "psync", Traits: job.Traits{Sync: true}}}}
	for _, a := range strings.Fields("name=x " + args) {
		name, value, given := strings.Cut(a, "=")
		if err := l.SetOption(name, value, given); err != nil {
			t.Fatalf("%s: %v", a, err)
		}
	}
	jobs, _, _, err := l.Load()
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return jobs
}

func contentsJob(t testing.TB, args string) *job.Job {
	t.Helper()
	return contentsJobs(t, args)[0]
}

// contentsCase is a file that fio 3.42 wrote for a job.
type contentsCase struct {
	Name, Args string
	Sums       map[string]string // SHA-256 of each file, by name
}

// TestContentsAsFio writes what the fillers make of each recorded job and compares it to the files that fio left.
func TestContentsAsFio(t *testing.T) {
	data, err := os.ReadFile("testdata/contents.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []contentsCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for name, got := range replay(t, c.Args) {
				sum := sha256.Sum256(got)
				if hex.EncodeToString(sum[:]) != c.Sums[name] {
					t.Errorf("%s: contents differ from fio's; they start % x", name, got[:16])
				}
			}
		})
	}
}

// replay makes the files of a job with sequential writes, or of one that reads and has its files laid out.
func replay(t *testing.T, args string) map[string][]byte {
	files := map[string][]byte{}
	all := contentsJobs(t, args)
	for i, j := range all {
		f, err := NewFiller(j, all...)
		if err != nil {
			t.Fatal(err)
		}
		for n := range j.NrFiles {
			size := int(j.Size.Value) / j.NrFiles
			clone := (len(all) - i) % len(all) // fio numbers the files of clones downwards
			files[fmt.Sprintf("x.%d.%d", clone, n)] = replayFile(f, j, size)
		}
	}
	return files
}

func replayFile(f *Filler, j *job.Job, size int) []byte {
	data := make([]byte, size)
	bs := int(j.BS[job.Write])
	if j.RW.Read || j.Overwrite {
		for at := 0; at < size; at += bs {
			f.Block(data[at:min(at+bs, size)], int64(at))
		}
	}
	if !j.RW.Write {
		return data
	}
	buf := make([]byte, bs+100) // arenas pad buffers
	f.Init(buf)
	buf = buf[:bs]
	for pass := range max(j.Loops, 1) {
		if pass > 0 {
			f.NextPass()
		}
		for at := 0; at+bs <= size; at += bs {
			if f.PerIO() {
				f.Fill(&engines.IO{Op: engines.Write, Buf: buf, Offset: int64(at)})
			}
			copy(data[at:], buf)
		}
	}
	return data
}

// TestCompressRatio checks that data compresses as far as was asked, within what a real compressor can tell.
func TestCompressRatio(t *testing.T) {
	for _, c := range []struct {
		args   string
		lo, hi float64 // bounds of compressed size to size
	}{
		{"refill_buffers=1", 0.99, 1.01},
		{"buffer_compress_percentage=50", 0.48, 0.54},
		{"buffer_compress_percentage=80 buffer_compress_chunk=4k", 0.18, 0.23},
		{"buffer_compress_percentage=25 buffer_compress_chunk=4k", 0.73, 0.78},
		{"buffer_compress_percentage=100", 0, 0.01},
		{"zero_buffers=1", 0, 0.01},
	} {
		data := replay(t, "rw=write size=4m bs=64k "+c.args)["x.0.0"]
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := float64(packed.Len()) / float64(len(data)); got < c.lo || got > c.hi {
			t.Errorf("%s: compresses to %.3f, want %.2f to %.2f", c.args, got, c.lo, c.hi)
		}
	}
}

// TestDuplicateRatio counts blocks that repeat another one.
func TestDuplicateRatio(t *testing.T) {
	for _, c := range []struct {
		args   string
		lo, hi float64 // bounds of duplicate blocks to blocks
	}{
		{"refill_buffers=1", 0, 0},
		{"dedupe_percentage=25", 0.22, 0.28},
		{"dedupe_percentage=80", 0.77, 0.83},
		{"dedupe_percentage=100", 0.99, 1},
		{"dedupe_percentage=50 dedupe_mode=working_set dedupe_working_set_percentage=5", 0.45, 0.55},
		{"dedupe_percentage=60 buffer_compress_percentage=50", 0.55, 0.65},
	} {
		data := replay(t, "rw=write size=16m bs=4k "+c.args)["x.0.0"]
		seen := map[string]bool{}
		for at := 0; at < len(data); at += 4096 {
			seen[string(data[at:at+4096])] = true
		}
		blocks := len(data) / 4096
		if got := float64(blocks-len(seen)) / float64(blocks); got < c.lo || got > c.hi {
			t.Errorf("%s: %.3f of the blocks are duplicates, want %.2f to %.2f", c.args, got, c.lo, c.hi)
		}
	}
}

func TestPerIO(t *testing.T) {
	for _, c := range []struct {
		args string
		want bool
	}{
		{"rw=write", true}, // scrambled
		{"rw=read", false},
		{"rw=trim", false},
		{"rw=write scramble_buffers=0", false},
		{"rw=write zero_buffers=1", false},
		{"rw=write refill_buffers=1 scramble_buffers=0", true},
		{`rw=write buffer_pattern="abc"`, false},
		{`rw=rw buffer_pattern="abc"`, true}, // reads overwrite the pattern
		{"rw=write buffer_compress_percentage=50", true},
		{"rw=write dedupe_percentage=50", true},
	} {
		f, err := NewFiller(contentsJob(t, "size=1m "+c.args))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.PerIO(); got != c.want {
			t.Errorf("%s: PerIO() = %v, want %v", c.args, got, c.want)
		}
	}
}

// TestScramble checks where the words go, and that nothing else changes.
func TestScramble(t *testing.T) {
	buf := make([]byte, 1024+100)
	scramble(buf, 4096+2, 3, 4) // (4^4098)&7 = 6: the seventh line
	want := make([]byte, len(buf))
	for block, off := range []uint64{4098, 4098 + 512} {
		p := want[block*512:]
		p[6*64], p[6*64+1] = byte(off), byte(off>>8)
		p[48], p[56] = 3, 4
	}
	if !bytes.Equal(buf, want) {
		t.Errorf("scrambled buffer is wrong:\n% x", buf[:512])
	}
}

// TestPatternFormat checks that %o becomes the offset of the I/O, in the first copy and in the repeats.
func TestPatternFormat(t *testing.T) {
	j := &job.Job{Number: 1}
	j.RW.Write = true
	j.MinBS = job.PerDir[uint64]{4096, 4096, 4096}
	j.BufferPattern = job.Pattern{Bytes: []byte("ab........"), Formats: []job.PatternFormat{{Kind: 'o', Offset: 2}}}
	f, err := NewFiller(j)
	if err != nil {
		t.Fatal(err)
	}
	if !f.PerIO() {
		t.Fatal("a pattern with an offset must be made anew for each write")
	}
	u := &engines.IO{Op: engines.Write, Buf: make([]byte, 25), Offset: 0x1122}
	f.Fill(u)
	one := "ab\x22\x11\x00\x00\x00\x00\x00\x00"
	if want := (one + one + one)[:25]; string(u.Buf) != want {
		t.Errorf("buffer is % x, want % x", u.Buf, want)
	}
}

func TestWorkingSetTooLarge(t *testing.T) {
	j := contentsJob(t, "rw=write bs=512 size=1p dedupe_percentage=5 dedupe_mode=working_set dedupe_working_set_percentage=95")
	if _, err := NewFiller(j); err == nil {
		t.Error("a working set of 10^12 pages was accepted")
	}
}

func BenchmarkFill(b *testing.B) {
	for _, c := range []struct{ name, args string }{
		{"random", "refill_buffers=1"},
		{"zero", "zero_buffers=1 refill_buffers=1"},
		{"pattern", "buffer_pattern=0xdeadbeef refill_buffers=1"},
		{"compress", "buffer_compress_percentage=50"},
		{"dedupe", "dedupe_percentage=50"},
		{"scramble", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, err := NewFiller(contentsJob(b, "size=1m rw=write "+c.args))
			if err != nil {
				b.Fatal(err)
			}
			u := &engines.IO{Op: engines.Write, Buf: make([]byte, 4096)}
			b.SetBytes(int64(len(u.Buf)))
			b.ReportAllocs()
			for b.Loop() {
				f.Fill(u)
			}
		})
	}
}
