// Package pagefault is the page_fault engine: it reads and writes anonymous memory, so that what is measured is the page
// fault of the first touch.
//
// It owns that memory. It must not know how I/O is scheduled.
package pagefault

import (
	"errors"
	"fmt"
	"syscall"

	"fiord/engines"
	"fiord/job"
)

// Driver is the page_fault engine.
func Driver() *engines.Driver {
	return &engines.Driver{
		Name:   "page_fault",
		Doc:    "Touches anonymous memory of the job's size and measures page faults.",
		Traits: job.Traits{Sync: true, NoExtend: true, Diskless: true},
		Open:   open,
	}
}

type engine struct{ mem []byte }

func open(w *engines.Worker, _ any) (engines.Engine, error) {
	if len(w.Files) != 1 {
		return nil, errors.New("page_fault: nrfiles: want one file")
	}
	f := w.Files[0]
	if f.Offset != 0 {
		return nil, errors.New("page_fault: offset: want none")
	}
	mem, err := syscall.Mmap(-1, 0, int(f.Length), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("page_fault: %d bytes of memory: %w", f.Length, err)
	}
	return engines.Adapt(&engine{mem: mem}, w.Depth), nil
}

func (e *engine) Do(u *engines.IO) {
	u.Done, u.Errno = 0, 0
	if !u.Op.IsData() {
		return
	}
	n := int64(len(u.Buf))
	if u.Op == engines.Trim || u.Offset < 0 || u.Offset+n > int64(len(e.mem)) {
		u.Errno = syscall.EINVAL
		return
	}
	at := e.mem[u.Offset : u.Offset+n]
	if u.Op == engines.Read {
		u.Done = copy(u.Buf, at)
	} else {
		u.Done = copy(at, u.Buf)
	}
}

func (e *engine) Close() error {
	if e.mem == nil {
		return nil
	}
	mem := e.mem
	e.mem = nil
	if err := syscall.Munmap(mem); err != nil {
		return fmt.Errorf("page_fault: free memory: %w", err)
	}
	return nil
}
