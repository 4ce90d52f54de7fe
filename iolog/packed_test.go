package iolog

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// writeSeries writes n records into a log and returns what is in the file.
func writeSeries(t *testing.T, cfg config, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	cfg.entries = 16
	s := newSeries(newFile(t, path), cfg)
	s.Begin(0, 0)
	for i := range int64(n) {
		s.Add(i*ms, uint64(i*i), job.Dir(i%job.NDirs), 4096, uint64(i)<<12, uint16(i)<<9, i*ms-3)
	}
	if err := s.Close(int64(n) * ms); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

// TestPacked writes each kind of log as it is, compressed in memory, and compressed in the file: the text is the same.
func TestPacked(t *testing.T) {
	for name, cfg := range map[string]config{
		"plain": {}, "offset": {offset: true}, "prio": {prio: true}, "issue": {offset: true, issue: true},
		"all": {offset: true, prio: true, issue: true}, "both": {avgMs: 7, window: Both}, "cpus": {cpus: []int{0}},
	} {
		for _, n := range []int{0, 1, 15, 1000} {
			want := writeSeries(t, cfg, n)
			cfg := cfg
			cfg.compress = 1024
			if got := writeSeries(t, cfg, n); got != want {
				t.Errorf("%s, %d records: compressed in memory: %s", name, n, cmp.Diff(want, got))
			}
			cfg.store = true
			var got bytes.Buffer
			if err := Inflate(&got, strings.NewReader(writeSeries(t, cfg, n))); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got.String() != want {
				t.Errorf("%s, %d records: inflated: %s", name, n, cmp.Diff(want, got.String()))
			}
		}
	}
}

// TestPackedRoom has logs share little memory: what they keep stays within it, all is given back, and nothing is lost.
func TestPackedRoom(t *testing.T) {
	const room = 2000
	reg := NewRegistry()
	reg.room.Store(room)
	path := filepath.Join(t.TempDir(), "log")
	f, err := reg.open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config{entries: 16, compress: 1024, offset: true}
	sink := &packedSink{file: f, cfg: cfg, limit: cfg.compress}
	var want []byte
	for i := range 200 {
		p := point{ms: int64(i), value: uint64(i) * 0x9e3779b97f4a7c15, bs: 4096, offset: uint64(i) << 20}
		want = cfg.line(want, &p)
		sink.add([]point{p})
		if left := reg.room.Load(); left != room-sink.kept || left < 0 {
			t.Fatalf("record %d: %d bytes are kept, %d of %d left", i, sink.kept, left, room)
		}
	}
	if len(sink.held) == 0 {
		t.Error("nothing is kept, though there is room")
	}
	sink.close(nil)
	if err := f.release(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), read(t, path)); diff != "" {
		t.Error(diff)
	}
	if left := reg.room.Load(); left != room {
		t.Errorf("%d bytes of room are left, want all %d", left, room)
	}
}

func TestPackedWrongCPU(t *testing.T) {
	s := newSeries(newFile(t, os.DevNull), config{entries: 1, compress: 1024, cpus: []int{1 << 20}})
	for i := range int64(4) {
		s.Add(i*ms, 1, job.Read, 4096, 0, 0, 0)
	}
	if err := s.Close(0); err == nil || !strings.Contains(err.Error(), "log_compression_cpus") {
		t.Errorf("error %v", err)
	}
}

// needOrder skips where recorded logs have another byte order.
func needOrder(t testing.TB) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the recorded logs are of a little-endian machine")
	}
}

// TestInflateFio reads compressed logs that fio 3.42 wrote.
func TestInflateFio(t *testing.T) {
	needOrder(t)
	both := [2]string{}
	for _, name := range []string{"columns", "both"} {
		path := filepath.Join("testdata", "packed", "fio-"+name+".log")
		packed, want := read(t, path+".fz"), read(t, path)
		both[0], both[1] = both[0]+packed, both[1]+want
		var got bytes.Buffer
		if err := Inflate(&got, strings.NewReader(packed)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%s (-fio +fiord): %s", name, diff)
		}
		for cut := 1; cut < len(packed); cut += 7 {
			if err := Inflate(new(bytes.Buffer), strings.NewReader(packed[:cut])); err == nil {
				t.Errorf("%s: no error of the first %d bytes", name, cut)
			}
		}
	}
	var got bytes.Buffer
	if err := Inflate(&got, strings.NewReader(both[0])); err != nil || got.String() != both[1] {
		t.Errorf("one behind the other: %v, %s", err, cmp.Diff(both[1], got.String()))
	}
}

func FuzzInflate(f *testing.F) {
	for _, name := range []string{"columns", "both"} {
		packed, err := os.ReadFile(filepath.Join("testdata", "packed", "fio-"+name+".log.fz"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
		f.Add(packed[:len(packed)/2])
	}
	f.Add([]byte("not compressed"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var lines counter
		err := Inflate(&lines, bytes.NewReader(data))
		if err == nil && len(data) > 0 && len(data) < 8 {
			t.Errorf("%d bytes are no zlib stream", len(data))
		}
	})
}

// counter counts what is written to it.
type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }
