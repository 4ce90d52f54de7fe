package uringcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/feature"
	"fiord/internal/sys"
	"fiord/job"
)

// system is what the engine asks of the machine, so that a test can play a drive.
type system struct {
	ring  *ring.Kernel
	open  func(path string, flags int, mode uint32) (int, error)
	close func(fd int) error
	ioctl func(fd int, request uint, arg unsafe.Pointer) (int, syscall.Errno)
	sysfs string

	atLeast func(major, minor int) bool // whether the kernel is this version or newer
}

var linux = &system{
	ring:  ring.Linux,
	open:  sys.Open,
	close: sys.Close,
	ioctl: func(fd int, request uint, arg unsafe.Pointer) (int, syscall.Errno) {
		n, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg))
		return int(n), errno
	},
	sysfs: "/sys",

	atLeast: feature.AtLeast,
}

// device is a namespace and the controller that it was asked through.
type device struct {
	path string
	ctrl nvme.Controller
	ns   nvme.Namespace
	fmt  nvme.Format // with the job's pi_act
	null bool        // no drive: commands go to a device that completes them at once
}

// sizer tells sizes before there is an engine, and refuses a job that the drive cannot run before any has started.
type sizer struct {
	sys *system
	job *job.Job
	o   *Options
}

// FileSize is the size of the namespace as offsets of the job count it: with metadata where they are in the buffer.
func (s *sizer) FileSize(f *engines.File) (int64, error) {
	if err := s.o.check(s.job); err != nil {
		return 0, err
	}
	if s.o.CmdType == "bsg" {
		d, err := s.sys.disk(f, s.job, s.o)
		if err != nil {
			return 0, err
		}
		return int64(d.blocks * uint64(d.size)), nil
	}
	d, err := s.sys.device(f, s.job, s.o)
	if err != nil {
		return 0, err
	}
	if d.null {
		return -1, nil
	}
	return int64(min(d.ns.Size(&d.fmt), 1<<62)), nil
}

// errDirect is the error of direct=1.
var errDirect = errors.New("direct=1: a character device refuses O_DIRECT, and passthrough commands never use the page cache: leave it away")

// device identifies the namespace of f and checks that the job fits it.
func (s *system) device(f *engines.File, j *job.Job, o *Options) (*device, error) {
	if j.Direct {
		return nil, errDirect
	}
	if f.Kind != engines.Char {
		return nil, notGeneric(f)
	}
	if o.CmdType == "null" {
		d := &device{path: f.Name, null: true, ns: nvme.Namespace{NSID: 1, DataSize: 512, Blocks: 1 << 40}}
		d.ctrl = nvme.Controller{Compare: true, WriteUncor: true, DSM: true, WriteZeroes: true, Verify: true}
		d.fmt = d.ns.Format(true)
		return d, d.check(j, o)
	}
	d, err := s.identify(f.Name)
	if err != nil {
		return nil, err
	}
	d.fmt = d.ns.Format(o.PIAct)
	if err := d.check(j, o); err != nil {
		return nil, err
	}
	if err := s.checkQueue(f.Name, d, j, o); err != nil {
		return nil, err
	}
	return d, nil
}

var blockName = regexp.MustCompile(`^nvme(\d+)n(\d+)(p\d+)?$`)

// notGeneric says what to name instead of a file that takes no commands.
func notGeneric(f *engines.File) error {
	if _, err := os.Stat(f.Name); err != nil {
		return err
	}
	if m := blockName.FindStringSubmatch(filepath.Base(f.Name)); f.Kind == engines.Block && m != nil {
		return fmt.Errorf("%s is a block device: io_uring_cmd sends commands to its character device /dev/ng%sn%s", f.Name, m[1], m[2])
	}
	return fmt.Errorf("%s is not a character device: io_uring_cmd needs that of an NVMe namespace, such as /dev/ng0n1", f.Name)
}

// identify asks for all there is to know.
func (s *system) identify(path string) (*device, error) {
	fd, err := s.open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.close(fd) }()
	nsid, errno := s.ioctl(fd, nvme.NVME_IOCTL_ID, nil)
	if errno == syscall.ENOTTY || errno == syscall.EINVAL {
		return nil, fmt.Errorf("%s is not an NVMe namespace (%w): io_uring_cmd needs a device such as /dev/ng0n1", path, errno)
	}
	if errno != 0 {
		return nil, fmt.Errorf("%s: namespace number: %w", path, errno)
	}
	mem, err := sys.NewArena("malloc", nvme.IdentifySize, 0, 0, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = mem.Close() }()
	ask := func(what string, nsid uint32, cns, csi uint8) error {
		clear(mem.Mem)
		c := nvme.Identify(nsid, cns, csi, queue.Addr(mem.Mem))
		switch status, errno := s.ioctl(fd, nvme.NVME_IOCTL_ADMIN_CMD, unsafe.Pointer(&c)); {
		case errno != 0:
			return fmt.Errorf("%s: identify %s: %w", path, what, errno)
		case status != 0:
			return fmt.Errorf("%s: identify %s: %v", path, what, nvme.Status(status))
		}
		return nil
	}
	d := &device{path: path}
	if err := ask("controller", 0, nvme.CNSController, nvme.CSINVM); err != nil {
		return nil, err
	}
	if d.ctrl, err = nvme.ParseController(mem.Mem); err != nil {
		return nil, err
	}
	if err := ask("namespace", uint32(nsid), nvme.CNSNamespace, nvme.CSINVM); err != nil {
		return nil, err
	}
	if d.ns, err = nvme.ParseNamespace(uint32(nsid), mem.Mem); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if d.ctrl.Formats && d.ns.PIType != 0 {
		if err := ask("format", uint32(nsid), nvme.CNSNamespaceCSI, nvme.CSINVM); err != nil {
			return nil, err
		}
		if err := d.ns.ExtendedFormat(mem.Mem); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if ask("limits", 0, nvme.CNSControllerCSI, nvme.CSINVM) == nil { // older controllers have none
		if err := d.ctrl.Limits(mem.Mem); err != nil {
			return nil, err
		}
	}
	return d, nil
}

var genericName = regexp.MustCompile(`^ng(\d+n\d+)$`)

// queueOf is the sysfs folder of the queue of the block device beside the character device at path; empty where the name
// does not tell.
func (s *system) queueOf(path string) string {
	name := filepath.Base(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		name = filepath.Base(real)
	}
	m := genericName.FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	return filepath.Join(s.sysfs, "class", "block", "nvme"+m[1], "queue")
}

// checkQueue checks what only the kernel knows of the drive: its longest transfer, and whether it can be polled.
func (s *system) checkQueue(path string, d *device, j *job.Job, o *Options) error {
	disk := s.queueOf(path)
	if disk == "" {
		return nil
	}
	if kib, ok := number(filepath.Join(disk, "max_hw_sectors_kb")); ok {
		for dir := range job.Trim {
			if bs := j.MaxBS[dir]; d.moves(dir, j, o) && bs > kib<<10 {
				return fmt.Errorf("%s: a block size of %d: the kernel's driver takes at most %d KiB in one command", path, bs, kib)
			}
		}
	}
	if !o.Hipri {
		return nil
	}
	if err := s.pollable(disk); err != nil {
		return fmt.Errorf("%s: hipri=1: %w", path, err)
	}
	return nil
}

// pollable refuses polled passthrough where it would never end, or take the machine down. disk is the queue folder of the
// block device.
func (s *system) pollable(disk string) error {
	const get = "load the driver with them (nvme.poll_queues=N on the kernel's command line, or modprobe nvme poll_queues=N)"
	if on, ok := number(filepath.Join(disk, "io_poll")); ok && on == 0 {
		return fmt.Errorf("the drive has no poll queues, so that polling would never end: %s", get)
	} else if !ok {
		if n, ok := number(filepath.Join(s.sysfs, "module", "nvme", "parameters", "poll_queues")); ok && n == 0 {
			return fmt.Errorf("the nvme driver has no poll queues, so that polling would never end: %s", get)
		}
	}
	if !feature.AtLeast(6, 1) {
		return &feature.Error{Name: "polled passthrough", Since: "6.1"}
	}
	if !feature.AtLeast(6, 5) {
		return errors.New("polled passthrough crashes Linux 6.1 to 6.4 in nvme_ns_chr_uring_cmd_iopoll; use 6.5 or later")
	}
	return nil
}

// number reads a file that holds a number.
func number(path string) (uint64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
