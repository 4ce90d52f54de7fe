package uringcmd

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/scsi"
	"fiord/internal/sys"
)

// scsiDisk is a system with a disk of so many blocks of 512 bytes at /dev/null.
func scsiDisk(t testing.TB, blocks uint64) *system {
	t.Helper()
	s := *linux
	s.sysfs = t.TempDir()
	s.atLeast = func(int, int) bool { return true }
	s.ioctl = func(_ int, request uint, arg unsafe.Pointer) (int, syscall.Errno) {
		if request != scsi.SG_IO {
			return 0, syscall.ENOTTY
		}
		q := (*scsi.Request)(arg)
		answer := unsafe.Slice((*byte)(unsafe.Add(nil, q.DinXferp)), q.DinXferLen)
		if q.RequestLen == 10 {
			binary.BigEndian.PutUint32(answer, uint32(min(blocks-1, 1<<32-1)))
			binary.BigEndian.PutUint32(answer[4:], 512)
		} else {
			binary.BigEndian.PutUint64(answer, blocks-1)
			binary.BigEndian.PutUint32(answer[8:], 512)
		}
		return 0, 0
	}
	return &s
}

// openBSG opens the engine with one I/O of 4 KiB on a disk of so many blocks.
func openBSG(t *testing.T, blocks uint64, set func(*Options)) (*disks, *engines.IO) {
	t.Helper()
	runtime.LockOSThread() // ends with the test's goroutine
	arena, err := sys.NewArena("malloc", 4096, 4096, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	f := &engines.File{Name: "/dev/null", Fd: -1, Kind: engines.Char}
	u := &engines.IO{File: f, Len: 4096, Buf: arena.Mem}
	w := &engines.Worker{Job: jobOf("rwt", 4096), Depth: 1, MaxBatch: 1, Arena: arena.Mem, Files: []*engines.File{f}, IOs: []*engines.IO{u}}
	o := with(func(o *Options) {
		o.CmdType = "bsg"
		if set != nil {
			set(o)
		}
	})
	e, err := openDisks(scsiDisk(t, blocks), w, o)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := e.OpenFile(f, os.O_RDWR); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), e.CloseFile(f), arena.Close()); err != nil {
			t.Error(err)
		}
	})
	return e, u
}

func TestSCSICommands(t *testing.T) {
	const large = 1 << 33
	for _, c := range []struct {
		name   string
		blocks uint64
		set    func(*Options)
		op     engines.Op
		offset int64
		out    uint32 // bytes to the disk
		in     uint32 // and from it
		cdb    string
	}{
		{"read", 1 << 20, nil, engines.Read, 8192, 0, 4096, "28000000001000000800"},
		{"write", 1 << 20, func(o *Options) { o.Writefua = true }, engines.Write, 512, 4096, 0, "2a080000000100000800"},
		{"a block beyond 32 bits", large, nil, engines.Read, 1 << 41, 0, 4096, "88000000000100000000000000080000"},
		{"cdb_len=16", 1 << 20, func(o *Options) { o.CdbLen = "16" }, engines.Write, 512, 4096, 0, "8a000000000000000001000000080000"},
		{"cdb_len=32", 1 << 20, func(o *Options) { o.CdbLen, o.Readfua = "32", true }, engines.Read, 512, 0, 4096,
			"7f0000000000001800090800000000000000000100000000" + "0000000000000008"},
		{"verify", 1 << 20, func(o *Options) { o.WriteMode = "verify" }, engines.Write, 0, 0, 0, "2f000000000000000800"},
		{"compare all", 1 << 20, func(o *Options) { o.WriteMode, o.VerifyBytchk = "verify", "1" }, engines.Write, 0, 4096, 0, "2f020000000000000800"},
		{"compare one", 1 << 20, func(o *Options) { o.WriteMode, o.VerifyBytchk = "verify", "3" }, engines.Write, 0, 512, 0, "2f060000000000000800"},
		{"prefetch", 1 << 20, func(o *Options) { o.ReadMode = "prefetch" }, engines.Read, 0, 0, 0, "34000000000000000800"},
		{"unmap", 1 << 20, nil, engines.Trim, 8192, 24, 0, "42000000000000001800"},
		{"flush", 1 << 20, nil, engines.DataSync, 0, 0, 0, "35000000000000000000"},
		{"flush 16", 1 << 20, func(o *Options) { o.CdbLen = "32" }, engines.Sync, 0, 0, 0, "91000000000000000000000000000000"},
		{"fixed", 1 << 20, func(o *Options) { o.Fixedbufs = true }, engines.Read, 0, 0, 4096, "28000000000000000800"},
	} {
		e, u := openBSG(t, c.blocks, c.set)
		u.Op, u.Offset = c.op, c.offset
		s := new(ring.SQE128)
		ok := e.entry(s, u)
		cmd := scsi.At(s.Command())
		got := hex.EncodeToString(e.requests.All[0].cdb[:cmd.RequestLen])
		if !ok || got != c.cdb || cmd.DoutXferLen != c.out || cmd.DinXferLen != c.in || (s.OpFlags != 0) != e.Fixed ||
			(cmd.DoutXferp != 0) != (c.out != 0) || (cmd.DinXferp != 0) != (c.in != 0) || cmd.Response-cmd.Request != 32 {
			t.Errorf("%s: %v, %s, want %s; %+v", c.name, ok, got, c.cdb, *cmd)
		}
	}
	e, u := openBSG(t, 1<<20, nil)
	if u.Offset = 100; e.entry(new(ring.SQE128), u) {
		t.Error("an offset inside of a block is sent")
	}
	if e.doOutside(u); u.Errno != syscall.EINVAL || !strings.Contains(e.DecodeError(u).Error(), "512 bytes") {
		t.Errorf("%v, %v", u.Errno, e.DecodeError(u))
	}
	copy(e.requests.All[0].sense[:], []byte{0x70, 0, 3, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x11})
	e.failed(u, 0, 2)
	if got := e.DecodeError(u).Error(); u.Errno != 2 || !strings.Contains(got, "medium error, unrecovered read error") {
		t.Errorf("%d, %s", u.Errno, got)
	}
}

func TestDisksThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		set  func(*Options)
		bs   uint64
		rw   string
		want string
	}{
		{nil, 4096, "r", ""},
		{nil, 1000, "r", "multiple of the disk's 512 bytes"},
		{func(o *Options) { o.CdbLen = "10" }, 64 << 20, "r", "at most 65535 blocks"},
		{func(o *Options) { o.WriteMode = "zeroes" }, 4096, "w", "write and verify"},
		{func(o *Options) { o.VerifyBytchk = "1" }, 4096, "w", "write_mode=verify"},
		{func(o *Options) { o.WriteMode, o.Writefua = "verify", true }, 4096, "w", "no such flag"},
		{func(o *Options) { o.ReadMode, o.Readfua = "prefetch", true }, 4096, "r", "no such flag"},
		{func(o *Options) { o.ReadMode, o.CdbLen = "prefetch", "32" }, 4096, "r", "no SCSI prefetch"},
		{func(o *Options) { o.VerifyMode = "compare" }, 4096, "r", "cmd_type=nvme"},
		{func(o *Options) { o.Nonvectored = 0 }, 4096, "r", "not vectored"},
		{func(o *Options) { o.MdPerIOSize = 8 }, 4096, "r", "cmd_type=nvme"},
		{func(o *Options) { o.CmdType, o.CdbLen = "nvme", "16" }, 4096, "r", "it is for cmd_type=bsg"},
	} {
		o, j := with(func(o *Options) { o.CmdType = "bsg" }), jobOf(c.rw, c.bs)
		if c.set != nil {
			c.set(o)
		}
		sizes := &sizer{scsiDisk(t, 1<<20), j, o}
		size, err := sizes.FileSize(&engines.File{Name: "/dev/null", Kind: engines.Char})
		if c.want == "" && (err != nil || size != 512<<20) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	s := scsiDisk(t, 1<<20)
	limit := filepath.Join(s.sysfs, "class", "bsg", "null", "device", "block", "sda", "queue", "max_hw_sectors_kb")
	if err := errors.Join(os.MkdirAll(filepath.Dir(limit), 0o700), os.WriteFile(limit, []byte("64\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	f := &engines.File{Name: "/dev/null", Kind: engines.Char}
	if _, err := s.disk(f, jobOf("r", 128<<10), defaults()); err == nil || !strings.Contains(err.Error(), "at most 64 KiB") {
		t.Errorf("a transfer that is too long: %v", err)
	}
	s.atLeast = func(int, int) bool { return false }
	if _, err := s.disk(f, jobOf("r", 4096), defaults()); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "7.1") {
		t.Errorf("an older kernel: %v", err)
	}
	if _, err := linux.capacity("/dev/null"); err == nil || !strings.Contains(err.Error(), "not a SCSI disk") {
		t.Errorf("/dev/null: %v", err)
	}
}
