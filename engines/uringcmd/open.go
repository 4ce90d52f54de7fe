package uringcmd

import (
	"errors"
	"fmt"
	"os"

	"fiord/engines"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/feature"
	"fiord/internal/sys"
	"fiord/workload"
)

// errForeign is a completion that belongs to no request.
var errForeign = errors.New("io_uring_cmd: the kernel completed a request that was never made")

// open makes the engine of w, on the thread that will use it.
func open(s *system, w *engines.Worker, o *Options) (*engine, error) {
	e := &engine{sys: s, w: w, o: o, ios: w.IOs, reasons: make([]error, len(w.IOs)),
		vectored: o.Nonvectored == 0}
	if err := o.check(w.Job); err != nil {
		return nil, err
	}
	if o.Fixedbufs && !feature.AtLeast(6, 1) {
		return nil, &feature.Error{Name: "fixedbufs with passthrough commands", Since: "6.1"}
	}
	if err := e.commands(); err != nil {
		return nil, err
	}
	for _, f := range w.Files {
		if _, err := e.device(f); err != nil {
			return nil, err
		}
	}
	if err := e.prepareAppends(); err != nil {
		return nil, err
	}
	var err error
	e.Queue, err = queue.New(s.ring, w, queue.Config{Hipri: o.Hipri, SqthreadPoll: o.SqthreadPoll,
		SqthreadPollCPU: o.SqthreadPollCPU, Registerfiles: o.Registerfiles, Fixedbufs: o.Fixedbufs && (w.Job.RW.Read || w.Job.RW.Write),
		ForceAsync: o.ForceAsync, Wide: true, Own: o.Own})
	if err != nil {
		return nil, err
	}
	if err := e.prepare(); err != nil {
		_ = e.Close()
		return nil, err
	}
	e.plain = e.isPlain()
	e.notices()
	return e, nil
}

// commands turns options into what commands carry.
func (e *engine) commands() error {
	var err error
	if e.checks, err = e.o.checks(); err != nil {
		return err
	}
	if e.writes, err = e.o.writeModes(); err != nil {
		return err
	}
	if len(e.writes) > 1 {
		e.draw = workload.StreamRand(e.w.Job, workload.WriteModeStream)
	}
	if e.o.Readfua {
		e.readFlags = nvme.FUA
	}
	e.compare = e.o.VerifyMode == "compare"
	e.place, err = newPlacer(e.w)
	return err
}

// prepare registers what is to be registered and makes the memory that commands point to.
func (e *engine) prepare() error {
	ops, err := e.R.Probe()
	if err != nil {
		return err
	}
	if !ops[ring.IORING_OP_URING_CMD] {
		return &feature.Error{Name: "passthrough through io_uring", Since: "5.19"}
	}
	n := len(e.w.IOs)
	if e.vectored {
		if e.iovecs, err = queue.NewMemory[ring.Iovec](n); err != nil {
			return fmt.Errorf("memory for iovecs: %w", err)
		}
	}
	if err := e.prepareTrims(n); err != nil {
		return err
	}
	if e.o.MdPerIOSize > 0 {
		if e.meta, err = sys.NewArena("malloc", e.o.MdPerIOSize*n, 0, 0, ""); err != nil {
			return fmt.Errorf("md_per_io_size=%d: memory for metadata: %w", e.o.MdPerIOSize, err)
		}
		// Linux 6.12 pins metadata for reading even where the drive writes to it. A page never written to is the zero page
		// that all processes share, and the drive would fill that.
		for i := 0; i < len(e.meta.Mem); i += os.Getpagesize() {
			e.meta.Mem[i] = 0xff
		}
		clear(e.meta.Mem)
	}
	return e.Register(e.w)
}

// prepareTrims makes room for the ranges of trims. Jobs that only write trim too, what verification has them trim.
func (e *engine) prepareTrims(n int) error {
	j := e.w.Job
	if !j.RW.Trim && j.TrimPercentage == 0 && j.ReadIolog == "" {
		return nil
	}
	e.most = 1
	if j.RW.Trim && j.NumRange > 1 {
		e.most = j.NumRange
		e.several = make([]int, n)
	}
	var err error
	if e.ranges, err = queue.NewMemory[nvme.Range](n * e.most); err != nil {
		return fmt.Errorf("memory for ranges: %w", err)
	}
	return nil
}

// Compares reports whether the drive is to compare what verification reads back.
func (e *engine) Compares() bool { return e.compare }

// NextPass starts the random choices of placement anew.
func (e *engine) NextPass() {
	if e.place != nil {
		e.place.nextPass()
	}
}

// notices say what a reader of the report must know.
func (e *engine) notices() {
	if e.o.CmdType == "null" {
		e.w.Notice("io_uring_cmd: cmd_type=null: no drive took part, the numbers are those of the software alone")
	}
	if v := e.w.Job.Verify; e.compare && (v == "" || v == "0") {
		e.w.Notice("io_uring_cmd: verify_mode=compare has no effect without verify")
	}
	if e.o.PIChk != "" {
		for _, d := range e.devices {
			if d != nil && d.ns.PIType == 0 {
				e.w.Notice("io_uring_cmd: pi_chk has no effect: %s is formatted without protection information", d.path)
			}
		}
	}
	e.unused()
	if s := e.w.Job.Sync; s != "" && s != "none" && s != "0" {
		e.w.Notice("io_uring_cmd: sync=%s has no effect on commands; writefua=1 has", s)
	}
}

// unused names options that no command of the job has a bit for.
func (e *engine) unused() {
	o, rw := e.o, e.w.Job.RW
	var flags uint32 // of all writes
	for _, s := range e.writes {
		flags |= s.flags
	}
	if o.Readfua && !rw.Read {
		e.w.Notice("io_uring_cmd: readfua=1 has no effect: the job does not read")
	}
	if o.Writefua && (!rw.Write || flags&nvme.FUA == 0) {
		e.w.Notice("io_uring_cmd: writefua=1 has no effect: the job sends no command that has it")
	}
	if o.Deac && (!rw.Write || flags&nvme.Deallocate == 0) {
		e.w.Notice("io_uring_cmd: deac=1 has no effect without write_mode=zeroes")
	}
}

// device is what is known of f, which is found out on the first call.
func (e *engine) device(f *engines.File) (*device, error) {
	for f.Index >= len(e.devices) {
		e.devices = append(e.devices, nil)
	}
	if d := e.devices[f.Index]; d != nil {
		return d, nil
	}
	d, err := e.sys.device(f, e.w.Job, e.o)
	if err != nil {
		return nil, err
	}
	if err := d.checkFile(f); err != nil {
		return nil, err
	}
	if e.place != nil {
		ids, err := e.sys.identifiers(d, e.w.Job)
		if err != nil {
			return nil, err
		}
		e.place.add(f.Index, ids)
	}
	e.devices[f.Index] = d
	e.protect = e.protect || d.ns.PIType != 0
	e.plain = e.plain && d.fmt.Meta == 0 && d.ns.PIType == 0 // a file may come late
	return d, nil
}

// OpenFile opens a namespace. Of the flags only the access mode means anything to it.
func (e *engine) OpenFile(f *engines.File, flags int) error {
	if _, err := e.device(f); err != nil {
		return err
	}
	fd, err := e.sys.open(f.Name, flags&(os.O_RDONLY|os.O_WRONLY|os.O_RDWR), 0)
	if err != nil {
		return err
	}
	f.Fd = fd
	return nil
}

// CloseFile closes it.
func (e *engine) CloseFile(f *engines.File) error { return closeOn(e.sys, f) }

func closeOn(s *system, f *engines.File) error {
	fd := f.Fd
	f.Fd = -1
	if fd < 0 {
		return nil
	}
	return s.close(fd)
}

// Close waits for what is in flight, then releases the ring and the memory that commands pointed to.
func (e *engine) Close() error {
	err := e.Queue.Close()
	err = errors.Join(err, e.iovecs.Close(), e.ranges.Close())
	if e.meta != nil {
		err = errors.Join(err, e.meta.Close())
		e.meta = nil
	}
	return err
}
