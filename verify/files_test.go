package verify

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiord/job"
	"fiord/workload"
)

// loadJob loads one job from command-line options with blanks between them.
func loadJob(t testing.TB, args string) *job.Job {
	t.Helper()
	l := job.Loader{Engines: []job.EngineDecl{{Name: "psync", Traits: job.Traits{Sync: true}}}}
	for _, a := range strings.Fields(args) {
		name, value, given := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		if err := l.SetOption(name, value, given); err != nil {
			t.Fatalf("%s: %v", a, err)
		}
	}
	jobs, _, _, err := l.Load()
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return jobs[0]
}

func newScheme(t testing.TB, args string) (*Scheme, *job.Job) {
	t.Helper()
	j := loadJob(t, args)
	s, err := New(j)
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return s, j
}

// recorded is a file that fio 3.42 wrote, and the arguments it had.
type recorded struct {
	name, args string
	data       []byte
}

func recordedFiles(t testing.TB) []recorded {
	t.Helper()
	table, err := os.ReadFile("testdata/files/cases.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 || f[2] != "0" {
			continue
		}
		r := recorded{name: f[0] + "-" + f[1], args: f[3]}
		z, err := os.Open(filepath.Join("testdata/files", r.name+".bin.gz"))
		if err != nil {
			t.Fatal(err)
		}
		g, err := gzip.NewReader(z)
		if err != nil {
			t.Fatal(err)
		}
		if r.data, err = io.ReadAll(g); err != nil {
			t.Fatal(err)
		}
		z.Close()
		all = append(all, r)
	}
	return all
}

// blocks calls f for every block of the file as its writer would have seen it.
func blocks(j *job.Job, data []byte, f func(b *Block)) {
	rnd := workload.StreamRand(j, workload.VerifyStream)
	bs := int(j.BS[job.Write])
	for n := 0; n*bs < len(data); n++ {
		b := &Block{Buf: data[n*bs : (n+1)*bs], File: "data.bin", Offset: int64(n * bs), NumberIO: uint64(n)}
		if len(j.VerifyPattern.Bytes) == 0 {
			b.Seed = rnd.NextSeed()
		}
		f(b)
	}
}

// check returns the failures of a whole file, and whether any block counts as bad.
func check(s *Scheme, j *job.Job, data []byte) (all []*Failure, bad bool) {
	blocks(j, bytes.Clone(data), func(b *Block) {
		if s.Check(b, func(f *Failure) { all = append(all, f) }) {
			bad = true
		}
	})
	return all, bad
}

// TestAcceptsFioFiles holds what fio wrote against what fiord expects, header seeds and numbers included.
func TestAcceptsFioFiles(t *testing.T) {
	for _, r := range recordedFiles(t) {
		t.Run(r.name, func(t *testing.T) {
			s, j := newScheme(t, r.args)
			if all, bad := check(s, j, r.data); bad || len(all) > 0 {
				t.Errorf("refused: %v", all[0])
			}
		})
	}
}

// TestWritesFioFiles makes the files and compares them to fio's, apart from the time in each header and its checksum.
func TestWritesFioFiles(t *testing.T) {
	for _, r := range recordedFiles(t) {
		if strings.HasPrefix(r.name, "null") {
			continue // fio leaves the buffers as the job fills them
		}
		t.Run(r.name, func(t *testing.T) {
			s, j := newScheme(t, r.args)
			got := make([]byte, len(r.data))
			blocks(j, got, func(b *Block) { s.Fill(b) })
			want := bytes.Clone(r.data)
			maskTimes(s, j, got)
			maskTimes(s, j, want)
			if !bytes.Equal(got, want) {
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("byte %d is %#x, want %#x", i, got[i], want[i])
					}
				}
			}
		})
	}
}

// headers calls f with the place of every header of the file.
func headers(s *Scheme, j *job.Job, size int, f func(at int)) {
	if s.kind.headSize() == 0 {
		return
	}
	for at := 0; at < size; at += s.step(int(j.BS[job.Write])) {
		f(at + s.headOffset)
	}
}

func maskTimes(s *Scheme, j *job.Job, data []byte) {
	headers(s, j, len(data), func(at int) {
		clear(data[at+24 : at+32])
		clear(data[at+crcOffset : at+HeaderSize])
	})
}

// TestRefusesOneByte changes one byte of each class of every file and expects the failure that names it.
func TestRefusesOneByte(t *testing.T) {
	classes := []struct {
		name string
		at   int // in the header
		want Kind
	}{
		{"magic", 0, BadMagic},
		{"version", 2, BadVersion},
		{"type", 3, BadHeaderCRC},
		{"length", 4, BadLength},
		{"seed", 8, BadSeed},
		{"offset", 16, BadOffset},
		{"seconds", 24, BadHeaderCRC},
		{"nanoseconds", 28, BadHeaderCRC},
		{"numberio", 32, BadNumberIO},
		{"thread", 40, BadHeaderCRC},
		{"padding", 42, BadHeaderCRC},
		{"crc", 44, BadHeaderCRC},
	}
	for _, r := range recordedFiles(t) {
		s, j := newScheme(t, r.args)
		if !s.Checks() {
			continue
		}
		last := len(r.data) - s.step(int(j.BS[job.Write])) // the last interval decides about its block
		if s.kind.headSize() > 0 {
			for _, c := range classes {
				expect(t, r, c.name, last+s.headOffset+c.at, c.want)
			}
		}
		want := BadChecksum
		if len(j.VerifyPattern.Bytes) > 0 {
			want = BadPattern
		}
		for n := range sumSizes[s.kind] {
			expect(t, r, "checksum", last+s.headOffset+HeaderSize+n, BadChecksum)
		}
		if s.kind != Meta {
			expect(t, r, "payload", len(r.data)-1, want)
			expect(t, r, "payload behind the header", last+s.kind.headSize()+s.headOffset, want)
			expect(t, r, "payload in the middle", last+1024, want)
		}
	}
}

func expect(t *testing.T, r recorded, what string, at int, want Kind) {
	t.Helper()
	s, j := newScheme(t, r.args)
	hurt := bytes.Clone(r.data)
	hurt[at] ^= 0x10
	all, bad := check(s, j, hurt)
	if !bad || len(all) == 0 {
		t.Errorf("%s: byte %d (%s) changed: accepted", r.name, at, what)
		return
	}
	if all[0].Kind != want {
		t.Errorf("%s: byte %d (%s) changed: %v", r.name, at, what, all[0])
	}
}
