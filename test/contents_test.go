package test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrittenContents measures the files that jobs have written: how far gzip compresses them, and how many of their blocks
// repeat another, against what was asked for.
func TestWrittenContents(t *testing.T) {
	const free = -1 // not asked for
	type ask struct {
		options              string
		compress, duplicates float64 // percent; free: not measured
	}
	var asks []ask
	for _, percent := range []float64{0, 25, 50, 75, 100} {
		for _, chunk := range []string{"512", "4k", "64k"} {
			asks = append(asks, ask{fmt.Sprintf("--bs=64k --refill_buffers=1 --buffer_compress_percentage=%g --buffer_compress_chunk=%s",
				percent, chunk), percent, free})
		}
	}
	for _, percent := range []float64{0, 10, 50, 90} {
		dedupe := fmt.Sprintf("--bs=4k --refill_buffers=1 --dedupe_percentage=%g", percent)
		asks = append(asks, ask{dedupe, free, percent},
			ask{dedupe + " --dedupe_mode=working_set --dedupe_working_set_percentage=4", free, percent},
			ask{dedupe + " --dedupe_mode=working_set --dedupe_working_set_percentage=4 --dedupe_global=1", free, percent})
	}
	for _, a := range asks {
		t.Run(a.options, func(t *testing.T) {
			dir := t.TempDir()
			args := append(strings.Fields(a.options), "--name=j", "--filename=data", "--rw=write", "--size=4m", "--ioengine=psync")
			if out := fiord(t, dir, args...); out.status != 0 {
				t.Fatalf("status %d\n%s%s", out.status, out.stdout, out.stderr)
			}
			data, err := os.ReadFile(filepath.Join(dir, "data"))
			if err != nil || len(data) != 4<<20 {
				t.Fatalf("%d bytes, %v", len(data), err)
			}
			// gzip needs a little for each run of zeros, and finds nothing else to save in random data.
			if saved := 100 - 100*float64(packed(t, data))/float64(len(data)); a.compress != free && (saved < a.compress-4 || saved > a.compress+1) {
				t.Errorf("gzip saves %.1f %%, asked for %g %%", saved, a.compress)
			}
			if same := duplicates(data, 4096); a.duplicates != free && (same < a.duplicates-4 || same > a.duplicates+4) {
				t.Errorf("%.1f %% of the blocks repeat another, asked for %g %%", same, a.duplicates)
			}
		})
	}
}

// packed is the size of data after gzip.
func packed(t *testing.T, data []byte) int {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// duplicates is the share of the blocks of data that are equal to an earlier one, in percent.
func duplicates(data []byte, block int) float64 {
	seen := map[[sha256.Size]byte]bool{}
	n := len(data) / block
	for i := range n {
		seen[sha256.Sum256(data[i*block:(i+1)*block])] = true
	}
	return 100 * float64(n-len(seen)) / float64(n)
}
