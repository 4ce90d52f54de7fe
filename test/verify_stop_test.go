package test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopBlock is the block size of the jobs that are stopped. The page cache copies it in one go, so that a write that a kill
// interrupts is there or not.
const stopBlock = 4096

// writer is a fiord that writes and is to be stopped.
type writer struct {
	cmd    *exec.Cmd
	dir    string
	stderr bytes.Buffer
	ended  chan struct{} // closed when it has ended, whatever its status
}

// startWriter runs fiord in dir on a job named v, behind the words of a command that runs it.
func startWriter(t *testing.T, dir string, behind []string, options string) *writer {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(behind, []string{exe}, verifyArgs(options))
	w := &writer{dir: dir, cmd: exec.CommandContext(t.Context(), words[0], words[1:]...), ended: make(chan struct{})}
	w.cmd.Dir, w.cmd.Stderr = dir, &w.stderr
	w.cmd.Env = append(os.Environ(), asFiord+"=1")
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = w.cmd.Wait(); close(w.ended) }()
	t.Cleanup(func() { _ = w.cmd.Process.Kill(); <-w.ended })
	return w
}

// diskDir is a directory with the one that the file is in.
func diskDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "disk"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func verifyArgs(options string) []string {
	return strings.Fields("--name=v --filename=disk/data --verify=crc32c --output=out " + options)
}

// until waits until reached says so of the file, and reports false when the writer ended before. It looks all the time: a
// point that a clock chose would mostly hit the same phase.
func (w *writer) until(reached func(f *os.File) bool) bool {
	var f *os.File
	for {
		if f == nil {
			f, _ = os.Open(filepath.Join(w.dir, "disk/data"))
		} else if reached(f) {
			f.Close()
			return true
		}
		select {
		case <-w.ended:
			return false
		default:
			runtime.Gosched()
		}
	}
}

// number is the number of the write that the header of block n names; false: there is no header.
func number(f *os.File, n int64) (uint64, bool) {
	var h [40]byte
	if _, err := f.ReadAt(h[:], n*stopBlock); err != nil || binary.LittleEndian.Uint16(h[:]) != 0xacca {
		return 0, false
	}
	return binary.LittleEndian.Uint64(h[32:]), true
}

// findsOnly damages block n and wants the reader with the options to find that, and nothing else.
func findsOnly(t *testing.T, dir, options string, n int64) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "disk/data"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, f, n*stopBlock+stopBlock/2)
	f.Close()
	o := fiord(t, dir, verifyArgs("--continue_on_error=verify "+options)...)
	bad := 0
	for line := range strings.Lines(string(o.stderr)) {
		if strings.Contains(line, "requested block") {
			bad++
		}
	}
	want := fmt.Sprintf("crc32c: verify failed at file disk/data offset %d,", n*stopBlock)
	if bad != 1 || !strings.Contains(string(o.stderr), want) || o.status != 0 {
		t.Errorf("%s: block %d damaged: status %d: %s", options, n, o.status, o.stderr)
	}
}

func flip(t *testing.T, f *os.File, at int64) {
	t.Helper()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// killPoints is how many writers TestKilled kills.
const killPoints = 100

// killTime bounds the test on a machine that is busy with other things; on two idle cores all points take 20 s.
const killTime = 4 * time.Minute

// TestKilled kills writers with SIGKILL at random points: no state is saved, so the file alone is checked. It holds blocks
// of two generations, or the beginning of the file; none of them may be called bad, and one that is then damaged must be
// found.
func TestKilled(t *testing.T) {
	points := killPoints
	if testing.Short() {
		points = 10
	}
	older := diskDir(t)
	if o := fiord(t, older, verifyArgs("--rw=write --do_verify=0 --verify_state_save=0"+overwritten)...); o.status != 0 {
		t.Fatalf("the older job: %s", o.stderr)
	}
	data, err := os.ReadFile(filepath.Join(older, "disk/data"))
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for i := range points {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if time.Since(begin) > killTime {
				if os.Getenv("FIORD_NEED_TOOLS") == "1" {
					t.Fatalf("the points before took more than %v", killTime)
				}
				t.Skipf("the points before took more than %v", killTime)
			}
			rnd := rand.New(rand.NewPCG(uint64(i), 4))
			engine := []string{"--ioengine=psync", "--ioengine=io_uring --iodepth=16", "--ioengine=libaio --iodepth=4"}[i%3]
			if i%2 == 0 {
				killOverwriting(t, rnd, engine, data)
			} else {
				killGrowing(t, rnd, engine)
			}
		})
	}
}

// overwrittenBlocks is the size of the file that is written over, and overwritten the options of its jobs.
const overwrittenBlocks = 64

var overwritten = fmt.Sprintf(" --size=%d --bs=%d ", overwrittenBlocks*stopBlock, stopBlock)

// killOverwriting kills a job that writes at random over what an older one has left.
func killOverwriting(t *testing.T, rnd *rand.Rand, engine string, older []byte) {
	dir := diskDir(t)
	if err := os.WriteFile(filepath.Join(dir, "disk/data"), older, 0o600); err != nil {
		t.Fatal(err)
	}
	w := startWriter(t, dir, nil, "--rw=randwrite --time_based --runtime=1m --do_verify=0 --randrepeat=0 "+engine+overwritten)
	block, passes := rnd.Int64N(overwrittenBlocks), rnd.Uint64N(20)
	if !w.until(func(f *os.File) bool {
		n, ok := number(f, block)
		return ok && n >= overwrittenBlocks*(1+passes) // the older job's are below that
	}) {
		t.Fatalf("the writer has ended: %s", &w.stderr)
	}
	w.kill()
	findsOnly(t, dir, "--rw=read --verify_header_seed=0"+overwritten, rnd.Int64N(overwrittenBlocks))
}

func (w *writer) kill() {
	_ = w.cmd.Process.Kill()
	<-w.ended
}

// killGrowing kills a job that writes a new file from its start.
func killGrowing(t *testing.T, rnd *rand.Rand, engine string) {
	const blocks = 16384
	dir := diskDir(t)
	w := startWriter(t, dir, nil, fmt.Sprintf("--rw=write --fallocate=none --do_verify=0 --size=%d --bs=%d %s", blocks*stopBlock, stopBlock, engine))
	block := rnd.Int64N(blocks / 16)
	w.until(func(f *os.File) bool { _, ok := number(f, block); return ok })
	w.kill()
	f, err := os.Open(filepath.Join(dir, "disk/data"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := int64(0)
	for ; n < blocks; n++ {
		if _, ok := number(f, n); !ok {
			break
		}
	}
	if n == 0 {
		return // its first write was in flight
	}
	findsOnly(t, dir, fmt.Sprintf("--rw=read --size=%d --bs=%d", n*stopBlock, stopBlock), rnd.Int64N(n))
}

// stops are the ways to end a writer that would go on.
var stops = map[string]struct {
	options string
	behind  []string                      // of the command that runs it
	small   bool                          // its file is on a file system of 256 KiB
	stop    func(t *testing.T, w *writer) // nil: it ends by itself
}{
	"SIGINT":              {stop: func(_ *testing.T, w *writer) { _ = w.cmd.Process.Signal(syscall.SIGINT) }},
	"runtime":             {options: "--runtime=50ms"},
	"trigger":             {options: "--trigger-file=now", stop: pullTrigger},
	"trigger that kills":  {options: "--trigger-file=now --trigger=./kill", stop: pullTrigger},
	"trigger by time":     {options: "--trigger-timeout=1"},
	"ENOSPC":              {small: true},
	"ENOSPC, fill_device": {small: true, options: "--fill_device=1"},
	"EFBIG":               {behind: []string{"sh", "-c", `ulimit -f 512; exec "$0" "$@"`}, options: "--continue_on_error=write --ignore_error=,EFBIG --runtime=50ms"},
}

func pullTrigger(t *testing.T, w *writer) {
	if err := os.WriteFile(filepath.Join(w.dir, "now"), nil, 0o600); err != nil {
		t.Error(err)
	}
}

// TestSavedState stops writers in every way and wants the state that each leaves behind to lead to no false failure, and to
// real damage being found.
func TestSavedState(t *testing.T) {
	for name, s := range stops {
		for _, engine := range []string{"--ioengine=psync", "--ioengine=io_uring --iodepth=32"} {
			for _, shape := range []string{"--rw=write --bs=4k", "--rw=randwrite --bs=4k --norandommap", "--rw=randwrite --bssplit=4k/50:8k/50 --norandommap"} {
				t.Run(name+" "+engine+" "+shape, func(t *testing.T) {
					t.Parallel()
					dir := diskDir(t)
					if s.small {
						smallFileSystem(t, filepath.Join(dir, "disk"))
					}
					if err := os.WriteFile(filepath.Join(dir, "kill"), []byte("#!/bin/sh\nkill -9 $(ps -o ppid= $PPID)\n"), 0o700); err != nil {
						t.Fatal(err)
					}
					job := "--size=4m --io_size=1t --fallocate=none " + engine + " " + shape
					w := startWriter(t, dir, s.behind, "--do_verify=0 --aux-path=. "+s.options+" "+job)
					if s.stop != nil {
						if !w.until(func(f *os.File) bool { st, err := f.Stat(); return err == nil && st.Size() >= 1<<18 }) {
							t.Fatalf("the writer has ended: %s", &w.stderr)
						}
						s.stop(t, w)
					}
					<-w.ended
					job += " --verify_only --verify_state_load=1 --verify_state_save=0 --verify_fatal=1"
					if o := fiord(t, dir, verifyArgs(job)...); o.status != 0 {
						t.Fatalf("status %d: %s", o.status, o.stderr)
					}
					spoil(t, filepath.Join(dir, "disk/data"))
					if o := fiord(t, dir, verifyArgs(job)...); o.status == 0 {
						t.Error("damaged data was accepted")
					}
				})
			}
		}
	}
}

// smallFileSystem mounts one of 256 KiB on dir.
func smallFileSystem(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("fiord", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a small file system takes the right to mount it: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// spoil changes a byte in the middle of every block that has been written.
func spoil(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for n := range st.Size() / stopBlock {
		if _, ok := number(f, n); ok {
			flip(t, f, n*stopBlock+stopBlock/2)
		}
	}
}
