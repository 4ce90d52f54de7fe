// Package mmap is the engine that copies from and to a memory mapping of the file.
//
// It owns the mappings and turns page faults that cannot be served, as of a file that was cut, into errors of the I/O.
// It must not know how I/O is scheduled.
package mmap

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"fiord/engines"
	"fiord/engines/fileop"
	"fiord/job"
)

// Options are the options of mmap.
type Options struct {
	THP int `fio:"thp" help:"Advise the kernel to use transparent huge pages for the mapping"`
}

// Driver is the mmap engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:    "mmap",
		Doc:     "Maps the file into memory and copies from and to it.",
		Traits:  job.Traits{Sync: true, NoExtend: true},
		Options: func() any { return &Options{} },
		Open:    open,
	}
}

// engine is a SyncEngine.
type engine struct {
	maps   []mapping // by File.Index
	prot   int
	flags  int
	advice int // MADV_RANDOM, MADV_SEQUENTIAL, or -1
	huge   bool
	direct bool // drop the pages of each I/O
	page   int64
}

// mapping is the window of one file that is mapped. File.Engine points to it, and whoever opens the file clears that
// pointer, so a mapping never outlives the file that it shows.
type mapping struct {
	mem  []byte
	from int64 // file offset of mem[0]
}

func open(w *engines.Worker, options any) (engines.Engine, error) {
	o := options.(*Options)
	e := &engine{maps: make([]mapping, len(w.Files)), flags: unix.MAP_SHARED, advice: -1, huge: o.THP != 0,
		direct: w.Job.Direct, page: int64(os.Getpagesize())}
	if err := checkBlockSize(w.Job, uint64(e.page)); err != nil {
		return nil, err
	}
	if e.huge {
		e.flags = unix.MAP_PRIVATE // as fio does: huge pages need memory of the process, so writes do not reach the file
	}
	verifies := w.Job.Verify != "" && w.Job.Verify != "0"
	if w.Job.RW.Read || verifies || !w.Job.RW.Write {
		e.prot |= unix.PROT_READ
	}
	if w.Job.RW.Write && !w.Job.VerifyOnly {
		e.prot |= unix.PROT_WRITE
	}
	switch w.Job.FadviseHint {
	case "random":
		e.advice = unix.MADV_RANDOM
	case "sequential":
		e.advice = unix.MADV_SEQUENTIAL
	case "1":
		e.advice = unix.MADV_SEQUENTIAL
		if w.Job.RW.Random {
			e.advice = unix.MADV_RANDOM
		}
	case "noreuse":
		return nil, fmt.Errorf("mmap: fadvise_hint=noreuse does not apply to a mapping")
	}
	return engines.Adapt(e, w.Depth), nil
}

// checkBlockSize refuses blocks of parts of pages where pages are written back one I/O at a time.
func checkBlockSize(j *job.Job, page uint64) error {
	least := uint64(0)
	for d, on := range [job.NDirs]bool{j.RW.Read, j.RW.Write, j.RW.Trim} {
		if bs := j.MinBS[d]; on && bs > 0 && (least == 0 || bs < least) {
			least = bs
		}
	}
	if least%page != 0 && (j.Direct || j.Fsync > 0 || j.Fdatasync > 0) {
		return fmt.Errorf("mmap: block size %d: want multiples of the page size of %d bytes with direct, fsync or fdatasync",
			least, page)
	}
	return nil
}

// Do copies the block or syncs the mapping.
func (e *engine) Do(u *engines.IO) {
	u.Done, u.Errno = 0, 0
	switch u.Op {
	case engines.Read, engines.Write:
		e.copy(u)
	case engines.Trim:
		fileop.Trim(u)
		if u.Errno == 0 && e.direct {
			e.drop(u)
		}
	default:
		if m, ok := u.File.Engine.(*mapping); ok && m.mem != nil {
			u.Errno = msync(m.mem)
		}
	}
}

func (e *engine) copy(u *engines.IO) {
	mem, errno := e.window(u)
	if errno != 0 {
		u.Errno = errno
		return
	}
	ok := false
	if u.Op == engines.Read {
		ok = copyMapped(u.Buf, mem)
	} else {
		ok = copyMapped(mem, u.Buf)
	}
	if !ok {
		// The kernel raised SIGBUS: the file ends before this block, or the device failed.
		u.Errno = syscall.EIO
		return
	}
	u.Done = len(u.Buf)
	if e.direct {
		e.drop(u)
	}
}

// copyMapped copies, and reports whether it got through without a fault of the mapping.
func copyMapped(to, from []byte) (ok bool) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if p := recover(); p != nil {
			// Only a fault has an address; anything else is a bug of ours.
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			ok = false
		}
	}()
	copy(to, from)
	return true
}

// drop writes the pages of u back and forgets them, the nearest that a mapping has to direct I/O.
func (e *engine) drop(u *engines.IO) {
	mem, errno := e.window(u)
	if errno == 0 {
		// The mapping starts on a page, so blocks of whole pages do, too; checkBlockSize saw to the length.
		if errno = msync(mem); errno == 0 {
			errno = errnoOf(unix.Madvise(mem, unix.MADV_DONTNEED))
		}
	}
	if errno != 0 {
		u.Done, u.Errno = 0, errno
	}
}

// window is the mapped bytes of u's block. The whole range of the job is mapped at the first I/O; only where that fails,
// or an I/O lies outside of it, the block alone.
func (e *engine) window(u *engines.IO) ([]byte, syscall.Errno) {
	f, n := u.File, int64(len(u.Buf))
	m, ok := f.Engine.(*mapping)
	if !ok {
		m = &e.maps[f.Index]
		m.unmap()
		f.Engine = m
	}
	if at := u.Offset - m.from; m.mem != nil && at >= 0 && at+n <= int64(len(m.mem)) {
		return m.mem[at : at+n], 0
	}
	if n == 0 {
		return nil, 0
	}
	m.unmap()
	if u.Offset >= f.Offset && u.Offset+n <= f.Offset+f.Length {
		if errno := e.mapRange(m, f, f.Offset, f.Length); errno == 0 {
			at := u.Offset - m.from
			return m.mem[at : at+n], 0
		}
	}
	if errno := e.mapRange(m, f, u.Offset, n); errno != 0 {
		return nil, errno
	}
	at := u.Offset - m.from
	return m.mem[at : at+n], 0
}

// mapRange maps the bytes from an offset of the file, and those before it on the same page.
func (e *engine) mapRange(m *mapping, f *engines.File, from, length int64) syscall.Errno {
	start := from &^ (e.page - 1)
	mem, err := unix.Mmap(f.Fd, start, int(from-start+length), e.prot, e.flags)
	if err != nil {
		return errnoOf(err)
	}
	if e.huge {
		_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // advice only: the mapping works without
	}
	if e.advice >= 0 {
		err = unix.Madvise(mem, e.advice)
	}
	if err == nil {
		err = unix.Madvise(mem, unix.MADV_DONTNEED)
	}
	if err != nil {
		_ = unix.Munmap(mem)
		return errnoOf(err)
	}
	m.mem, m.from = mem, start
	return 0
}

func (m *mapping) unmap() {
	if m.mem != nil {
		_ = unix.Munmap(m.mem)
		m.mem = nil
	}
}

// msync writes the pages of mem back; mem need not start on a page.
func msync(mem []byte) syscall.Errno {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	skip := at & uintptr(os.Getpagesize()-1)
	_, _, errno := syscall.Syscall(syscall.SYS_MSYNC, at-skip, uintptr(len(mem))+skip, unix.MS_SYNC)
	return errno
}

func errnoOf(err error) syscall.Errno {
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	return 0
}

// Close unmaps everything. What was written and not synced reaches the file in the kernel's time.
func (e *engine) Close() error {
	for i := range e.maps {
		e.maps[i].unmap()
	}
	return nil
}
