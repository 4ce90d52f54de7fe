package run

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/job"

	"github.com/google/go-cmp/cmp"
)

// recorder is an engine that keeps what it is asked to do.
type recorder struct {
	mu  sync.Mutex
	seq []string
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq = append(r.seq, fmt.Sprintf(format, args...))
}

func (r *recorder) driver() *engines.Driver {
	return &engines.Driver{Name: "recorder", Doc: "Keeps what it is asked to do.", Traits: job.Traits{Sync: true},
		Open: func(*engines.Worker, any) (engines.Engine, error) { return engines.Adapt(recorderDoer{r}, 1), nil }}
}

type recorderDoer struct{ r *recorder }

func (d recorderDoer) Do(u *engines.IO) {
	u.Errno, u.Done = 0, 0
	if !u.Op.IsData() {
		d.r.note("%s %s", u.Op, u.File.Name)
		return
	}
	u.Done = u.Len
	d.r.note("%s %s %d+%d", u.Op, u.File.Name, u.Offset, u.Len)
}

func (d recorderDoer) OpenFile(f *engines.File, _ int) error { d.r.note("open %s", f.Name); return nil }
func (d recorderDoer) CloseFile(f *engines.File) error       { d.r.note("close %s", f.Name); return nil }
func (d recorderDoer) Close() error                          { return nil }

// replayLog runs a job that replays a log and returns what reached the engine.
func replayLog(t *testing.T, log []byte, options string) ([]string, *rig) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	rec := new(recorder)
	g := newRig(rec.driver())
	g.run(t, section("r", "ioengine=recorder read_iolog="+path+" "+options))
	return rec.seq, g
}

// TestReplayAsFio replays logs whose replay by fio 3.42 has been recorded, system call by system call.
func TestReplayAsFio(t *testing.T) {
	data, err := os.ReadFile("testdata/replay.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Options, Log, Trace string
		Seq                       []string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 15 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			log := []byte(c.Log)
			if c.Trace != "" {
				if log, err = base64.StdEncoding.DecodeString(c.Trace); err != nil {
					t.Fatal(err)
				}
			}
			got, _ := replayLog(t, log, c.Options)
			if diff := cmp.Diff(c.Seq, got); diff != "" {
				t.Errorf("sequence (-fio +fiord):\n%s", diff)
			}
			chunked, _ := replayLog(t, log, c.Options+" read_iolog_chunked=1")
			if diff := cmp.Diff(c.Seq, chunked); diff != "" {
				t.Errorf("chunked (-fio +fiord):\n%s", diff)
			}
		})
	}
}

func TestReplayOfTrims(t *testing.T) {
	log := "fio version 3 iolog\n0 a add\n0 a open\n1 a trim 0 1048576\n2 a write 0 4096\n3 a trim 4096 4096\n"
	got, g := replayLog(t, []byte(log), "loops=2 number_ios=1 rate_iops=1")
	if diff := cmp.Diff([]string{"open a", "trim a 0+1048576", "write a 0+4096", "trim a 4096+4096", "close a"}, got); diff != "" {
		t.Error(diff)
	}
	res := g.r.result(true)
	for _, o := range []string{"loops", "number_ios", "rate_iops"} {
		if !strings.Contains(strings.Join(res.Warnings, "\n"), o+" has no effect") {
			t.Errorf("no warning of %s: %v", o, res.Warnings)
		}
	}
	got, _ = replayLog(t, []byte(log), "replay_skip=trim")
	if diff := cmp.Diff([]string{"open a", "write a 0+4096", "close a"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestReplayErrors wants a job whose log cannot be replayed to fail with a line that says why.
func TestReplayErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ log, want string }{
		{"", "log: it is empty"},
		{"fio version 1 iolog\n", `want "fio version 2 iolog"`},
		{"fio version 3 iolog\n0 a add\n0 a open\n1 a read 0\n", "log: line 4: want a file name and add"},
		{"fio version 3 iolog\n", "log: it holds no I/O to replay"},
	} {
		path := filepath.Join(dir, "log")
		if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		g := newRig()
		j := g.one(t, section("r", "ioengine=null read_iolog="+path))
		if j.Error != int(syscall.EINVAL) || !strings.Contains(g.said(), c.want) {
			t.Errorf("%q: error %d, said %s, want %s", c.log, j.Error, g.said(), c.want)
		}
	}
	g := newRig()
	if j := g.one(t, section("r", "ioengine=null read_iolog="+dir+"/gone")); j.Error != int(syscall.ENOENT) {
		t.Errorf("no such log: error %d, said %s", j.Error, g.said())
	}
	g.load(t, section("a", "ioengine=null read_iolog=-")+section("b", "ioengine=null read_iolog=-"))
	if _, err := Run(g.cfg); err == nil || !strings.Contains(err.Error(), `job "b": read_iolog=-: standard input is read by job "a"`) {
		t.Errorf("standard input twice: %v", err)
	}
}

// TestReplayLive replays a log from a socket while it is written: new files and longer I/Os come up on the way, for which
// the engine starts anew.
func TestReplayLive(t *testing.T) {
	g := newRig()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() { sent <- sendLog(l, dir) }()
	if err := os.WriteFile(filepath.Join(dir, "a"), make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	j := g.one(t, section("r", "ioengine=psync read_iolog_chunked=1 read_iolog="+path))
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if j.Error != 0 || j.Dirs[0].IOs != 2 || j.Dirs[1].IOs != 1 || j.Dirs[0].Bytes != 4096+(3<<20) || j.SyncIOs != 1 {
		t.Errorf("error %d, %d reads of %d bytes, %d writes, %d syncs: %s", j.Error, j.Dirs[0].IOs, j.Dirs[0].Bytes, j.Dirs[1].IOs,
			j.SyncIOs, g.said())
	}
	if st, err := os.Stat(filepath.Join(dir, "b")); err != nil || st.Size() != 65536 {
		t.Errorf("the second file: %v, %v", st, err)
	}
}

// sendLog writes a log in three pieces, each when the one before has been taken.
func sendLog(l net.Listener, dir string) error {
	defer l.Close()
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	for _, piece := range []string{
		"fio version 3 iolog\n0 D/a add\n1 D/a open\n2 D/a read 0 4096\n",
		"3 D/a read 4096 3145728\n4 D/b a", "dd\n5 D/b open\n6 D/b write 0 65536\n7 D/b sync 0 0\n8 D/b close\n",
	} {
		if _, err := c.Write([]byte(strings.ReplaceAll(piece, "D", dir))); err != nil {
			return err
		}
	}
	return nil
}

// TestReplayWaits checks that a replay takes no less time than the log did, unless the job's time is up.
func TestReplayWaits(t *testing.T) {
	g := newRig()
	path := filepath.Join(t.TempDir(), "log")
	log := "fio version 3 iolog\n0 a add\n1 a open\n1000 a read 0 4096\n4000 a read 0 4096\n30000 a read 0 4096\n"
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	j := g.one(t, section("r", "ioengine=null read_iolog="+path))
	if j.RunMs < 29 || j.Dirs[0].IOs != 3 {
		t.Errorf("%d I/Os in %d ms, want 3 in 29 or more", j.Dirs[0].IOs, j.RunMs)
	}
	if err := os.WriteFile(path, []byte(log+"90000000 a read 0 4096\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if j = g.one(t, section("r", "ioengine=null runtime=500ms read_iolog="+path)); j.Dirs[0].IOs != 3 || j.Error != 0 {
		t.Errorf("an I/O behind the end of the job: %d I/Os, error %d", j.Dirs[0].IOs, j.Error)
	}
}

// TestReplayVerifies wants the writes of a log to be read back and checked, those that overlap too.
func TestReplayVerifies(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	log := strings.ReplaceAll("fio version 3 iolog\n0 F add\n0 F open\n1 F write 0 4096\n2 F write 8192 8192\n3 F write 4096 4096\n"+
		"4 F write 12288 8192\n5 F close\n", "F", dir+"/f")
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"psync", "libaio iodepth=4"} {
		g := newRig()
		j := g.one(t, section("r", "verify=crc32c verify_state_save=0 read_iolog="+path+" ioengine="+engine))
		if j.Error != 0 || j.Dirs[1].IOs != 4 || j.Dirs[0].IOs != 3 {
			t.Errorf("%s: error %d, %d writes, %d reads, want 4 and 3: %s", engine, j.Error, j.Dirs[1].IOs, j.Dirs[0].IOs, g.said())
		}
	}
}

// TestReplayStopsWaiting asks a job to stop that waits for somebody to write to the pipe that is its log.
func TestReplayStopsWaiting(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("log", 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{}, 1)
	var g *rig
	g = newRig(syncDriver("stop", func(_ *engines.Worker, n int, _ *engines.IO) {
		for n == 0 && g.r.workers[0].get() < stateInitialized {
			runtime.Gosched()
		}
		if n == 0 {
			stop <- struct{}{}
		}
	}))
	g.cfg.Stop = stop
	if res := g.run(t, section("a", "ioengine=psync read_iolog=log")+section("b", "ioengine=stop rw=read size=64k bs=4k")); !res.Interrupted || res.Failed != 0 {
		t.Errorf("interrupted %v, %d failed\n%s", res.Interrupted, res.Failed, g.said())
	}
	out, err := os.OpenFile("log", os.O_WRONLY|syscall.O_NONBLOCK, 0) // lets the goroutine that waits go on, if one does
	if err == nil {
		out.Close()
	}
}

// TestReplayOpensAsTheJob: a job that gave up its rights cannot replay a log that it may not read.
func TestReplayOpensAsTheJob(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become somebody else")
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("fio version 2 iolog\na add\na open\na read 0 4096\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := newRig()
	if j := g.one(t, section("r", "ioengine=null uid=65534 read_iolog="+path)); j.Error != int(syscall.EACCES) {
		t.Errorf("error %d, want %d: %s", j.Error, syscall.EACCES, g.said())
	}
}
