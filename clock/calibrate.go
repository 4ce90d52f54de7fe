package clock

import (
	"math"
	"math/bits"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const (
	// calibrationSpan is the least distance between the two points of the calibration line. A point is good to some
	// 30 ns, so the rate is good to a few millionths, about what NTP is allowed to bend CLOCK_MONOTONIC by.
	calibrationSpan = 20 * time.Millisecond
	// pointTries is how often a point is taken; the tightest bracket wins, so that an interrupt does no harm.
	pointTries = 16
	// maxSkew is how far apart the counters of two CPUs may be, in ns: above what a point can be wrong by on a busy
	// virtual machine, far below any latency worth measuring that a migration could touch.
	maxSkew = 5000
)

// A point is the counter and the monotonic clock at one moment.
type point struct {
	ticks uint64
	ns    int64
	width uint64 // ticks between the two reads that enclose ns
}

func takePoint() point {
	best := point{width: math.MaxUint64}
	for range pointTries {
		before := ticks()
		ns := int64(time.Since(start))
		width := ticks() - before
		if width < best.width {
			best = point{ticks: before + width/2, ns: ns, width: width}
		}
	}
	return best
}

func firstPoint() point {
	if counterTrusted() != nil {
		return point{}
	}
	return takePoint()
}

// calibrate sets base and scale, or says why the counter cannot be the clock. Done once; a second call keeps the line.
func calibrate() error {
	if scale.mult != 0 {
		return nil
	}
	if err := counterTrusted(); err != nil {
		return err
	}
	if rest := calibrationSpan - time.Since(start); rest > 0 {
		time.Sleep(rest)
	}
	second := takePoint()
	r, b, err := fit(first, second)
	if err != nil {
		return err
	}
	if err := sameOnAllCPUs(r, second); err != nil {
		return err
	}
	scale, base = r, b
	return nil
}

// fit lays a line through two points: the ratio, and the counter value at the zero of Now.
func fit(a, b point) (ratio, uint64, error) {
	if b.ticks <= a.ticks || b.ns <= a.ns {
		return ratio{}, 0, untrusted("the counter stands still")
	}
	r := ratioOf(uint64(b.ns-a.ns), b.ticks-a.ticks)
	if r.mult == 0 {
		return ratio{}, 0, untrusted("the counter runs impossibly fast")
	}
	// Ticks that passed from the zero of Now to the first point.
	hi, lo := bits.Mul64(uint64(a.ns), b.ticks-a.ticks)
	gone, _ := bits.Div64(hi, lo, uint64(b.ns-a.ns))
	return r, a.ticks - gone, nil
}

// sameOnAllCPUs compares the counter with the monotonic clock on every CPU this process may use. The thread that moved
// about is not given back to the runtime, so no affinity has to be restored.
func sameOnAllCPUs(r ratio, ref point) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- compareCPUs(r, ref)
	}()
	return <-result
}

func compareCPUs(r ratio, ref point) error {
	var allowed, one [1024 / 8]byte // as many CPUs as glibc's cpu_set_t
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(allowed),
		uintptr(unsafe.Pointer(&allowed)))
	if errno != 0 {
		return nil // more CPUs than the mask holds: the processor's own word has to do
	}
	for cpu := range int(n) * 8 {
		if allowed[cpu/8]>>(cpu%8)&1 == 0 {
			continue
		}
		one = [len(one)]byte{}
		one[cpu/8] = 1 << (cpu % 8)
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(one),
			uintptr(unsafe.Pointer(&one)))
		if errno != 0 {
			continue // went offline meanwhile
		}
		if skew := skewOf(r, ref, takePoint()); skew > maxSkew || skew < -maxSkew {
			return untrusted("the counters of the CPUs differ")
		}
	}
	return nil
}

// skewOf is how many ns the counter is ahead of the monotonic clock at p, given that both agreed at ref.
func skewOf(r ratio, ref, p point) int64 {
	passed := p.ns - ref.ns
	d := int64(p.ticks - ref.ticks)
	if d < 0 {
		return -r.nanos(uint64(-d)) - passed
	}
	return r.nanos(uint64(d)) - passed
}
