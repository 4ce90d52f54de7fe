package sys

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Advice tells the kernel how a range of a file will be used.
type Advice int

// The kinds of Advice.
const (
	AdviseRandom     Advice = unix.FADV_RANDOM
	AdviseSequential Advice = unix.FADV_SEQUENTIAL
	AdviseDontNeed   Advice = unix.FADV_DONTNEED
	AdviseNoReuse    Advice = unix.FADV_NOREUSE
)

// Open flags that package syscall does not have for every architecture.
const (
	OpenDirect  = unix.O_DIRECT
	OpenNoAtime = unix.O_NOATIME
	OpenSync    = unix.O_SYNC
	OpenDSync   = unix.O_DSYNC
)

// Open opens path without Go's poller: the descriptor stays in blocking mode. EINTR is retried.
func Open(path string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, mode)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// Dup duplicates fd.
func Dup(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// Close closes fd. It is never retried: Linux has released the descriptor even when it answers EINTR.
func Close(fd int) error {
	err := unix.Close(fd)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}

// ReadAt reads into p at offset off; 0 with a nil error is the end of the file. EINTR is retried.
func ReadAt(fd int, p []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(fd, p, off)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// WriteAt writes p at offset off and may write less. EINTR is retried.
func WriteAt(fd int, p []byte, off int64) (int, error) {
	for {
		n, err := unix.Pwrite(fd, p, off)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// Truncate sets the size of the file behind fd, in bytes.
func Truncate(fd int, size int64) error {
	for {
		if err := unix.Ftruncate(fd, size); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Fsync flushes the data and metadata of the file behind fd to storage.
func Fsync(fd int) error {
	for {
		if err := unix.Fsync(fd); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Fallocate reserves n bytes from off; keepSize leaves the visible size of the file alone.
func Fallocate(fd int, keepSize bool, off, n int64) error {
	var mode uint32
	if keepSize {
		mode = unix.FALLOC_FL_KEEP_SIZE
	}
	for {
		if err := unix.Fallocate(fd, mode, off, n); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// PosixFallocate reserves n bytes from off and makes the file at least that long. Where the file system cannot, a zero
// byte is written into every block that is not there yet, as the C library does it.
func PosixFallocate(fd int, off, n int64) error {
	err := Fallocate(fd, false, off, n)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return touchBlocks(fd, off, n)
	}
	return err
}

func touchBlocks(fd int, off, n int64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	block := min(max(int64(st.Blksize), 512), 4096)
	var b [1]byte
	for at := off + (n-1)%block; at < off+n; at += block {
		if at < st.Size {
			if _, err := ReadAt(fd, b[:], at); err != nil {
				return err
			}
			if b[0] != 0 {
				continue
			}
		}
		b[0] = 0
		if _, err := WriteAt(fd, b[:], at); err != nil {
			return err
		}
	}
	return nil
}

// Fadvise gives advice about n bytes from off of the file behind fd; n 0 means up to its end.
func Fadvise(fd int, off, n int64, a Advice) error { return unix.Fadvise(fd, off, n, int(a)) }

// FreeBytes is how many bytes an unprivileged user can still store on the file system that holds path.
func FreeBytes(path string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Frsize), nil
}

// SetWriteHint sets the expected lifetime of the data written (RWH_WRITE_LIFE_*, since Linux 4.13): on the descriptor
// where the kernel has that and onFd is true, else on the inode.
func SetWriteHint(fd int, hint uint64, onFd bool) error {
	if onFd && fcntlPtr(fd, unix.F_SET_FILE_RW_HINT, &hint) == nil {
		return nil
	}
	return fcntlPtr(fd, unix.F_SET_RW_HINT, &hint)
}

// WriteHint is the lifetime hint of the inode behind fd.
func WriteHint(fd int) (hint uint64, err error) {
	err = fcntlPtr(fd, unix.F_GET_RW_HINT, &hint)
	return hint, err
}

func fcntlPtr(fd, cmd int, arg *uint64) error {
	if _, _, e := unix.Syscall(unix.SYS_FCNTL, uintptr(fd), uintptr(cmd), uintptr(unsafe.Pointer(arg))); e != 0 {
		return e
	}
	return nil
}

// Mounted reports whether the block device at path is the source of a mounted file system: by its name, as fio looks, or
// by its device number, which finds it behind a symbolic link too.
func Mounted(path string) (bool, error) {
	var st unix.Stat_t
	var dev uint64
	if err := unix.Stat(path, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFBLK {
		dev = uint64(st.Rdev)
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false, fmt.Errorf("list of mounts: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if m, ok := parseMount(lines.Text()); ok && (m.source == path || dev != 0 && (m.dev == dev || diskOf(m.dev) == dev)) {
			return true, nil
		}
	}
	return false, lines.Err()
}

// diskOf is the device number of the disk that a partition is on, 0 for what is no partition.
func diskOf(dev uint64) uint64 {
	dir := fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(dev), unix.Minor(dev))
	if _, err := os.Stat(dir + "/partition"); err != nil {
		return 0
	}
	// The entry is a link into the disk's folder: the kernel resolves it before the dots.
	text, err := os.ReadFile(dir + "/../dev")
	if err != nil {
		return 0
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(string(text), "%d:%d", &major, &minor); err != nil {
		return 0
	}
	return unix.Mkdev(major, minor)
}

type mount struct {
	source string
	dev    uint64 // device number of the mounted file system
}

// parseMount reads a line of /proc/self/mountinfo (proc_pid_mountinfo(5)): the third field is major:minor, and the source
// is the second field after the lone hyphen.
func parseMount(line string) (mount, bool) {
	left, right, ok := strings.Cut(line, " - ")
	if !ok {
		return mount{}, false
	}
	head, tail := strings.Fields(left), strings.Fields(right)
	if len(head) < 3 || len(tail) < 2 {
		return mount{}, false
	}
	major, minor, ok := strings.Cut(head[2], ":")
	if !ok {
		return mount{}, false
	}
	a, errA := strconv.ParseUint(major, 10, 32)
	b, errB := strconv.ParseUint(minor, 10, 32)
	if errA != nil || errB != nil {
		return mount{}, false
	}
	return mount{source: unescapeOctal(tail[1]), dev: unix.Mkdev(uint32(a), uint32(b))}, true
}

// unescapeOctal undoes the \040 form in which the kernel writes blanks.
func unescapeOctal(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// DeviceOf is the number of the device that holds path (st_dev).
func DeviceOf(path string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, err
	}
	return uint64(st.Dev), nil
}
