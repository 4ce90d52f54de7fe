package uringcmd

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/queue"
	"fiord/engines/uringcmd/scsi"
	"fiord/internal/feature"
	"fiord/internal/sys"
	"fiord/job"
)

// The first Linux whose /dev/bsg takes commands through io_uring.
const (
	bsgMajor, bsgMinor = 7, 1
	bsgSince           = "7.1"
)

// Where the parts of a request are.
const (
	senseAt = uint64(unsafe.Offsetof(request{}.sense))
	unmapAt = uint64(unsafe.Offsetof(request{}.unmap))
)

// disk is a SCSI disk behind /dev/bsg.
type disk struct {
	blocks uint64
	size   uint32 // bytes of a block, a power of two
	shift  uint8
}

func (d *disk) block(bytes uint64) uint64 { return bytes >> d.shift }

// aligned reports whether an offset and a length in bytes are whole blocks, and the length is some.
func (d *disk) aligned(offset, length uint64) bool {
	return (offset|length)&uint64(d.size-1) == 0 && length != 0
}

// disk asks the disk of f for its capacity and checks that the job fits it.
func (s *system) disk(f *engines.File, j *job.Job, o *Options) (*disk, error) {
	if !s.atLeast(bsgMajor, bsgMinor) {
		return nil, &feature.Error{Name: "cmd_type=bsg", Since: bsgSince}
	}
	if j.Direct {
		return nil, errDirect
	}
	if f.Kind != engines.Char {
		if _, err := os.Stat(f.Name); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s is not a character device: cmd_type=bsg needs that of a SCSI disk, such as /dev/bsg/0:0:0:0 (in filename, a backslash before each colon)",
			f.Name)
	}
	d, err := s.capacity(f.Name)
	if err != nil {
		return nil, err
	}
	if err := d.check(j, o); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return d, s.checkTransfer(f.Name, j)
}

// capacity asks for blocks and block size.
func (s *system) capacity(path string) (*disk, error) {
	fd, err := s.open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.close(fd) }()
	mem, err := sys.NewArena("malloc", 4096, 0, 0, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = mem.Close() }()
	for _, large := range []bool{false, true} {
		clear(mem.Mem)
		r := (*request)(unsafe.Pointer(&mem.Mem[0]))
		answer := mem.Mem[1024:][:scsi.CapacitySize]
		q := scsi.Request{Guard: 'Q', RequestLen: uint32(r.cdb.ReadCapacity(large)), Request: queue.Addr(mem.Mem),
			MaxResponseLen: scsi.SenseSize, Response: queue.Addr(mem.Mem) + senseAt, DinXferp: queue.Addr(answer),
			DinXferLen: scsi.CapacitySize}
		switch _, errno := s.ioctl(fd, scsi.SG_IO, unsafe.Pointer(&q)); {
		case errno == syscall.ENOTTY || errno == syscall.EINVAL:
			return nil, fmt.Errorf("%s is not a SCSI disk's bsg device (%w): cmd_type=bsg needs one such as /dev/bsg/0:0:0:0", path, errno)
		case errno != 0:
			return nil, fmt.Errorf("%s: capacity: %w", path, errno)
		case q.DeviceStatus != 0 || q.TransportStatus != 0:
			return nil, fmt.Errorf("%s: capacity: %s", path,
				scsi.Describe(scsi.Status(q.DeviceStatus&0xff|q.TransportStatus<<16), r.sense[:]))
		}
		blocks, size, err := scsi.ParseCapacity(answer, large)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if blocks > 0 {
			return &disk{blocks, size, uint8(bits.TrailingZeros32(size))}, nil
		}
	}
	return nil, fmt.Errorf("%s: the disk has no blocks", path)
}

// check refuses a job that does not fit the disk.
func (d *disk) check(j *job.Job, o *Options) error {
	length := map[string]int{"10": 10}[o.CdbLen]
	for dir := range job.Dir(job.NDirs) {
		if !does(j, dir) {
			continue
		}
		if (j.MinBS[dir]|j.MaxBS[dir])&uint64(d.size-1) != 0 {
			return fmt.Errorf("the block size must be a multiple of the disk's %d bytes", d.size)
		}
		if dir == job.Trim {
			if d.block(j.MaxBS[dir]) > 1<<32-1 {
				return fmt.Errorf("a trim of %d bytes: one range has at most 2^32-1 blocks", j.MaxBS[dir])
			}
			continue
		}
		if err := scsi.Check(length, d.block(j.MaxBS[dir]), d.blocks); err != nil {
			return fmt.Errorf("cdb_len=%s: %w", o.CdbLen, err)
		}
	}
	return nil
}

// checkTransfer checks block sizes against what the kernel sends to the disk in one command.
func (s *system) checkTransfer(path string, j *job.Job) error {
	name := filepath.Base(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		name = filepath.Base(real)
	}
	found, err := filepath.Glob(filepath.Join(s.sysfs, "class", "bsg", name, "device", "block", "*", "queue", "max_hw_sectors_kb"))
	if err != nil || len(found) != 1 {
		return nil
	}
	kib, ok := number(found[0])
	for dir := range job.Trim {
		if bs := j.MaxBS[dir]; ok && does(j, dir) && bs > kib<<10 {
			return fmt.Errorf("%s: a block size of %d: the disk's driver takes at most %d KiB in one command", path, bs, kib)
		}
	}
	return nil
}

// checkBSG refuses what cmd_type=bsg cannot do.
func (o *Options) checkBSG(j *job.Job) error {
	switch {
	case o.WriteMode != "write" && o.WriteMode != "" && o.WriteMode != "verify":
		return fmt.Errorf("write_mode=%s: cmd_type=bsg has write and verify", o.WriteMode)
	case o.WriteMode == "verify" && o.Writefua:
		return errors.New("writefua=1: a SCSI verify has no such flag")
	case o.WriteMode != "verify" && o.VerifyBytchk != "0" && o.VerifyBytchk != "":
		return fmt.Errorf("verify_bytchk=%s: it is for write_mode=verify", o.VerifyBytchk)
	case o.ReadMode == "prefetch" && o.Readfua:
		return errors.New("readfua=1: a SCSI prefetch has no such flag")
	case o.ReadMode == "prefetch" && o.CdbLen == "32":
		return errors.New("cdb_len=32: there is no SCSI prefetch of that length")
	case o.VerifyMode == "compare":
		return errors.New("verify_mode=compare: it is for cmd_type=nvme; write_mode=verify with verify_bytchk compares here")
	case o.Nonvectored == 0:
		return errors.New("nonvectored=0: commands of cmd_type=bsg are not vectored")
	case o.MdPerIOSize > 0:
		return errors.New("md_per_io_size: it is for cmd_type=nvme")
	case j.NumRange > 1 && j.RW.Trim:
		return fmt.Errorf("num_range=%d: an unmap has one range here; cmd_type=nvme can have several", j.NumRange)
	case places(j):
		return fmt.Errorf("dataplacement=%s: it is for cmd_type=nvme", j.Dataplacement)
	case j.ZoneMode == "zbd":
		return errors.New("zonemode=zbd: it is for cmd_type=nvme")
	}
	return nil
}
