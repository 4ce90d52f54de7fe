package uringcmd

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/engines/uringcmd/nvme"
)

// zonedDrive answers like a zoned namespace: blocks of 4 KiB, zones of 256 blocks, of which 192 can be written.
type zonedDrive struct {
	sent    []nvme.Command // zone management and writes
	status  int            // of the next of them
	zones   int
	longest uint32 // report, in bytes
}

func zonedSystem(t *testing.T, change func(answer string, b []byte)) (*system, *zonedDrive) {
	s := drive(t, "ng3n1", change)
	z := &zonedDrive{zones: 512}
	plain := s.ioctl
	s.ioctl = func(fd int, request uint, arg unsafe.Pointer) (int, syscall.Errno) {
		c := (*nvme.Command)(arg)
		switch {
		case request == nvme.NVME_IOCTL_ADMIN_CMD && c.CDW11 == nvme.CSIZNS<<24:
			b := make([]byte, nvme.IdentifySize)
			if c.CDW10 == nvme.CNSNamespaceCSI {
				binary.LittleEndian.PutUint32(b[4:], 11)
				binary.LittleEndian.PutUint32(b[8:], 7)
				for i := 2816; i < 2816+64*16; i += 16 {
					binary.LittleEndian.PutUint64(b[i:], 256)
				}
			} else {
				b[0] = 4 // appends of up to 64 KiB
			}
			copy(unsafe.Slice((*byte)(unsafe.Add(nil, c.Addr)), nvme.IdentifySize), b)
			return 0, 0
		case request == nvme.NVME_IOCTL_IO_CMD && c.Opcode == nvme.OpZoneReceive:
			z.report(c)
			return 0, 0
		case request == nvme.NVME_IOCTL_IO_CMD:
			z.sent = append(z.sent, *c)
			return z.status, 0
		}
		return plain(fd, request, arg)
	}
	return s, z
}

// report tells of zones that are written to a block each more than the one before, up to full ones.
func (z *zonedDrive) report(c *nvme.Command) {
	z.longest = max(z.longest, c.DataLen)
	out := unsafe.Slice((*byte)(unsafe.Add(nil, c.Addr)), c.DataLen)
	first := int(c.CDW10) / 256
	n := min((int(c.DataLen)-nvme.ReportHead)/nvme.ReportZone, z.zones-first)
	binary.LittleEndian.PutUint64(out, uint64(n))
	for i := range n {
		d := out[nvme.ReportHead+i*nvme.ReportZone:]
		start := uint64(first+i) * 256
		d[0], d[1] = 2, uint8(engines.ZoneClosed)<<4
		written := min(uint64(first+i), 192)
		if written == 192 {
			d[1] = uint8(engines.ZoneFull) << 4
		}
		binary.LittleEndian.PutUint64(d[8:], 192)
		binary.LittleEndian.PutUint64(d[16:], start)
		binary.LittleEndian.PutUint64(d[24:], start+written)
	}
}

func TestZoneManager(t *testing.T) {
	s, z := zonedSystem(t, nil)
	m := newZoneManager(s, defaults())
	f := &engines.File{Name: "/dev/null", Kind: engines.Char, Fd: -1}
	if model, err := m.ZoneModel(f); err != nil || model != engines.HostManaged {
		t.Fatalf("model %d, %v", model, err)
	}
	if open, active, err := m.ZoneLimits(f); open != 8 || active != 0 || err != nil {
		t.Errorf("limits %d %d, %v", open, active, err)
	}
	const zone = 256 * 4096
	got := make([]engines.Zone, 2)
	if n, err := m.ReportZones(f, 191*zone, got); n != 2 || err != nil {
		t.Fatalf("%d zones, %v", n, err)
	}
	want := []engines.Zone{
		{Start: 191 * zone, WP: 191*zone + 191*4096, Length: zone, Capacity: 192 * 4096, Type: engines.SequentialZone, Cond: engines.ZoneClosed},
		{Start: 192 * zone, WP: 192*zone + 192*4096, Length: zone, Capacity: 192 * 4096, Type: engines.SequentialZone, Cond: engines.ZoneFull},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n, err := m.ReportZones(f, 0, make([]engines.Zone, 4096)); n != 512 || err != nil {
		t.Errorf("%d zones in all, %v", n, err)
	}
	if err := m.ResetZones(f, 2*zone, 2*zone); err != nil {
		t.Error(err)
	}
	if err := m.FinishZones(f, 5*zone, zone); err != nil {
		t.Error(err)
	}
	if err := m.FillZone(f, &engines.Zone{WP: 7 * zone}, 80<<10, make([]byte, 4096)); err != nil {
		t.Error(err)
	}
	var sent [][4]uint32
	for _, c := range z.sent {
		sent = append(sent, [4]uint32{uint32(c.Opcode), c.CDW10, c.CDW12, c.CDW13})
	}
	if diff := cmp.Diff([][4]uint32{{0x79, 512, 0, 4}, {0x79, 768, 0, 4}, {0x79, 1280, 0, 2}, {1, 1792, 15, 0}, {1, 1808, 3, 0}}, sent); diff != "" {
		t.Error(diff)
	}
	z.status = 0x1bd
	if err := m.ResetZones(f, 0, zone); err == nil || !strings.Contains(err.Error(), "too many active zones") {
		t.Errorf("refused by the drive: %v", err)
	}
	if _, err := m.ZoneModel(&engines.File{Name: "/dev/zero", Kind: engines.Block}); err == nil {
		t.Error("a block device is taken")
	}
	plain := newZoneManager(drive(t, "ng0n1", func(what string, b []byte) {
		if strings.HasPrefix(what, "csi") {
			clear(b)
		}
	}), defaults())
	if model, err := plain.ZoneModel(f); err == nil && model != engines.NotZoned {
		t.Errorf("a drive without zones has model %d", model)
	}
}

// TestZonesUnknown has the kernel refuse what a drive would be asked: that is no drive without zones.
func TestZonesUnknown(t *testing.T) {
	s, _ := zonedSystem(t, nil)
	plain := s.ioctl
	s.ioctl = func(fd int, request uint, arg unsafe.Pointer) (int, syscall.Errno) {
		if c := (*nvme.Command)(arg); request == nvme.NVME_IOCTL_ADMIN_CMD && c.CDW11 == nvme.CSIZNS<<24 {
			return 0, syscall.EACCES
		}
		return plain(fd, request, arg)
	}
	f := &engines.File{Name: "/dev/null", Kind: engines.Char, Fd: -1}
	if model, err := newZoneManager(s, defaults()).ZoneModel(f); !errors.Is(err, syscall.EACCES) {
		t.Errorf("model %d, %v", model, err)
	}
	s.ioctl = func(fd int, request uint, arg unsafe.Pointer) (int, syscall.Errno) {
		if c := (*nvme.Command)(arg); request == nvme.NVME_IOCTL_ADMIN_CMD && c.CDW11 == nvme.CSIZNS<<24 {
			return 0x4002, 0 // invalid field, do not retry
		}
		return plain(fd, request, arg)
	}
	if model, err := newZoneManager(s, defaults()).ZoneModel(f); model != engines.NotZoned || err != nil {
		t.Errorf("refused by the drive: model %d, %v", model, err)
	}
}

// TestZonesReadOnly finds out about zones as a user who may only read.
func TestZonesReadOnly(t *testing.T) {
	s, _ := zonedSystem(t, nil)
	plain := s.open
	s.open = func(path string, flags int, mode uint32) (int, error) {
		if flags != os.O_RDONLY {
			return -1, syscall.EACCES
		}
		return plain(path, flags, mode)
	}
	m, f := newZoneManager(s, defaults()), &engines.File{Name: "/dev/null", Kind: engines.Char, Fd: -1}
	if model, err := m.ZoneModel(f); model != engines.HostManaged || err != nil {
		t.Errorf("model %d, %v", model, err)
	}
	if n, err := m.ReportZones(f, 0, make([]engines.Zone, 2)); n != 2 || err != nil {
		t.Errorf("%d zones, %v", n, err)
	}
	if err := m.ResetZones(f, 0, 4096); !errors.Is(err, syscall.EACCES) {
		t.Errorf("a reset without leave to write: %v", err)
	}
}

// TestZonesShortTransfers is a drive that moves 8 KiB with a command: 127 zones of a report.
func TestZonesShortTransfers(t *testing.T) {
	s, z := zonedSystem(t, func(answer string, b []byte) {
		if answer == "ctrl" {
			b[77] = 1
		}
	})
	m, f := newZoneManager(s, defaults()), &engines.File{Name: "/dev/null", Kind: engines.Char, Fd: -1}
	if n, err := m.ReportZones(f, 0, make([]engines.Zone, 300)); n != 300 || err != nil {
		t.Errorf("%d zones, %v", n, err)
	}
	if err := m.FillZone(f, &engines.Zone{}, 20<<10, nil); err != nil {
		t.Error(err)
	}
	var lengths []uint32
	for _, c := range z.sent {
		lengths = append(lengths, c.DataLen)
	}
	if !slices.Equal(lengths, []uint32{8192, 8192, 4096}) || z.longest > 8192 {
		t.Errorf("writes of %d bytes, reports of up to %d", lengths, z.longest)
	}
}

func TestAppends(t *testing.T) {
	o := with(func(o *Options) { o.WriteMode = "zone_append" })
	j := jobOf("w", 128<<10)
	if err := o.check(j); err == nil || !strings.Contains(err.Error(), "zonemode=zbd") {
		t.Errorf("without zones: %v", err)
	}
	j.ZoneMode = "zbd"
	if err := o.check(j); err != nil {
		t.Error(err)
	}
	s, _ := zonedSystem(t, nil)
	f := &engines.File{Name: "/dev/null", Kind: engines.Char, Fd: -1}
	if err := newZoneManager(s, o).checkAppends(f, j); err == nil || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("too long: %v", err)
	}
	a := &appender{zoneBlocks: []uint64{256}, appended: make([]bool, 1)}
	u := &engines.IO{File: f}
	var c nvme.Command
	c.Blocks(nvme.OpZoneAppend, 1, 1<<32+256*3+7, 16, 0)
	a.direct(&c, u, nvme.OpZoneAppend)
	if c.CDW10 != 256*3 || c.CDW11 != 1 || !a.appended[0] {
		t.Errorf("sent to block %d + %d<<32, %v", c.CDW10, c.CDW11, a.appended)
	}
	a.direct(&c, u, nvme.OpWrite)
	if a.appended[0] {
		t.Error("a write counts as append")
	}
	if got := []bool{appends(o), appends(defaults()), appends(with(func(o *Options) { o.WriteMode = "write/50:zone_append/50" }))}; !slices.Equal(got, []bool{true, false, true}) {
		t.Errorf("appends: %v", got)
	}
}
