package uringcmd

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/queue"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/sys"
	"fiord/job"
)

// zonedDevice is a zoned namespace.
type zonedDevice struct {
	*device
	nvme.ZonedNamespace
	appendMost uint64 // bytes of a zone append; 0: no limit of its own
}

func (z *zonedDevice) zoneBytes() uint64 { return z.ZoneSize * uint64(z.fmt.Block) }

// atMost is n bytes, or fewer where the drive moves fewer with one command.
func (z *zonedDevice) atMost(n uint64) uint64 {
	if most := z.ctrl.MaxTransfer; most != 0 {
		return min(n, most)
	}
	return n
}

// zoneManager manages the zones of namespaces by commands that the kernel waits for.
type zoneManager struct {
	sys *system
	o   *Options

	mu      sync.Mutex
	devices map[string]*zonedDevice // nil: not zoned
}

var _ engines.ZoneManager = (*zoneManager)(nil)

func newZoneManager(s *system, o *Options) *zoneManager {
	return &zoneManager{sys: s, o: o, devices: map[string]*zonedDevice{}}
}

// appends reports whether some of the job's writes are zone appends.
func appends(o *Options) bool {
	shares, err := o.writeModes()
	if err != nil {
		return false // refused elsewhere
	}
	for _, s := range shares {
		if s.opcode == nvme.OpZoneAppend {
			return true
		}
	}
	return false
}

// find is what is known of f's namespace, nil where it is not zoned.
func (m *zoneManager) find(f *engines.File) (*zonedDevice, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d, ok := m.devices[f.Name]; ok {
		return d, nil
	}
	if f.Kind != engines.Char {
		return nil, notGeneric(f)
	}
	if m.o.CmdType != "nvme" {
		return nil, fmt.Errorf("%s: cmd_type=%s has no zones", f.Name, m.o.CmdType)
	}
	d, err := m.sys.identify(f.Name)
	if err != nil {
		return nil, err
	}
	d.fmt = d.ns.Format(m.o.PIAct)
	z, err := m.sys.zoned(d)
	if err != nil {
		return nil, err
	}
	m.devices[f.Name] = z
	return z, nil
}

// zoned asks a namespace for its zones; nil: it has none.
func (s *system) zoned(d *device) (*zonedDevice, error) {
	mem, err := sys.NewArena("malloc", nvme.IdentifySize, 0, 0, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = mem.Close() }()
	// A drive without zones refuses the question. Anything else says nothing about zones.
	ask := func(cns uint8) (bool, error) {
		clear(mem.Mem)
		c := nvme.Identify(d.ns.NSID, cns, nvme.CSIZNS, queue.Addr(mem.Mem))
		err := s.command(d.path, -1, nvme.NVME_IOCTL_ADMIN_CMD, &c)
		if refused := (*commandError)(nil); errors.As(err, &refused) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("%s: identify zones: %w", d.path, err)
		}
		return true, nil
	}
	z := &zonedDevice{device: d}
	if has, err := ask(nvme.CNSControllerCSI); !has {
		return nil, err
	}
	if z.appendMost, err = nvme.AppendLimit(mem.Mem); err != nil {
		return nil, err
	}
	if has, err := ask(nvme.CNSNamespaceCSI); !has {
		return nil, err
	}
	if z.ZonedNamespace, err = d.ns.Zoned(mem.Mem); err != nil {
		return nil, fmt.Errorf("%s: %w", d.path, err)
	}
	return z, nil
}

// commandError is a command that the drive refused.
type commandError struct{ status nvme.Status }

func (e *commandError) Error() string { return fmt.Sprintf("NVMe status: %v", e.status) }

// Unwrap is an error number for reports that want one.
func (e *commandError) Unwrap() error { return syscall.EIO }

// command sends c through an ioctl and waits for it: to fd, or below 0 to the file at path, which is opened for writing only
// where c sends something to the drive.
func (s *system) command(path string, fd int, request uint, c *nvme.Command) error {
	if fd < 0 {
		flags := os.O_RDONLY
		if nvme.Sends(c.Opcode) {
			flags = os.O_RDWR
		}
		var err error
		if fd, err = s.open(path, flags, 0); err != nil {
			return err
		}
		defer func() { _ = s.close(fd) }()
	}
	status, errno := s.ioctl(fd, request, unsafe.Pointer(c))
	if errno != 0 {
		return errno
	}
	if status != 0 {
		return &commandError{nvme.Status(status)}
	}
	return nil
}

// ZoneModel identifies the namespace.
func (m *zoneManager) ZoneModel(f *engines.File) (engines.ZoneModel, error) {
	z, err := m.find(f)
	if err != nil || z == nil {
		return engines.NotZoned, err
	}
	return engines.HostManaged, nil
}

// ZoneLimits are those of the namespace. As in fio, the limit on active zones does not count closed ones.
func (m *zoneManager) ZoneLimits(f *engines.File) (open, active uint32, err error) {
	z, err := m.find(f)
	if err != nil || z == nil {
		return 0, 0, err
	}
	return z.MaxOpen, 0, nil
}

// reportMost is how many zones are asked for with one command.
const reportMost = 1023

// ReportZones asks the drive.
func (m *zoneManager) ReportZones(f *engines.File, from uint64, zones []engines.Zone) (int, error) {
	z, err := m.find(f)
	if err != nil {
		return 0, err
	}
	if z == nil {
		return 0, errors.New("the namespace is not zoned")
	}
	mem, err := sys.NewArena("malloc", nvme.ReportHead+reportMost*nvme.ReportZone, 0, 0, "")
	if err != nil {
		return 0, err
	}
	defer func() { _ = mem.Close() }()
	var got [reportMost]nvme.Zone
	total, end := 0, z.ns.Size(&z.fmt)
	most := int(z.atMost(uint64(len(mem.Mem)))-nvme.ReportHead) / nvme.ReportZone
	for total < len(zones) && from < end {
		want := min(len(zones)-total, most)
		clear(mem.Mem)
		c := nvme.ReportZones(z.ns.NSID, z.fmt.LBA(from), queue.Addr(mem.Mem), uint32(nvme.ReportHead+want*nvme.ReportZone))
		if err := m.sys.command(f.Name, -1, nvme.NVME_IOCTL_IO_CMD, &c); err != nil {
			return total, err
		}
		n, err := nvme.ParseReport(mem.Mem, got[:want])
		if err != nil || n == 0 {
			return total, err
		}
		block := uint64(z.fmt.Block)
		for i, g := range got[:n] {
			zones[total+i] = engines.Zone{Start: g.Start * block, WP: g.WP * block, Length: z.zoneBytes(), Capacity: g.Capacity * block,
				Type: engines.ZoneType(g.Type), Cond: engines.ZoneCond(g.State)}
		}
		total += n
		from += uint64(n) * z.zoneBytes()
	}
	return total, nil
}

// manage does action to each zone of a range.
func (m *zoneManager) manage(f *engines.File, offset, length uint64, action nvme.ZoneAction) error {
	z, err := m.find(f)
	if err != nil {
		return err
	}
	if z == nil {
		return errors.New("the namespace is not zoned")
	}
	for end := offset + length; offset < end; offset += z.zoneBytes() {
		c := nvme.ZoneManage(z.ns.NSID, z.fmt.LBA(offset), action)
		if err := m.sys.command(f.Name, f.Fd, nvme.NVME_IOCTL_IO_CMD, &c); err != nil {
			return err
		}
	}
	return nil
}

// ResetZones empties zones.
func (m *zoneManager) ResetZones(f *engines.File, offset, length uint64) error {
	return m.manage(f, offset, length, nvme.ZoneReset)
}

// FinishZones makes zones full.
func (m *zoneManager) FinishZones(f *engines.File, offset, length uint64) error {
	return m.manage(f, offset, length, nvme.ZoneFinish)
}

// fillMost is how much of a zone is filled with one command.
const fillMost = 64 << 10

// FillZone writes at the write pointer of zone.
func (m *zoneManager) FillZone(f *engines.File, zone *engines.Zone, length uint64, data []byte) error {
	z, err := m.find(f)
	if err != nil {
		return err
	}
	if z == nil || z.fmt.Meta != 0 {
		return errors.New("the namespace has no zones, or blocks with metadata")
	}
	mem, err := sys.NewArena("malloc", fillMost, 0, 0, "")
	if err != nil {
		return err
	}
	defer func() { _ = mem.Close() }()
	for at := zone.WP; length > 0; {
		n := min(length, z.atMost(fillMost))
		used := copy(mem.Mem[:n], data)
		clear(mem.Mem[used:n])
		data = data[used:]
		c := nvme.Command{Addr: queue.Addr(mem.Mem), DataLen: uint32(n)}
		c.Blocks(nvme.OpWrite, z.ns.NSID, z.fmt.LBA(at), uint32(z.fmt.LBA(n)), 0)
		if err := m.sys.command(f.Name, f.Fd, nvme.NVME_IOCTL_IO_CMD, &c); err != nil {
			return err
		}
		at += n
		length -= n
	}
	return nil
}

// checkAppends refuses zone appends that the namespace cannot do.
func (m *zoneManager) checkAppends(f *engines.File, j *job.Job) error {
	if !appends(m.o) || !j.RW.Write {
		return nil
	}
	z, err := m.find(f)
	switch {
	case err != nil:
		return err
	case z == nil:
		return fmt.Errorf("%s: write_mode=zone_append: the namespace has no zones", f.Name)
	case z.ns.PIType != 0:
		return fmt.Errorf("%s: write_mode=zone_append: not with protection information, which says where a block is", f.Name)
	case z.appendMost != 0 && j.MaxBS[job.Write] > z.appendMost:
		return fmt.Errorf("%s: a block size of %d: the drive appends at most %d bytes at once", f.Name, j.MaxBS[job.Write], z.appendMost)
	}
	return nil
}

// appender is what an engine with zone appends has besides.
type appender struct {
	zoneBlocks []uint64 // logical blocks of a zone, by File.Index
	appended   []bool   // whether the last write was an append, by Index
}

// prepareAppends finds out where zones start. Nil: the job has no appends.
func (e *engine) prepareAppends() error {
	if !appends(e.o) || !e.w.Job.RW.Write {
		return nil
	}
	m := newZoneManager(e.sys, e.o)
	a := &appender{appended: make([]bool, len(e.w.IOs))}
	for _, f := range e.w.Files {
		if err := m.checkAppends(f, e.w.Job); err != nil {
			return err
		}
		z, err := m.find(f)
		if err != nil {
			return err
		}
		for len(a.zoneBlocks) <= f.Index {
			a.zoneBlocks = append(a.zoneBlocks, 1)
		}
		a.zoneBlocks[f.Index] = z.ZoneSize
	}
	e.append = a
	return nil
}

// direct sends the write u to the start of its zone where opcode is an append.
func (a *appender) direct(c *nvme.Command, u *engines.IO, opcode uint8) {
	a.appended[u.Index] = opcode == nvme.OpZoneAppend
	if !a.appended[u.Index] {
		return
	}
	at := uint64(c.CDW10) | uint64(c.CDW11)<<32
	at -= at % a.zoneBlocks[u.File.Index]
	c.CDW10, c.CDW11 = uint32(at), uint32(at>>32)
}

// Appends reports whether writes can be zone appends.
func (e *engine) Appends() bool { return e.append != nil }

// Landed is where an append has put the data of u.
func (e *engine) Landed(u *engines.IO) (uint64, bool) {
	if e.append == nil || !e.append.appended[u.Index] || u.Errno != 0 {
		return 0, false
	}
	return u.Aux * uint64(e.devices[u.File.Index].fmt.Block), true
}
