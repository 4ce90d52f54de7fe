package peak

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"fiord/clock"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/sys"
)

// opcode is the operation of all entries.
func opcode(c *Config) uint8 {
	switch {
	case c.Nop:
		return ring.IORING_OP_NOP
	case c.Passthrough:
		return ring.IORING_OP_URING_CMD
	case c.FixedBufs && c.Vectored:
		return ring.IORING_OP_READV_FIXED
	case c.FixedBufs:
		return ring.IORING_OP_READ_FIXED
	case c.Vectored:
		return ring.IORING_OP_READV
	}
	return ring.IORING_OP_READ
}

// templates writes what is the same in all entries into each place of the ring, once. The kernel only reads entries, so
// the loop need not write it again; it writes the rest, and never leaves a place half written.
func (w *worker) templates() {
	c := w.cfg
	for i := range w.ring.Params().SQEntries {
		e := w.ring.SQE(i)
		*e = ring.SQE{Opcode: opcode(c), Fd: w.targets[0].fd, Len: uint32(c.BlockSize)}
		switch {
		case c.Passthrough:
			w.commandTemplate(w.ring.SQE128(i))
		case c.Nop:
			e.OpFlags = ring.IORING_NOP_FILE | ring.IORING_NOP_INJECT_RESULT
			if c.RegisterFiles {
				e.OpFlags |= ring.IORING_NOP_FIXED_FILE
			}
			if c.FixedBufs {
				e.OpFlags |= ring.IORING_NOP_FIXED_BUFFER
			}
			continue // the file is named by OpFlags
		case c.Vectored:
			e.Len = 1
		}
		if c.RegisterFiles {
			e.Flags = ring.IOSQE_FIXED_FILE
		}
	}
}

// commandTemplate is the same for a read command. The first target gives the size; where there are several, the loop
// writes all of it again.
func (w *worker) commandTemplate(e *ring.SQE128) {
	c := w.cfg
	*e = ring.SQE128{SQE: e.SQE}
	e.Off, e.Len = nvme.NVME_URING_CMD_IO, 0
	if c.Vectored {
		e.Off = nvme.NVME_URING_CMD_IO_VEC
	}
	if c.FixedBufs {
		e.OpFlags = ring.IORING_URING_CMD_FIXED
	}
	w.command(nvme.At(e.Command()), &w.targets[0], 0)
}

// command fills the parts of a command that depend on the target.
func (w *worker) command(cmd *nvme.Command, t *target, start uint64) {
	checks := nvme.Checks{Flags: nvme.PRInfoAct} // the drive strips protection information
	cmd.Blocks(nvme.OpRead, t.format.NSID, start, uint32(t.unit), 0)
	checks.Command(&t.format, cmd, start)
	cmd.DataLen = uint32(w.cfg.BlockSize)
	if w.cfg.Vectored {
		cmd.DataLen = 1
	}
}

// step fills a batch if there is room, enters the kernel once, and takes what has ended.
func (w *worker) step() error {
	r := w.ring
	todo := r.Pending()
	if todo == 0 && w.flight < w.depth {
		todo = uint32(min(w.depth-w.flight, w.submit))
		w.fill(todo)
		w.flight += int(todo)
	}
	wait := w.waitFor(todo)
	w.calls++
	err := r.SubmitAndWait(wait)
	w.submitted += uint64(todo - r.Pending())
	if e := w.reap(); e != nil {
		return e
	}
	if wait > 0 || w.calls&7 == 0 {
		// Where nothing waits, the next call is less than a millisecond away.
		w.publish()
	}
	if err == ring.ErrBusy {
		return w.busy()
	}
	return err
}

// waitFor is how many completions the call waits for that hands todo entries over, which are in flight already: some when
// there would be no room for another batch like this one.
func (w *worker) waitFor(todo uint32) uint32 {
	if todo != 0 && w.flight+int(todo) <= w.depth {
		return 0
	}
	return uint32(min(w.flight, w.complete))
}

// busy waits for what makes room when the kernel takes no more.
func (w *worker) busy() error {
	w.calls++
	if w.flight > int(w.ring.Pending()) {
		return w.ring.Wait(1, time.Second)
	}
	sys.Sleep(100 * time.Microsecond)
	return nil
}

// fill writes the next n entries and publishes them.
func (w *worker) fill(n uint32) {
	stamp := w.stamp()
	switch {
	case w.several:
		w.fillSeveral(n, stamp)
	case w.nop:
		w.fillNops(n, stamp)
	case w.passthrough:
		w.fillCommands(n, stamp)
	default:
		w.fillReads(n, stamp)
	}
	w.ring.Publish(n)
}

// fillReads is the plain case: one file, entries of one size.
func (w *worker) fillReads(n uint32, stamp uint64) {
	first, rest := w.ring.SQEs(n)
	w.fillRun(first, stamp)
	w.fillRun(rest, stamp)
}

func (w *worker) fillRun(list []ring.SQE, stamp uint64) {
	left := len(w.free) - len(list)
	free := w.free[left:][:len(list)]
	t, unit, buffers, stride := &w.targets[0], w.targets[0].unit, w.buffers, w.stride
	for i := range list {
		e, buf := &list[i], uint64(free[i])
		e.Off = w.block(t) * unit
		e.Addr = buffers + buf*stride
		e.UserData = stamp | buf
	}
	w.free = w.free[:left]
}

func (w *worker) fillCommands(n uint32, stamp uint64) {
	r, t, unit := w.ring, &w.targets[0], w.targets[0].unit
	rest := len(w.free) - int(n)
	for i, buf := range w.free[rest:] {
		e := r.SQE128(uint32(i))
		e.UserData = stamp | uint64(buf)
		cmd := nvme.At(e.Command())
		start := w.block(t) * unit
		cmd.CDW10, cmd.CDW11 = uint32(start), uint32(start>>32)
		cmd.Addr = w.buffers + uint64(buf)*w.stride
	}
	w.free = w.free[:rest]
}

// fillSeveral is for several files, which each batch begins one further.
func (w *worker) fillSeveral(n uint32, stamp uint64) {
	w.rotate()
	rest := len(w.free) - int(n)
	for i, buf := range w.free[rest:] {
		at := w.nextTarget()
		t := &w.targets[at]
		t.pending++
		w.owner[buf] = uint32(at)
		e := w.ring.SQE(uint32(i))
		e.Fd = t.fd
		e.UserData = stamp | uint64(buf)
		addr := w.buffers + uint64(buf)*w.stride
		switch {
		case w.nop:
		case w.passthrough:
			cmd := nvme.At(w.ring.SQE128(uint32(i)).Command())
			w.command(cmd, t, w.block(t)*t.unit)
			cmd.Addr = addr
		default:
			e.Off, e.Addr = w.block(t)*t.unit, addr
		}
	}
	w.free = w.free[:rest]
}

// reap takes all completions that are there.
func (w *worker) reap() error {
	r := w.ring
	n := r.Ready()
	if n == 0 {
		return nil
	}
	if w.timed {
		w.reapTimes(n)
	}
	var err error
	switch {
	case w.passthrough || w.several:
		err = w.takeAny(n)
	case w.nop:
		err = w.takeNops(n)
	default:
		first, rest := r.CQEs(n)
		err = w.takeRun(first)
		if e := w.takeRun(rest); err == nil {
			err = e
		}
	}
	w.flight -= int(n)
	w.done += uint64(n)
	r.Advance(n)
	return err
}

// takeRun takes completions of the plain case.
func (w *worker) takeRun(list []ring.CQE) error {
	have := len(w.free)
	w.free = w.free[:have+len(list)]
	back, want := w.free[have:][:len(list)], w.want
	var err error
	for i := range list {
		c := &list[i]
		back[i] = uint16(c.UserData)
		if c.Res != want && err == nil {
			err = w.result(c.Res, back[i])
		}
	}
	return err
}

// takeAny takes completions of any size, and of any number of files.
func (w *worker) takeAny(n uint32) error {
	several := w.several
	have := len(w.free)
	w.free = w.free[:have+int(n)]
	var err error
	for i := range n {
		c := w.ring.CQE(i)
		buf := uint16(c.UserData)
		w.free[have+int(i)] = buf
		if several {
			w.targets[w.owner[buf]].pending--
		}
		if c.Res != w.want && err == nil {
			err = w.result(c.Res, buf)
		}
	}
	return err
}

// reapTimes counts the latencies of the next n completions. Those of one batch mostly come together.
func (w *worker) reapTimes(n uint32) {
	now := clock.Ticks() & stampMask
	last, run := uint64(0), uint64(0)
	for i := range n {
		then := w.ring.CQE(i).UserData >> stampShift
		if then != last {
			w.latency(now, last, run)
			last, run = then, 0
		}
		run++
	}
	w.latency(now, last, run)
}

// result tells what is wrong with a read. What the device could not read is counted, anything else ends the run.
func (w *worker) result(res int32, buf uint16) error {
	if !w.cfg.Passthrough && (res == -int32(syscall.EIO) || res == -int32(syscall.ENODATA)) {
		w.failed++
		return nil
	}
	t := &w.targets[0]
	if w.several {
		t = &w.targets[w.owner[buf]]
	}
	return &ReadError{Path: t.path, Size: w.cfg.BlockSize, Result: res, polled: w.cfg.Polled, direct: w.cfg.Direct,
		command: w.cfg.Passthrough, nop: w.cfg.Nop}
}

// drainLimit is how long reads in flight may take to end. The kernel's own limit for an NVMe command is half a minute.
const drainLimit = 40 * time.Second

// drain waits for the reads in flight, whose buffers the device may still write to.
func (w *worker) drain() error {
	if w.ring == nil {
		return nil
	}
	w.flight -= int(w.ring.Withdraw())
	until := time.Now().Add(drainLimit)
	for w.flight > 0 && time.Now().Before(until) {
		if err := w.ring.Wait(uint32(w.flight), time.Second); err != nil {
			return err
		}
		n := w.ring.Ready()
		w.ring.Advance(n)
		w.flight -= int(n)
	}
	return w.ring.Lost()
}

// ReadError is a read that went wrong in a way that ends the run.
type ReadError struct {
	Path   string
	Size   int   // bytes that were asked for
	Result int32 // what the kernel answered

	polled, direct, command, nop bool
}

// Error says what the answer means and what to do about it.
func (e *ReadError) Error() string {
	switch {
	case e.command && e.Result > 0:
		return fmt.Sprintf("%s: read command of %d bytes: NVMe status: %v", e.Path, e.Size, nvme.Status(e.Result))
	case e.Result >= 0:
		return fmt.Sprintf("%s: short read: %d of %d bytes", e.Path, e.Result, e.Size)
	}
	errno := syscall.Errno(-e.Result)
	text := fmt.Sprintf("%s: read of %d bytes: %v", e.Path, e.Size, errno)
	switch {
	case e.nop && errno == syscall.EINVAL:
		text = fmt.Sprintf("%s: no-op request: %v: requests that name a file need Linux 6.13", e.Path, errno)
	case e.polled && errno == syscall.EOPNOTSUPP && !e.direct && !e.command:
		text += ": only direct I/O can be polled: give -O1, or -p0"
	case e.polled && errno == syscall.EOPNOTSUPP:
		text += ": it cannot be polled: give -p0"
	case e.direct && errno == syscall.EINVAL:
		text += ": with O_DIRECT -b must be a multiple of the device's block"
	}
	return text
}

// Unwrap is the errno, or nil for a short read and a status of the drive.
func (e *ReadError) Unwrap() error {
	if e.Result >= 0 {
		return nil
	}
	return syscall.Errno(-e.Result)
}

// isRead tells a ReadError from mistakes of set-up.
func isRead(err error) (*ReadError, bool) {
	var e *ReadError
	return e, errors.As(err, &e)
}
