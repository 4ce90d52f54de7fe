// Package test holds the tests of the whole program: fiord against a real fio, against what one printed before, and
// from job file to files on disk.
//
// The program under test is the test binary itself, run again.
package test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"fiord/cli"
	"fiord/engines/all"
)

// asFiord in the environment makes the test binary be fiord.
const asFiord = "FIORD_TEST_BE_FIORD"

func TestMain(m *testing.M) {
	if os.Getenv(asFiord) != "" {
		os.Exit(cli.Main(all.Drivers()...))
	}
	os.Exit(m.Run())
}

// outcome is what a command left behind.
type outcome struct {
	stdout, stderr []byte
	status         int
}

// fiord runs fiord in dir.
func fiord(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return fiordWith(t, dir, nil, args...)
}

// fiordWith runs fiord in dir with more variables in its environment.
func fiordWith(t *testing.T, dir string, env []string, args ...string) outcome {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return command(t, dir, slices.Concat(os.Environ(), env, []string{asFiord + "=1"}), exe, args...)
}

// command runs a program in dir. The time limit only keeps a hanging one from holding up the tests for ever.
func command(t *testing.T, dir string, env []string, program string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, env, &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", program, err)
	}
	return outcome{stdout.Bytes(), stderr.Bytes(), c.ProcessState.ExitCode()}
}

// findFio returns the real fio to compare with: the one that FIO_BIN names, or the first in PATH. Without one the test is
// skipped, or with FIORD_NEED_TOOLS=1 in the environment fails.
func findFio(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("FIO_BIN"); bin != "" {
		return bin
	}
	bin, err := exec.LookPath("fio")
	if err != nil {
		const why = "no real fio to compare with: none in PATH, and FIO_BIN is not set"
		if os.Getenv("FIORD_NEED_TOOLS") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	return bin
}
