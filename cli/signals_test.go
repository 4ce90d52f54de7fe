package cli

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestEchoes gives signals at times: what timeout(1) sends twice counts once, what a user sends again counts again.
func TestEchoes(t *testing.T) {
	var e echoes
	began := time.Now()
	for i, c := range []struct {
		ms   int
		got  os.Signal
		echo bool
	}{
		{0, syscall.SIGUSR1, false},
		{1, syscall.SIGUSR1, false},
		{2, syscall.SIGINT, false},
		{2, syscall.SIGINT, true},
		{400, syscall.SIGINT, true},
		{600, syscall.SIGINT, false}, // the echo at 400 has not put it off
		{601, syscall.SIGTERM, false},
		{602, syscall.SIGTERM, true},
		{603, syscall.SIGINT, false},
	} {
		if got := e.is(c.got, began.Add(time.Duration(c.ms)*time.Millisecond)); got != c.echo {
			t.Errorf("signal %d, %s at %d ms: echo is %v", i, c.got, c.ms, got)
		}
	}
}

// TestOSSignals sends this process real signals.
func TestOSSignals(t *testing.T) {
	in, off := osSignals()
	defer off()
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGINT} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		if got := <-in; got != s {
			t.Errorf("got %s, want %s", got, s)
		}
	}
}
