package sys

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Arena is one block of memory outside the Go heap, in which all I/O buffers of a worker lie. Close gives it back; no
// slice of Mem may be used afterwards.
type Arena struct {
	// Mem is the usable memory: as long as asked for, zeroed unless a file backs it, and aligned as asked for.
	Mem []byte

	base    []byte // what was mapped or attached
	shm     bool
	file    *os.File
	created string // a backing file that did not exist before, removed by Close
}

// ErrHugePages is wrapped by the error of an Arena that found no huge pages.
var ErrHugePages = errors.New("no huge pages available: reserve some in /proc/sys/vm/nr_hugepages, and check hugepage-size")

// NewArena makes an arena by fio's mem names: malloc and mmap are anonymous memory, shm is a System V segment, shmhuge
// and mmaphuge use huge pages of hugepageSize bytes, and mmap, mmapshared and mmaphuge map the named file when it is not
// empty. The size is in bytes; align is a power of two, and the page size is the least.
func NewArena(kind string, size, align, hugepageSize int, file string) (*Arena, error) {
	if size <= 0 {
		return nil, fmt.Errorf("mem=%s: cannot allocate %d bytes", kind, size)
	}
	if align&(align-1) != 0 || align < 0 {
		return nil, fmt.Errorf("mem=%s: alignment %d is not a power of two", kind, align)
	}
	page := os.Getpagesize()
	align = max(align, page)
	total := size
	if align > page {
		total += align - page
	}
	if total < size {
		return nil, fmt.Errorf("mem=%s: size %d overflows", kind, size)
	}
	if kind == "shmhuge" || kind == "mmaphuge" {
		if hugepageSize <= 0 || hugepageSize&(hugepageSize-1) != 0 {
			return nil, fmt.Errorf("mem=%s: hugepage-size %d is not a power of two", kind, hugepageSize)
		}
		total = roundUp(total, hugepageSize)
	} else {
		total = roundUp(total, page)
	}

	a := &Arena{}
	var err error
	switch kind {
	case "", "malloc":
		a.base, err = unix.Mmap(-1, 0, total, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	case "shm", "shmhuge":
		err = a.attach(total, kind == "shmhuge", hugepageSize)
	case "mmap", "mmapshared", "mmaphuge":
		err = a.mapKind(kind, total, hugepageSize, file)
	default:
		return nil, fmt.Errorf("mem=%s: unknown kind of memory", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("mem=%s: %d bytes: %w", kind, total, err)
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(a.base))) & uintptr(align-1))
	a.Mem = a.base[skip : skip+size : skip+size]
	return a, nil
}

func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }

// hugeError adds to err what a user can do about it, where it tells that huge pages are lacking.
func hugeError(err error) error {
	if errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("%w: %w", err, ErrHugePages)
	}
	return err
}

// hugeShift codes a huge page size for mmap and shmget, which take its logarithm above bit 26.
func hugeShift(size int) int {
	n := 0
	for 1<<n < size {
		n++
	}
	return n << unix.MAP_HUGE_SHIFT
}

// shmHugeTLB is SHM_HUGETLB of linux/shm.h, which x/sys lacks.
const shmHugeTLB = 0o4000

// attach makes a System V segment that vanishes with its last user, however the process ends.
func (a *Arena) attach(total int, huge bool, hugepageSize int) error {
	flags := unix.IPC_CREAT | 0o600
	if huge {
		flags |= shmHugeTLB | hugeShift(hugepageSize)
	}
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, total, flags)
	if err != nil {
		if huge {
			err = hugeError(err)
		}
		return fmt.Errorf("shmget: %w", err)
	}
	a.base, err = unix.SysvShmAttach(id, 0, 0)
	// Marked at once, the segment lives only as long as it is attached, even if this process is killed.
	_, rmErr := unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	if err != nil {
		return fmt.Errorf("shmat: %w", err)
	}
	a.shm = true
	if rmErr != nil {
		_ = unix.SysvShmDetach(a.base)
		return fmt.Errorf("shmctl: %w", rmErr)
	}
	return nil
}

func (a *Arena) mapKind(kind string, total, hugepageSize int, file string) error {
	huge := kind == "mmaphuge"
	if file == "" {
		flags := unix.MAP_PRIVATE | unix.MAP_ANON
		if huge {
			flags |= unix.MAP_HUGETLB | hugeShift(hugepageSize)
		}
		var err error
		a.base, err = unix.Mmap(-1, 0, total, unix.PROT_READ|unix.PROT_WRITE, flags)
		if err != nil && huge {
			err = hugeError(err)
		}
		return err
	}
	if err := a.mapFile(kind, total, file); err != nil {
		a.dropFile()
		return err
	}
	return nil
}

// mapFile maps the file over the memory asked for. A plain mmap resizes it; mmapshared and mmaphuge take a file that has
// its size, as of a device's memory or of a hugetlbfs, unless it is made here.
func (a *Arena) mapFile(kind string, total int, file string) error {
	_, statErr := os.Stat(file)
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	a.file = f
	isNew := errors.Is(statErr, os.ErrNotExist)
	if isNew {
		a.created = file
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	flags := unix.MAP_SHARED
	switch {
	case kind == "mmap":
		flags = unix.MAP_PRIVATE
		err = f.Truncate(int64(total))
	case kind == "mmapshared" && isNew:
		err = f.Truncate(int64(total))
	case kind == "mmapshared" && st.Mode().IsRegular() && st.Size() < int64(total):
		// Touching memory behind the end of the file would be a SIGBUS.
		err = fmt.Errorf("%s: file has %d bytes, fewer than the %d that the buffers take", file, st.Size(), total)
	}
	if err != nil {
		return err
	}
	a.base, err = unix.Mmap(int(f.Fd()), 0, total, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return fmt.Errorf("mmap %s: %w", file, err)
	}
	return nil
}

func (a *Arena) dropFile() {
	if a.file != nil {
		_ = a.file.Close()
	}
	if a.created != "" {
		_ = os.Remove(a.created)
	}
	a.file, a.created = nil, ""
}

// Words is Mem as 64-bit words; what is left of the last word is not in it.
func (a *Arena) Words() []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(a.Mem))), len(a.Mem)/8)
}

// Touch takes all pages of the arena from the machine now, huge ones where it has them, so that no use of it waits for one.
func (a *Arena) Touch() {
	_ = unix.Madvise(a.base, unix.MADV_HUGEPAGE)
	clear(a.base)
}

// Wipe zeroes an arena of anonymous memory by giving its pages back, so that pages never used again cost nothing.
func (a *Arena) Wipe() error {
	if err := unix.Madvise(a.base, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("wipe %d bytes: %w", len(a.base), err)
	}
	return nil
}

// Close gives the memory back and removes a backing file that NewArena created. A nil or closed Arena is fine.
func (a *Arena) Close() error {
	if a == nil || a.base == nil {
		return nil
	}
	var err error
	if a.shm {
		err = unix.SysvShmDetach(a.base)
	} else {
		err = unix.Munmap(a.base)
	}
	a.base, a.Mem = nil, nil
	a.dropFile()
	if err != nil {
		return fmt.Errorf("free I/O memory: %w", err)
	}
	return nil
}
