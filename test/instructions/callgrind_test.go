package instructions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// goDebug keeps the Go runtime from what valgrind cannot follow: signals that preempt, at which callgrind gives up, and an
// instruction that valgrind's processor claims to have also where the real one has not.
const goDebug = "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off"

// limit only keeps a hanging run from holding up the tests for ever.
const limit = 2 * time.Minute

// build builds fiord as make build does, for any processor of the architecture.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fiord")
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", program, ".")
	c.Dir = "../.."
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOAMD64=v1")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	return program
}

// counted is what one run did.
type counted struct {
	instructions int64  // of all threads, outside of the kernel
	ios          uint64 // reads and writes
	profile      []byte // of callgrind
}

// keep writes the profile into a folder, for callgrind_annotate.
func (c *counted) keep(folder, name string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" ,/", r) })
	return os.WriteFile(filepath.Join(folder, strings.Join(words, "-")+".callgrind"), c.profile, 0o644)
}

// count runs a job under callgrind in dir. The clock is the processor's counter: with the kernel's, which valgrind hides, a
// third of the instructions of an I/O would be those of system calls that no other run makes.
func count(t *testing.T, dir, program string, options ...string) (counted, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	profile := filepath.Join(dir, "callgrind.out")
	c := exec.CommandContext(ctx, "valgrind", append([]string{"-q", "--tool=callgrind", "--callgrind-out-file=" + profile, program,
		"--output-format=json", "--clocksource=cpu", "--name=j"}, options...)...)
	var stdout, stderr bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), goDebug), &stdout, &stderr
	if err := c.Run(); err != nil {
		return counted{}, fmt.Errorf("valgrind: %v\n%s", err, &stderr)
	}
	ios, err := iosOf(stdout.Bytes())
	if err != nil {
		return counted{}, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return counted{}, err
	}
	n, err := totalOf(text)
	return counted{n, ios, text}, err
}

// iosOf adds up the I/Os of a report.
func iosOf(report []byte) (n uint64, err error) {
	type side struct {
		IOs uint64 `json:"total_ios"`
	}
	var doc struct {
		Jobs []struct{ Read, Write side }
	}
	if err := json.Unmarshal(report, &doc); err != nil {
		return 0, fmt.Errorf("report: %v\n%s", err, report)
	}
	for _, j := range doc.Jobs {
		n += j.Read.IOs + j.Write.IOs
	}
	return n, nil
}

// totalOf finds the sum of all instructions in a profile of callgrind.
func totalOf(profile []byte) (int64, error) {
	const key = "\ntotals: "
	at := bytes.LastIndex(profile, []byte(key))
	if at < 0 {
		return 0, fmt.Errorf("callgrind's profile has no totals")
	}
	number, _, _ := bytes.Cut(profile[at+len(key):], []byte("\n"))
	n, err := strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("callgrind's profile: totals: %w", err)
	}
	return n, nil
}

func TestTotalOf(t *testing.T) {
	for _, c := range []struct {
		profile string
		want    int64
		wrong   bool
	}{
		{"events: Ir\nsummary: 7\n\nfn=(1) f\n12 5\n\ntotals: 1234567\n", 1234567, false},
		{"events: Ir\nsummary: 7\n", 0, true},
		{"fn=(1) f\ntotals: 1 2\n", 0, true},
		{"", 0, true},
	} {
		if got, err := totalOf([]byte(c.profile)); got != c.want || (err != nil) != c.wrong {
			t.Errorf("%q: %d, %v", c.profile, got, err)
		}
	}
}
