package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fiord/internal/feature"
)

// Flags of io_uring as strace shows them: of setting a ring up, and of entering it.
const (
	setupDeferTaskrun = 1 << 13
	enterGetEvents    = 1 << 0
	enterExtArg       = 1 << 3
	enterRegistered   = 1 << 4
	enterExtArgReg    = 1 << 6
)

// needStrace skips where system calls cannot be looked at.
func needStrace(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err == nil {
		// A container may forbid it, and older ones cannot show numbers.
		err = exec.Command(path, "-qq", "-X", "raw", "-e", "trace=none", os.Args[0], "-test.run=^$").Run()
	}
	switch {
	case err == nil:
	case os.Getenv("FIORD_NEED_TOOLS") != "":
		t.Fatalf("strace: %v", err)
	default:
		t.Skipf("needs strace: %v", err)
	}
	return path
}

// enter is one io_uring_enter: how many requests it submits, how many completions it waits for, its flags, and the size
// of its argument.
type enter struct{ submit, wait, flags, size uint64 }

var (
	enterLine = regexp.MustCompile(`io_uring_enter\(\w+, (\w+), (\w+), (\w+), [^,]*, (\w+)`)
	setupLine = regexp.MustCompile(`io_uring_setup\(\w+, \{flags=(\w+)`)
)

// traced runs a job under strace and returns the flags of its last ring, its enters, and the features of its report.
func traced(t *testing.T, args ...string) (setup uint64, enters []enter, features []string) {
	t.Helper()
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Large reads that the kernel's workers do, so that there is something to wait for.
	all := slices.Concat([]string{"-f", "-qq", "-X", "raw", "-e", "trace=io_uring_setup,io_uring_enter", "-e", "signal=none", "-o", trace, exe,
		"--own-keys", "--output-format=json", "--name=w", "--ioengine=io_uring", "--rw=read", "--bs=1m", "--size=16m", "--iodepth=8",
		"--iodepth_batch=8", "--iodepth_batch_complete_min=8", "--force_async=1"}, args)
	out := command(t, dir, append(os.Environ(), asFiord+"=1"), needStrace(t), all...)
	if out.status != 0 {
		t.Fatalf("status %d\n%s%s", out.status, out.stdout, out.stderr)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if m := setupLine.FindAllSubmatch(text, -1); m != nil {
		setup = flagWord(t, m[len(m)-1][1])
	}
	for _, m := range enterLine.FindAllSubmatch(text, -1) {
		enters = append(enters, enter{flagWord(t, m[1]), flagWord(t, m[2]), flagWord(t, m[3]), flagWord(t, m[4])})
	}
	var rep struct {
		Jobs []struct {
			Fiord struct{ Features []string }
		}
	}
	if err := json.NewDecoder(bytes.NewReader(out.stdout)).Decode(&rep); err != nil {
		t.Fatal(err)
	}
	return setup, enters, rep.Jobs[0].Fiord.Features
}

func flagWord(t *testing.T, text []byte) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(string(text), 0, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		t.Fatal(err)
	}
	return n
}

// TestWaitsAreAsked looks at the system calls of real waits: they carry the flags that the options ask for, and the report
// says the same.
func TestWaitsAreAsked(t *testing.T) {
	needStrace(t)
	if !feature.AtLeast(6, 13) {
		t.Skip("registered waits came with Linux 6.13")
	}
	const registered, byArgument = 64, 24 // sizes of the argument of a wait
	for _, c := range []struct {
		args     string
		deferred bool
		wait     uint64 // size of the argument of waits, 0: none
		on, off  string // features
	}{
		{"", true, 0, "defer_taskrun registered_wait", "min_wait"},
		{"--defer_taskrun=0", false, 0, "registered_wait", "defer_taskrun"},
		{"--defer_taskrun=1 --register_ring=0", true, 0, "defer_taskrun", "registered_ring"},
		{"--min_wait=20000", true, registered, "min_wait registered_wait", ""},
		{"--min_wait=20000 --registered_wait=0", true, byArgument, "min_wait", "registered_wait"},
		{"--min_wait=20000 --defer_taskrun=0", false, registered, "min_wait registered_wait", "defer_taskrun"},
		{"--wait_timeout=20000", true, registered, "registered_wait", "min_wait"},
		{"--wait_timeout=20000 --registered_wait=0", true, byArgument, "", "registered_wait"},
	} {
		t.Run(strings.ReplaceAll(c.args, "--", ""), func(t *testing.T) {
			setup, enters, features := traced(t, strings.Fields(c.args)...)
			if got := setup&setupDeferTaskrun != 0; got != c.deferred {
				t.Errorf("the ring has flags %#x, deferred %v", setup, c.deferred)
			}
			waits := 0
			for _, e := range enters {
				if e.wait == 0 {
					continue
				}
				waits++
				want := uint64(enterGetEvents)
				switch c.wait {
				case registered:
					want |= enterExtArg | enterExtArgReg
				case byArgument:
					want |= enterExtArg
				}
				if !strings.Contains(c.args, "register_ring=0") {
					want |= enterRegistered
				}
				const all = enterGetEvents | enterExtArg | enterExtArgReg | enterRegistered
				if e.flags&all != want || e.size != c.wait {
					t.Errorf("a wait with flags %#x and %d bytes, want %#x and %d", e.flags, e.size, want, c.wait)
				}
			}
			if waits == 0 {
				t.Error("nothing was waited for")
			}
			for _, f := range strings.Fields(c.on) {
				if !slices.Contains(features, f) {
					t.Errorf("features %v, want %s", features, f)
				}
			}
			if slices.Contains(features, c.off) {
				t.Errorf("features %v, with %s", features, c.off)
			}
		})
	}
}
