package test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// peakFile makes a file to read from, f, in a new folder.
func peakFile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPeakMistakes(t *testing.T) {
	dir := peakFile(t)
	const hint = "  fiord peak -h lists the flags\n"
	for _, c := range []struct{ args, stderr string }{
		{"-d0 f", "fiord: peak: -d: want a whole number from 1 to 32768, got \"0\"\n" + hint},
		{"f -b", "fiord: peak: -b: want a value\n" + hint},
		{"-Z1 f", "fiord: peak: unknown flag \"-Z\"\n" + hint},
		{"-O0 none", "fiord: peak: none: no such file or directory\n"},
		{"-u1 -O0 f", "fiord: peak: f is not a character device: commands need that of an NVMe namespace, such as /dev/ng0n1\n"},
	} {
		got := fiord(t, dir, append([]string{"peak"}, strings.Fields(c.args)...)...)
		if got.status != 1 || string(got.stderr) != c.stderr || len(got.stdout) > 0 {
			t.Errorf("%s: status %d\n%s%s", c.args, got.status, got.stdout, got.stderr)
		}
	}
	if got := fiord(t, dir, "peak", "-h"); got.status != 0 || !bytes.Contains(got.stdout, []byte("-u <bool>")) || len(got.stderr) > 0 {
		t.Errorf("-h: status %d\n%s%s", got.status, got.stdout, got.stderr)
	}
}

// TestPeakInterrupted ends a run as a user does, with the interrupt key, once it has shown a rate.
func TestPeakInterrupted(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, "peak", "-S1", "-p0", "-O0", "f")
	c.Dir = peakFile(t)
	c.Env = append(os.Environ(), asFiord+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	var text strings.Builder
	for !strings.Contains(text.String(), "IOPS=") {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v behind\n%s", err, &text)
		}
		text.WriteString(line)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v, want status 0", err)
	}
	if got := text.String(); !strings.Contains(got, "Exiting on signal\nMaximum IOPS=") {
		t.Errorf("no summary in\n%s", got)
	}
}
