package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Reopen opens the file of descriptor fd once more with the same flags: the new descriptor has a file position of its own.
// It works for files that have been removed, too.
func Reopen(fd int) (int, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return -1, fmt.Errorf("reopen descriptor %d: %w", fd, err)
	}
	path := fmt.Sprintf("/proc/self/fd/%d", fd)
	n, err := unix.Open(path, flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC)|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	return n, nil
}

// CloseFd closes a descriptor.
func CloseFd(fd int) error { return unix.Close(fd) }
