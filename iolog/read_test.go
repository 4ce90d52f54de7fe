package iolog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// steps shows entries, one a word.
func steps(list []Entry, files []string) string {
	var out []string
	for _, e := range list {
		s := ""
		switch e.Kind {
		case EntryNothing:
			s = "-"
		case EntryWait:
			s = "wait"
		case EntryOpen:
			s = "open:" + files[e.File]
		case EntryClose:
			s = "close:" + files[e.File]
		default:
			s = fmt.Sprintf("%c:%s:%d+%d", "rwtsd"[e.Op], files[e.File], e.Offset, e.Len)
		}
		if e.Delay > 0 {
			s += "@" + e.Delay.String()
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

const three = header3 + "\n5 a add\n10 a open\n30 a read 8192 4096\n70 a write 20000 512\n90 a sync 0 0\n95 a datasync 0 0\n99 a trim 4096 100\n100 a close\n"

func TestReplayText(t *testing.T) {
	two := header2 + "\na add\na open\na read 8192 4096\na wait 250 0\na write 0 512\na close\n"
	for _, c := range []struct {
		name, log string
		cfg       ReadConfig
		want      string
	}{
		{"version 3", three, ReadConfig{}, "- open:a@5µs r:a:8192+4096@20µs w:a:20000+512@40µs s:a:0+0@20µs d:a:0+0@5µs t:a:4096+100@4µs close:a@1µs"},
		{"version 2", two, ReadConfig{}, "- open:a r:a:8192+4096 wait@250ms w:a:0+512 close:a"},
		{"no stall", two, ReadConfig{NoStall: true}, "- open:a r:a:8192+4096 w:a:0+512 close:a"},
		{"no stall of version 3", three, ReadConfig{NoStall: true, Skip: job.DirSet{true, true}}, "- open:a s:a:0+0 d:a:0+0 t:a:4096+100 close:a"},
		{"syncs skipped, datasync not", three, ReadConfig{NoStall: true, Skip: job.DirSet{true, false, true, true}}, "- open:a w:a:20000+512 d:a:0+0 close:a"},
		{"twice as fast", three, ReadConfig{TimeScale: 200, Skip: job.DirSet{false, true, true, true}}, "- open:a@2µs r:a:8192+4096@10µs d:a:0+0@2µs close:a"},
		{"scaled, aligned", three, ReadConfig{NoStall: true, Scale: 2, Align: 1024}, "- open:a r:a:4096+4096 w:a:9216+512 s:a:0+0 d:a:0+0 t:a:2048+100 close:a"},
		{"redirected", strings.ReplaceAll(header3+"\n0 a add\n0 b add\n1 a open\n1 b open\n2 a close\n3 b read 0 1\n4 b close\n", "\n", "\r\n"),
			ReadConfig{NoStall: true, Redirect: "c"}, "- - open:c - - r:c:0+1 close:c"},
		{"read only", three, ReadConfig{NoStall: true, ReadOnly: true}, "- open:a r:a:8192+4096 s:a:0+0 d:a:0+0 close:a"},
		{"under a directory", two, ReadConfig{NoStall: true, Name: func(n string) string { return "d/" + n }}, "- open:d/a r:d/a:8192+4096 w:d/a:0+512 close:d/a"},
		{"two logs in one", three + header3 + "\n0 b add\n0 a add\n1 a open\n2 a read 0 7\n", ReadConfig{NoStall: true, Skip: job.DirSet{false, true, true, true}},
			"- open:a r:a:8192+4096 d:a:0+0 close:a - - open:a r:a:0+7"},
		{"no end of line, blank lines", header2 + "\n\na add\n \na open\na read 1 2", ReadConfig{}, "- open:a r:a:1+2"},
		{"left out", header3 + "\n0 a add\n0 a open\n1 a wait 5 0\n2 a syncfs 0 0\n3 a sync_file_range 0 0\n4 a read 0 1\n", ReadConfig{NoStall: true}, "- open:a r:a:0+1"},
	} {
		r, err := NewReplay("log", strings.NewReader(c.log), c.cfg)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		list, err := r.All()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, steps(list, r.Files())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestReplayTotals(t *testing.T) {
	r, err := NewReplay("log", strings.NewReader(three), ReadConfig{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.All(); err != nil {
		t.Fatal(err)
	}
	want := Totals{Reads: 1, Syncs: 2, MaxLen: job.PerDir[uint64]{4096}, Bytes: 4096}
	if diff := cmp.Diff(want, r.Totals()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"read_iolog log: 2 writes and trims are skipped by --readonly"}, r.Notes()); diff != "" {
		t.Error(diff)
	}
}

func TestReplayErrors(t *testing.T) {
	head := header3 + "\n0 a add\n0 a open\n"
	for _, c := range []struct{ log, want string }{
		{"", "it is empty"},
		{"fio version 1 iolog\n", `line 1: want "fio version 2 iolog" or "fio version 3 iolog", or a blktrace file, got "fio version 1 iolog"`},
		{header3, "it holds no I/O to replay"},
		{head + "1 a sync 0 0\n", "it holds no I/O to replay"},
		{head + "x a read 0 1\n", `line 4: time "x": want microseconds`},
		{head + "1 a read 0\n", "line 4: want a file name and add, open or close, or a file name, an operation, an offset and a length"},
		{head + "1 a read 0 1 2\n", "line 4: want a file name"},
		{head + "1 a read -1 1\n", `line 4: offset "-1": want a number`},
		{head + "1 a read 0 1k\n", `line 4: length "1k": want a number`},
		{head + "1 a read 0 0\n", "line 4: an I/O of 0 bytes"},
		{head + "1 a read 0 4294967296\n", "line 4: an I/O of 4294967296 bytes: at most 2147483648"},
		{head + "1 a trim 18446744073709551615 1\n", "line 4: offset 18446744073709551615: too large"},
		{head + "1 a trim 9223372036854775807 1\n", "line 4: offset 9223372036854775807 and length 1: too large"},
		{head + "1 a append 0 1\n", `line 4: operation "append": want read, write, trim, sync, datasync or wait`},
		{head + "1 a unlink\n", `line 4: action "unlink": want add, open or close`},
		{head + "1 b open\n", `line 4: open of file "b", which was not added before`},
		{head + "1 a open\n", `line 4: open of file "a", which is open`},
		{head + "1 a close\n2 a close\n", `line 5: close of file "a", which is not open`},
		{head + "1 a close\n2 a read 0 1\n", `line 5: read of file "a", which is not open`},
		{head + strings.Repeat("x", maxLine+1), "line of more than 65536 bytes"},
		{header2 + "\n" + header3 + "\n", `line 2: length "iolog"`},
	} {
		r, err := NewReplay("log", strings.NewReader(c.log), ReadConfig{})
		if err == nil {
			_, err = r.All()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "read_iolog log: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: got %v, want %s", c.log, err, c.want)
		}
	}
	for _, cfg := range []ReadConfig{{Align: 3}, {Align: -8}, {Scale: -1}, {TimeScale: -1}} {
		if _, err := NewReplay("log", strings.NewReader(three), cfg); err == nil {
			t.Errorf("%+v is no error", cfg)
		}
	}
	broken := io.MultiReader(strings.NewReader(head), failing{})
	r, err := NewReplay("log", broken, ReadConfig{})
	if err == nil {
		_, err = r.All()
	}
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("a read error: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, syscall.EIO }

// trace builds the contents of a blktrace file.
type trace struct {
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
	b []byte
}

const (
	queueAct    = traceQueued | 1<<20
	completeAct = traceCompleted | 1<<23
	disk        = 8<<20 | 1
)

func (w *trace) add(ns, sector uint64, bytes, action uint32, payload string) *trace {
	o := w.order
	w.b = o.AppendUint32(w.b, traceMagic|traceVersion)
	w.b = o.AppendUint32(w.b, 0)
	w.b = o.AppendUint64(w.b, ns)
	w.b = o.AppendUint64(w.b, sector)
	for _, v := range []uint32{bytes, action, 1, disk, 0} {
		w.b = o.AppendUint32(w.b, v)
	}
	w.b = o.AppendUint16(w.b, 0)
	w.b = o.AppendUint16(w.b, uint16(len(payload)))
	w.b = append(w.b, payload...)
	return w
}

// sample is a trace with a bit of everything.
func (w *trace) sample() []byte {
	w.add(0, 0, 0, traceNotify, "process").add(1, 0, 0, traceNotify|1, "12345678")
	w.add(1000, 8, 4096, queueAct|traceRead, "").add(51_000, 16, 512, queueAct|traceWrite, "xyz")
	w.add(51_000, 16, 512, traceBackMerge|traceWrite, "").add(60_000, 24, 512, queueAct|traceRead, "")
	w.add(61_000, 8, 4096, completeAct|traceRead, "").add(71_000, 0, 0, queueAct|traceFlush|traceWrite, "")
	w.add(91_000, 2048, 65536, queueAct|traceDiscard|traceWrite, "").add(92_000, 0, 0, queueAct|traceWrite, "")
	return w.b
}

func TestReplayTrace(t *testing.T) {
	device := func(major, minor uint32) (string, error) { return fmt.Sprintf("dev%d:%d", major, minor), nil }
	for _, c := range []struct {
		name string
		cfg  ReadConfig
		want string
	}{
		{"as it is", ReadConfig{}, "open:dev8:1 r:dev8:1:4096+4096 w:dev8:1:8192+512@50µs r:dev8:1:12288+512@9µs s:dev8:1:0+0@11µs t:dev8:1:1048576+65536@20µs close:dev8:1"},
		{"redirected", ReadConfig{Redirect: "f", NoStall: true, Skip: job.DirSet{false, true, true}}, "open:f r:f:4096+4096 r:f:12288+512 s:f:0+0 close:f"},
		{"scaled, aligned", ReadConfig{Redirect: "f", Scale: 2, Align: 2048, Skip: job.DirSet{false, false, true, true}, TimeScale: 50},
			"open:f r:f:2048+4096 w:f:4096+2048@100µs r:f:6144+2048@18µs close:f"},
		{"read only", ReadConfig{Redirect: "f", NoStall: true, ReadOnly: true}, "open:f r:f:4096+4096 r:f:12288+512 close:f"},
	} {
		for _, w := range []*trace{{order: binary.LittleEndian}, {order: binary.BigEndian}} {
			c.cfg.Device = device
			r, err := NewReplay("log", strings.NewReader(string(w.sample())), c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			list, err := r.All()
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if diff := cmp.Diff(c.want, steps(list, r.Files())); diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", c.name, w.order, diff)
			}
			if d := r.Totals().Depth; d != 2 || !r.Binary() {
				t.Errorf("%s: depth %d, want 2", c.name, d)
			}
		}
	}
}

func TestReplayTraceErrors(t *testing.T) {
	little := func() *trace { return &trace{order: binary.LittleEndian} }
	good := string(little().sample())
	old := little().add(1, 8, 4096, queueAct|traceRead, "").b
	old[0] = 6
	for _, c := range []struct{ name, log, want string }{
		{"cut in a record", good[:len(good)-20], "it is cut short: its last record has 28 of 48 bytes"},
		{"cut in a payload", good[:50], "it is cut short: its last payload has 2 of 7 bytes"},
		{"bad magic number", good + strings.Repeat("\x00", 48), "bad magic number 0x0 in a record"},
		{"old version", string(old), "blktrace version 6: want 7"},
		{"order changes", good + string((&trace{order: binary.BigEndian}).sample()), "bad magic number"},
		{"far sector", string(little().add(1, 1<<60, 512, queueAct|traceRead, "").b), "sector 1152921504606846976: too large"},
		{"nothing queued", string(little().add(1, 0, 512, completeAct|traceRead, "").b), "it holds no I/O to replay"},
		{"three bytes", good[:3], "or a blktrace file"},
	} {
		r, err := NewReplay("log", strings.NewReader(c.log), ReadConfig{Redirect: "f"})
		if err == nil {
			_, err = r.All()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	r, err := NewReplay("log", strings.NewReader(good), ReadConfig{})
	if err == nil {
		_, err = r.All()
	}
	if err == nil || !strings.Contains(err.Error(), "replay_redirect is needed") {
		t.Errorf("without devices: %v", err)
	}
}

func TestFindDevice(t *testing.T) {
	if name, err := FindDevice(4000, 1<<19); err == nil || !strings.Contains(err.Error(), "no block device 4000:524288 below /dev") {
		t.Errorf("got %q, %v", name, err)
	}
	if ma, mi := deviceNumber(0x0000_1000_1230_0845); ma != 0x1008 || mi != 0x12345 {
		t.Errorf("got %#x, %#x", ma, mi)
	}
	entries, err := os.ReadDir("/sys/class/block")
	if err != nil || len(entries) == 0 {
		t.Skip("this machine shows no block device")
	}
	text, err := os.ReadFile("/sys/class/block/" + entries[0].Name() + "/dev")
	if err != nil {
		t.Fatal(err)
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(string(text), "%d:%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	path := "/dev/" + entries[0].Name()
	if _, err := os.Lstat(path); err != nil {
		t.Skipf("%s has no node: %v", entries[0].Name(), err)
	}
	if got, err := FindDevice(major, minor); err != nil || got != path {
		t.Errorf("device %d:%d is %q, %v, want %s", major, minor, got, err, path)
	}
}

func TestReplayOptions(t *testing.T) {
	j := &job.Job{SubJob: 3}
	j.ReadIolog, j.Directory, j.ReplayScale, j.ReplayAlign = `a:b\:c`, "x:y", 2, 512
	if got := ReplayPath(j); got != "b:c" {
		t.Errorf("log of clone 3: %s", got)
	}
	c := ReplayConfig(j, true)
	if c.Scale != 2 || c.Align != 512 || !c.ReadOnly || c.Name("n") != "y/n" || c.Name("/n") != "/n" {
		t.Errorf("got %+v, %s", c, c.Name("n"))
	}
}

func TestOpenLog(t *testing.T) {
	dir := t.TempDir()
	file, fifo, sock := filepath.Join(dir, "file"), filepath.Join(dir, "fifo"), filepath.Join(dir, "sock")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = c.Write([]byte("x"))
			_ = c.Close()
		}
	}()
	go func() { _ = os.WriteFile(fifo, []byte("x"), 0) }()
	for path, regular := range map[string]bool{file: true, fifo: false, sock: false} {
		in, whole, err := OpenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(in); string(text) != "x" || whole != regular || err != nil {
			t.Errorf("%s: %q, regular %v, %v", path, text, whole, err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := OpenLog(dir + "/gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such log: %v", err)
	}
	if in, whole, err := OpenLog("-"); in == nil || whole || err != nil {
		t.Errorf("standard input: %v, %v", whole, err)
	}
}

// TestAppendDoesNotWait reads a log of which only a part has been written: what is there must come.
func TestAppendDoesNotWait(t *testing.T) {
	in, out := io.Pipe()
	go func() { _, _ = out.Write([]byte(header2 + "\na add\na open\na read 0 1\na rea")) }()
	r, err := NewReplay("log", in, ReadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Append(nil, 100)
	if got := steps(list, r.Files()); err != nil || got != "- open:a r:a:0+1" {
		t.Fatalf("got %s, %v", got, err)
	}
	go func() {
		_, _ = out.Write([]byte("d 5 6\n"))
		_ = out.Close()
	}()
	list, err = r.Append(nil, 100)
	if got := steps(list, r.Files()); err != nil || got != "r:a:5+6" {
		t.Fatalf("got %s, %v", got, err)
	}
	if _, err = r.Append(nil, 100); err != io.EOF {
		t.Fatalf("got %v, want the end", err)
	}
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(three), uint8(0))
	f.Add([]byte(header2+"\na add\na open\na read 0 1\na wait 100 0\n"), uint8(1))
	f.Add((&trace{order: binary.LittleEndian}).sample(), uint8(2))
	f.Add((&trace{order: binary.BigEndian}).sample(), uint8(7))
	f.Add([]byte(header3+"\n18446744073709551615 a add\n0 a open\n18446744073709551615 a trim 9223372036854775807 9223372036854775807\n"), uint8(4))
	f.Fuzz(func(t *testing.T, log []byte, bits uint8) {
		cfg := ReadConfig{NoStall: bits&1 != 0, Device: func(uint32, uint32) (string, error) { return "d", nil }}
		if bits&2 != 0 {
			cfg.Redirect, cfg.Align, cfg.Scale = "f", 4096, 3
		}
		if bits&4 != 0 {
			cfg.TimeScale = 1
		}
		r, err := NewReplay("log", strings.NewReader(string(log)), cfg)
		if err != nil {
			return
		}
		list, err := r.All()
		if err != nil {
			return
		}
		open := map[int32]bool{}
		for _, e := range list {
			switch {
			case e.Delay < 0 || e.Offset < 0 || e.Len < 0 || e.Offset+e.Len < 0 || int(e.File) >= max(len(r.Files()), 1):
				t.Fatalf("entry %+v of %d files", e, len(r.Files()))
			case e.Kind == EntryOpen || e.Kind == EntryClose:
				if open[e.File] == (e.Kind == EntryOpen) {
					t.Fatalf("entry %+v: open %v", e, open[e.File])
				}
				open[e.File] = !open[e.File]
			case e.Kind == EntryIO && !open[e.File]:
				t.Fatalf("entry %+v of a closed file", e)
			}
			if e.Kind == EntryIO && e.Delay > 1<<62 {
				t.Fatal(time.Duration(e.Delay))
			}
		}
	})
}
