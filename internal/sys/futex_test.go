package sys

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestWaitWhile(t *testing.T) {
	var word atomic.Uint32
	if !WaitWhile(&word, 1, time.Hour) {
		t.Error("the word has another value: want no wait")
	}
	for WaitWhile(&word, 0, time.Nanosecond) { // nobody wakes it, but a signal may: in the end the time runs out
	}
}

// TestWakeAll lets threads wait until the word changes: a test that hangs has failed.
func TestWakeAll(t *testing.T) {
	const threads = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads + 2)) // each keeps its processor
	defer debug.SetGCPercent(debug.SetGCPercent(-1))          // a collection would wait for them
	var word atomic.Uint32
	var begun, woken sync.WaitGroup
	begun.Add(threads)
	for range threads {
		woken.Go(func() {
			runtime.LockOSThread() // the thread ends with it
			begun.Done()
			for word.Load() == 0 {
				WaitWhile(&word, 0, 0)
			}
		})
	}
	begun.Wait()
	word.Store(1)
	WakeAll(&word)
	woken.Wait()
}
