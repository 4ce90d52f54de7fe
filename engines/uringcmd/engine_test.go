package uringcmd

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/sys"
	"fiord/job"
)

// drive is a system with an NVMe namespace at /dev/null: commands complete at once there, and identify tells what an
// emulated drive did.
func drive(t testing.TB, name string, change func(answer string, b []byte)) *system {
	t.Helper()
	text, err := os.ReadFile("nvme/testdata/identify.txt")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][]byte{}
	var at []byte
	for line := range strings.Lines(string(text)) {
		a, b, _ := strings.Cut(strings.TrimSpace(line), " ")
		if a == "=" {
			at = make([]byte, nvme.IdentifySize)
			answers[b] = at
			continue
		}
		off, _ := strconv.ParseUint(a, 16, 12)
		if _, err := hex.Decode(at[off:], []byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	s := *linux
	s.sysfs = t.TempDir()
	s.ioctl = func(_ int, request uint, arg unsafe.Pointer) (int, syscall.Errno) {
		if request == nvme.NVME_IOCTL_ID {
			return 1, 0
		}
		c := (*nvme.Command)(arg)
		what := map[uint32]string{nvme.CNSController: "ctrl", nvme.CNSNamespace: "ns", nvme.CNSNamespaceCSI: "csi_ns",
			nvme.CNSControllerCSI: "csi_ctrl"}[c.CDW10]
		b := slices.Clone(answers[name+" "+what])
		if change != nil {
			change(what, b)
		}
		copy(unsafe.Slice((*byte)(unsafe.Add(nil, c.Addr)), nvme.IdentifySize), b)
		return 0, 0
	}
	return &s
}

func jobOf(rw string, bs uint64) *job.Job {
	j := &job.Job{}
	j.RW.Read, j.RW.Write = strings.Contains(rw, "r"), strings.Contains(rw, "w")
	j.RW.Trim = strings.Contains(rw, "t")
	for d := range j.MinBS {
		j.MinBS[d], j.MaxBS[d] = bs, bs
	}
	j.NrFiles = 1
	return j
}

// openOn opens the engine with depth I/Os of the job's block size on one namespace.
func openOn(t testing.TB, s *system, depth int, o *Options, j *job.Job) (*engine, *engines.Worker) {
	t.Helper()
	runtime.LockOSThread() // ends with the test's goroutine
	size := int(j.MaxBS[0])
	arena, err := sys.NewArena("malloc", depth*size, 4096, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	f := &engines.File{Name: "/dev/null", Fd: -1, Kind: engines.Char}
	w := &engines.Worker{Job: j, Depth: depth, MaxBatch: depth, Arena: arena.Mem, Files: []*engines.File{f}, Notice: t.Logf}
	for i := range depth {
		w.IOs = append(w.IOs, &engines.IO{Index: uint32(i), File: f, Len: size, Buf: arena.Mem[i*size : (i+1)*size]})
	}
	e, err := open(s, w, o)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := e.OpenFile(f, os.O_RDWR|os.O_CREATE); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), e.CloseFile(f), arena.Close()); err != nil {
			t.Error(err)
		}
	})
	return e, w
}

func with(set func(*Options)) *Options {
	o := defaults()
	set(o)
	return o
}

// command is what entry makes of u.
func command(t testing.TB, e *engine, u *engines.IO) (*ring.SQE128, nvme.Command, bool) {
	t.Helper()
	s := new(ring.SQE128)
	ok := e.entry(s, u)
	if e.plain && u.Op <= engines.Write {
		if n := e.writePlain([]*engines.IO{u}); (n == 1) != ok {
			t.Errorf("%d plain entries, entry says %v", n, ok)
		} else if plain := e.R.SQE128(0); ok && *plain != *s {
			t.Errorf("plain entry %+v, want %+v", *plain, *s)
		}
	}
	return s, *nvme.At(s.Command()), ok
}

// TestLateFile adds a file during the run whose commands carry what those of the first one do not: the drive is to make
// its protection information.
func TestLateFile(t *testing.T) {
	s := drive(t, "ng3n1", nil)
	e, w := openOn(t, s, 1, defaults(), jobOf("rw", 4096))
	s.ioctl = drive(t, "ng1n1", nil).ioctl
	f := &engines.File{Name: "/dev/zero", Fd: -1, Kind: engines.Char, Index: 1}
	if _, err := e.device(f); err != nil {
		t.Fatal(err)
	}
	u := w.IOs[0]
	u.File, u.Op = f, engines.Write
	if _, c, ok := command(t, e, u); !ok || c.CDW12&nvme.PRInfoAct == 0 {
		t.Errorf("dword 12 is %#x: nobody makes protection information", c.CDW12)
	}
	if e.plain && e.writePlain([]*engines.IO{u}) != 0 {
		t.Error("its writes are taken for plain ones")
	}
}

func TestEntries(t *testing.T) {
	j := jobOf("rwt", 8192)
	for _, c := range []struct {
		name   string
		drive  string
		bs     uint64
		o      *Options
		op     engines.Op
		offset int64
		op12   uint32 // dword 12
		opcode uint8
		start  uint64
		cmdOp  uint64
		flags  uint32 // of the entry
		meta   uint32 // bytes of metadata
	}{
		{"read", "ng0n1", 8192, defaults(), engines.Read, 1 << 30, 15, 2, 1 << 21, nvme.NVME_URING_CMD_IO, 0, 0},
		{"write", "ng3n1", 8192, defaults(), engines.Write, 8192, 1, 1, 2, nvme.NVME_URING_CMD_IO, 0, 0},
		{"fua", "ng3n1", 8192, with(func(o *Options) { o.Readfua = true }), engines.Read, 0, 1 | 1<<30, 2, 0, nvme.NVME_URING_CMD_IO, 0, 0},
		{"fixed", "ng3n1", 8192, with(func(o *Options) { o.Fixedbufs = true }), engines.Read, 0, 1, 2, 0, nvme.NVME_URING_CMD_IO, ring.IORING_URING_CMD_FIXED, 0},
		{"vectored", "ng3n1", 8192, with(func(o *Options) { o.Nonvectored = 0 }), engines.Read, 0, 1, 2, 0, nvme.NVME_URING_CMD_IO_VEC, 0, 0},
		{"zeroes", "ng3n1", 8192, with(func(o *Options) { o.WriteMode, o.Deac = "zeroes", true }), engines.Write, 0, 1 | 1<<25, 8, 0, nvme.NVME_URING_CMD_IO, 0, 0},
		{"act", "ng1n1", 8192, defaults(), engines.Write, 0, 1 | 1<<29, 1, 0, nvme.NVME_URING_CMD_IO, 0, 0},
		{"separate", "ng1n1", 8192, with(func(o *Options) { o.PIAct, o.PIChk, o.MdPerIOSize = false, "GUARD", 16 }), engines.Write, 4096, 1 | 1<<28, 1, 1, nvme.NVME_URING_CMD_IO, 0, 16},
		{"extended", "ng4n1", 8208, with(func(o *Options) { o.PIAct, o.PIChk = false, "REFTAG" }), engines.Write, 4104 * 5, 1 | 1<<26, 1, 5, nvme.NVME_URING_CMD_IO, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for d := range j.MinBS {
				j.MinBS[d], j.MaxBS[d] = c.bs, c.bs
			}
			e, w := openOn(t, drive(t, c.drive, nil), 1, c.o, j)
			u := w.IOs[0]
			u.Op, u.Offset = c.op, c.offset
			s, cmd, ok := command(t, e, u)
			if !ok || s.Opcode != ring.IORING_OP_URING_CMD || s.Off != c.cmdOp || s.OpFlags != c.flags {
				t.Errorf("entry %+v, %v", s.SQE, ok)
			}
			if cmd.Opcode != c.opcode || cmd.NSID != 1 || cmd.CDW12 != c.op12 || uint64(cmd.CDW11)<<32|uint64(cmd.CDW10) != c.start ||
				cmd.MetadataLen != c.meta {
				t.Errorf("command %+v", cmd)
			}
			want := uint32(len(u.Buf))
			if c.name == "vectored" {
				want = 1
			}
			if !nvme.MovesData(c.opcode) {
				want = 0
			}
			if cmd.DataLen != want || (cmd.Addr != 0) != (want != 0) {
				t.Errorf("data: %d bytes at %#x", cmd.DataLen, cmd.Addr)
			}
		})
	}
}

func TestTrimAndFlush(t *testing.T) {
	e, w := openOn(t, drive(t, "ng3n1", nil), 2, with(func(o *Options) { o.Fixedbufs = true }), jobOf("rt", 4096))
	u := w.IOs[1]
	u.Op, u.Offset, u.Len = engines.Trim, 3*4096, 5*4096
	s, cmd, ok := command(t, e, u)
	if !ok || cmd.Opcode != nvme.OpDSM || cmd.CDW10 != 0 || cmd.CDW11 != 4 || cmd.DataLen != 16 || s.OpFlags != 0 {
		t.Errorf("trim: %+v", cmd)
	}
	if got, want := e.ranges.All[1], (nvme.Range{Start: 3, Blocks: 5}); got != want || cmd.Addr != e.ranges.At(1) {
		t.Errorf("range %+v, want %+v", got, want)
	}
	u.Op = engines.DataSync
	if _, cmd, ok := command(t, e, u); !ok || cmd.Opcode != nvme.OpFlush || cmd.NSID != 1 || cmd.DataLen != 0 {
		t.Errorf("flush: %+v", cmd)
	}
}

// TestRoundTrip sends reads to a device that completes them at once, in all the ways there are.
func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Options)
	}{
		{"plain", func(*Options) {}},
		{"fixedbufs", func(o *Options) { o.Fixedbufs = true }},
		{"registerfiles", func(o *Options) { o.Registerfiles = true }},
		{"vectored", func(o *Options) { o.Nonvectored = 0 }},
		{"sqthread_poll", func(o *Options) { o.SqthreadPoll = true }},
		{"force_async", func(o *Options) { o.ForceAsync = 2 }},
		{"without deferred work", func(o *Options) { o.DeferTaskrun, o.SingleIssuer, o.RegisterRing = "0", "0", "0" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := with(func(o *Options) { o.CmdType = "null" })
			c.set(o)
			e, w := openOn(t, linux, 8, o, jobOf("rwt", 4096))
			ops := []engines.Op{engines.Read, engines.Write, engines.Trim, engines.Sync}
			for round := range 3 {
				for i, u := range w.IOs {
					u.Op, u.Offset, u.Done, u.Errno = ops[(i+round)%len(ops)], int64(i)*4096, -1, syscall.EIO
				}
				for _, u := range w.IOs[:4] {
					if n, err := e.SubmitOne(u); n != 1 || err != nil {
						t.Fatal(n, err)
					}
				}
				if n, err := e.Submit(w.IOs[4:]); n != len(w.IOs)-4 || err != nil {
					t.Fatal(n, err)
				}
				done := make([]*engines.IO, len(w.IOs))
				n, err := e.Reap(done, len(done), -1)
				if n != len(done) || err != nil {
					t.Fatal(n, err)
				}
				for _, u := range done {
					want := 4096
					if u.Op == engines.Sync {
						want = 0
					}
					if errors.Is(u.Errno, syscall.EOPNOTSUPP) {
						t.Skip("this kernel's /dev/null takes no commands (since Linux 6.3)")
					}
					if u.Errno != 0 || u.Done != want {
						t.Errorf("%v: done %d, %v", u.Op, u.Done, u.Errno)
					}
				}
			}
		})
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	e, w := openOn(t, drive(t, "ng3n1", nil), 4, defaults(), jobOf("rw", 4096))
	late := &engines.File{Name: "/dev/null", Fd: -1, Index: 5}
	w.IOs[0].Op, w.IOs[0].Offset = engines.Read, 512
	w.IOs[1].Op, w.IOs[1].Offset = engines.Read, 4096
	w.IOs[2].Op, w.IOs[2].File = engines.Read, late
	w.IOs[3].Op = engines.SyncFileRange
	if n, err := e.Submit(w.IOs); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	done := make([]*engines.IO, 4)
	for got := 0; got < 4; {
		n, err := e.Reap(done[got:], 1, -1)
		if err != nil {
			t.Fatal(err)
		}
		got += n
	}
	for i, want := range []syscall.Errno{syscall.EINVAL, 0, syscall.EBADF, syscall.EOPNOTSUPP} {
		if got := w.IOs[i].Errno; got != want && !(i == 1 && got == syscall.EOPNOTSUPP) {
			t.Errorf("I/O %d: %v, want %v", i, got, want)
		}
	}
	if err := e.DecodeError(w.IOs[0]); err == nil || !strings.Contains(err.Error(), "4096") {
		t.Errorf("an offset inside of a block: %v", err)
	}
}

func TestErrorsByName(t *testing.T) {
	e, w := openOn(t, drive(t, "ng3n1", nil), 1, defaults(), jobOf("rw", 4096))
	u := w.IOs[0]
	e.failed(u, 0x4080)
	if u.Errno != 0x4080 || e.DecodeError(u).Error() != "NVMe status: LBA out of range (sct=0x00; sc=0x80; do not retry)" {
		t.Errorf("%d, %v", u.Errno, e.DecodeError(u))
	}
	e.failed(u, -int32(syscall.ENXIO))
	if u.Errno != syscall.ENXIO || e.DecodeError(u) != nil {
		t.Errorf("%v, %v", u.Errno, e.DecodeError(u))
	}
}

// TestBrokenGuard reads blocks whose protection information the drive did not look at.
func TestBrokenGuard(t *testing.T) {
	o := with(func(o *Options) { o.PIAct, o.PIChk, o.MdPerIOSize = false, "GUARD,APPTAG,REFTAG", 8 })
	e, w := openOn(t, drive(t, "ng1n1", nil), 1, o, jobOf("rw", 4096))
	u := w.IOs[0]
	u.Op, u.Offset = engines.Write, 7*4096
	if _, _, ok := command(t, e, u); !ok {
		t.Fatal("the write cannot be sent")
	}
	u.Op, u.Done, u.Errno = engines.Read, 4096, 0
	if e.verify(u); u.Errno != 0 {
		t.Errorf("what was written does not pass: %v", e.DecodeError(u))
	}
	u.Buf[100] ^= 0x10
	if e.verify(u); u.Errno != syscall.EIO || u.Done != 0 || !strings.Contains(e.DecodeError(u).Error(), "guard of LBA 7") {
		t.Errorf("a flipped bit: %v, %v", u.Errno, e.DecodeError(u))
	}
}

func TestShares(t *testing.T) {
	o := with(func(o *Options) { o.WriteMode, o.CmdType = "write/60:zeroes/:uncor/10", "null" })
	e, _ := openOn(t, linux, 1, o, jobOf("w", 4096))
	got := map[uint8]int{}
	for range 10000 {
		got[e.nextWrite().opcode]++
	}
	for opcode, want := range map[uint8]int{nvme.OpWrite: 6000, nvme.OpWriteZeroes: 3000, nvme.OpWriteUncor: 1000} {
		if n := got[opcode]; n < want-300 || n > want+300 {
			t.Errorf("opcode %#x: %d of 10000, want about %d", opcode, n, want)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	e, w := openOn(t, linux, 8, with(func(o *Options) { o.CmdType = "null" }), jobOf("r", 4096))
	done := make([]*engines.IO, 8)
	n := testing.AllocsPerRun(100, func() {
		if _, err := e.Submit(w.IOs); err != nil {
			t.Fatal(err)
		}
		for left := 8; left > 0; {
			n, err := e.Reap(done, left, -1)
			if err != nil {
				t.Fatal(err)
			}
			left -= n
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

func TestNotADrive(t *testing.T) {
	dir := t.TempDir()
	regular := filepath.Join(dir, "file")
	if err := os.WriteFile(regular, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    engines.File
		want string
	}{
		{engines.File{Name: "/dev/null", Kind: engines.Char}, "not an NVMe namespace"},
		{engines.File{Name: regular}, "not a character device"},
		{engines.File{Name: filepath.Join(dir, "gone")}, "no such file"},
	} {
		_, err := linux.device(&c.f, jobOf("r", 4096), defaults())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.f.Name, err, c.want)
		}
	}
	block := filepath.Join(dir, "nvme3n2")
	if err := os.WriteFile(block, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := notGeneric(&engines.File{Name: block, Kind: engines.Block})
	if !strings.Contains(err.Error(), "/dev/ng3n2") {
		t.Errorf("a block device: %v does not name its character device", err)
	}
}
