package peak

import (
	"fmt"
	"syscall"

	"fiord/clock"
	"fiord/internal/sys"
)

// syncReads is how many reads stepSync does at most. They stay within few pages of code.
const syncReads = 16

// stepSync does some reads by preadv2, each of them counted at once, as the device may be slow.
func (w *worker) stepSync() error {
	for range syncReads {
		if err := w.readSync(); err != nil {
			return err
		}
		w.publish()
		if w.told.Load()&toldStop != 0 {
			break
		}
	}
	return nil
}

func (w *worker) readSync() error {
	if w.several {
		w.rotate()
	}
	t := &w.targets[w.current]
	then := w.stamp()
	off := w.block(t) * t.unit
	w.calls++
	n, errno := sys.ReadVector(int(t.fd), &w.iov, uintptr(off), w.readFlags)
	if errno == syscall.EINTR {
		return nil
	}
	w.submitted++
	w.done++
	if errno == 0 && n == int(w.want) {
		if then != 0 {
			w.latency(clock.Ticks()&stampMask, then>>stampShift, 1)
		}
		return nil
	}
	res := int32(n)
	if errno != 0 {
		res = -int32(errno)
	}
	w.owner[0] = uint32(w.current)
	return w.result(res, 0)
}

// stepAIO hands a batch to native AIO and waits as the ring's loop does.
func (w *worker) stepAIO() error {
	n := min(w.depth-w.flight, w.submit)
	stamp := w.stamp()
	if w.several {
		w.rotate()
	}
	rest := len(w.free) - n
	for i, buf := range w.free[rest:] {
		at := w.nextTarget()
		t := &w.targets[at]
		t.pending++
		w.owner[buf] = uint32(at)
		w.aio.Set(i, int32(t.file.fd), w.buffers+uint64(buf)*w.stride, uint32(w.cfg.BlockSize), int64(w.block(t)*t.unit),
			stamp|uint64(buf))
	}
	w.free = w.free[:rest]
	w.flight += n
	for taken := 0; taken < n; {
		w.calls++
		got, errno := w.aio.Submit(taken, n)
		taken += got
		w.submitted += uint64(got)
		if errno != 0 && errno != syscall.EINTR && errno != syscall.EAGAIN {
			return fmt.Errorf("io_submit: %w", errno)
		}
		if errno == syscall.EAGAIN {
			if err := w.waitAIO(0); err != nil {
				return err
			}
		}
	}
	wait := 0
	if n == 0 || w.flight+n > w.depth {
		wait = min(w.flight, w.complete)
	}
	if wait > 0 {
		if err := w.waitAIO(wait); err != nil {
			return err
		}
	}
	w.publish()
	return nil
}

// waitAIO takes ended reads, at least so many unless a signal ends the wait.
func (w *worker) waitAIO(least int) error {
	w.calls++
	n, errno := w.aio.Wait(least)
	if errno != 0 && errno != syscall.EINTR {
		return fmt.Errorf("io_getevents: %w", errno)
	}
	now := uint64(0)
	if w.timed {
		now = clock.Ticks() & stampMask
	}
	var first error
	for i := range n {
		data, res := w.aio.Event(i)
		buf := uint16(data)
		w.targets[w.owner[buf]].pending--
		w.free = append(w.free, buf) // never beyond its capacity
		if res != int64(w.want) && first == nil {
			first = w.result(int32(res), buf)
		}
		w.latency(now, data>>stampShift, 1)
	}
	w.flight -= n
	w.done += uint64(n)
	return first
}
