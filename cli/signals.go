package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echoTime is how long a SIGINT or SIGTERM may have echoes: timeout(1) sends each to its child and then to the whole process
// group, so that the child gets it twice. Taken for a second request, the echo would cost the report of the run.
const echoTime = 500 * time.Millisecond

// echoes tells a signal from an echo of it. The zero value is ready.
type echoes struct {
	last os.Signal
	at   time.Time
}

// is reports whether a signal that comes now is the echo of one that was none.
func (e *echoes) is(got os.Signal, now time.Time) bool {
	if got == syscall.SIGUSR1 {
		return false
	}
	if got == e.last && now.Sub(e.at) < echoTime {
		return true
	}
	e.last, e.at = got, now
	return false
}

// osSignals is Env.Signals of the real process.
func osSignals() (<-chan os.Signal, func()) {
	raw, out, done := make(chan os.Signal, 8), make(chan os.Signal, 8), make(chan struct{})
	signal.Notify(raw, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1)
	go func() {
		var e echoes
		for {
			select {
			case got := <-raw:
				if e.is(got, time.Now()) {
					continue
				}
				select {
				case out <- got:
				default: // enough of them are waiting
				}
			case <-done:
				return
			}
		}
	}()
	return out, func() {
		signal.Stop(raw)
		close(done)
	}
}
