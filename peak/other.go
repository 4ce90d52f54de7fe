package peak

import (
	"fmt"
	"syscall"

	"fiord/clock"
	"fiord/internal/sys"
)

// stepSync does one read by preadv2.
func (w *worker) stepSync() error {
	if w.several {
		w.rotate()
	}
	t := &w.targets[w.current]
	flags := 0
	if w.cfg.Polled {
		flags = sys.ReadHighPriority
	}
	then := w.stamp()
	off := w.block(t) * t.unit
	w.calls++
	n, errno := sys.ReadVector(t.file.fd, w.iov, int64(off), flags)
	w.submitted++
	w.done++
	res := int32(n)
	if errno != 0 {
		res = -int32(errno)
	}
	if res != w.want {
		w.owner[0] = uint32(w.current)
		if err := w.result(res, 0); err != nil {
			return err
		}
	} else if then != 0 {
		w.latency(clock.Ticks()&stampMask, then>>stampShift, 1)
	}
	w.publish()
	return nil
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
