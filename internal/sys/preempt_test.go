package sys

import (
	"bytes"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPreemptionStaysBlocked starts a program from a thread that blocks the signal: the thread goes on blocking it, the
// program does not.
func TestPreemptionStaysBlocked(t *testing.T) {
	locked(func() {
		if err := BlockPreemption(); err != nil {
			t.Error(err)
			return
		}
		var before, after unix.Sigset_t
		_ = unix.PthreadSigmask(unix.SIG_BLOCK, nil, &before)
		c := exec.Command("grep", "SigBlk", "/proc/self/status") // a shell would unblock all signals itself
		var out bytes.Buffer
		c.Stdout = &out
		if err := StartProgram(c); err != nil {
			t.Error(err)
			return
		}
		if err := c.Wait(); err != nil || out.String() != "SigBlk:\t0000000000000000\n" {
			t.Errorf("the program blocks %q, %v", &out, err)
		}
		_ = unix.PthreadSigmask(unix.SIG_BLOCK, nil, &after)
		if before != after || before == (unix.Sigset_t{}) {
			t.Errorf("the thread blocks %v, and %v after the start", before, after)
		}
	})
}
