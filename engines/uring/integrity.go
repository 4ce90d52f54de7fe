package uring

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"fiord/engines"
	"fiord/engines/uring/queue"
	"fiord/engines/uring/ring"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/feature"
	"fiord/internal/sys"
	"fiord/job"
)

// integrity sends metadata with reads and writes of block devices (md_per_io_size): the job's own protection information.
type integrity struct {
	checks  nvme.Checks
	flags   uint16 // of each attribute
	each    int    // bytes of metadata for an I/O
	formats []*nvme.Format
	attrs   queue.Memory[ring.AttrPI] // by Index
	meta    *sys.Arena
	reasons []error // why the check of a read failed, by Index
}

// Defaults of options, which are declared with them.
const (
	defaultApptag = 0x1234
	allOfApptag   = 0xffff // apptag_mask
)

// asks is what a machine tells of a block device's metadata, so that a test can play one.
type asks func(path string) (sys.Integrity, error)

// newIntegrity prepares it for w's files; nil: the job sends no metadata.
func newIntegrity(w *engines.Worker, o *Options, ask asks) (*integrity, error) {
	if o.MdPerIOSize == 0 {
		for _, given := range []struct {
			name  string
			given bool
		}{{"pi_chk", o.PIChk != ""}, {"pi_act", !o.PIAct}, {"apptag", o.Apptag != defaultApptag}, {"apptag_mask", o.ApptagMask != allOfApptag}} {
			if given.given {
				w.Notice("io_uring: %s has no effect without md_per_io_size: the kernel makes and checks protection information itself", given.name)
			}
		}
		return nil, nil
	}
	p := &integrity{each: o.MdPerIOSize, reasons: make([]error, len(w.IOs))}
	if err := p.options(w.Job, o); err != nil {
		return nil, err
	}
	for _, f := range w.Files {
		format, err := formatOf(f, ask)
		if err != nil {
			return nil, err
		}
		if err := p.fits(w.Job, f.Name, format); err != nil {
			return nil, err
		}
		p.formats = append(p.formats, format)
	}
	return p, nil
}

// options checks the options on protection information and takes them over.
func (p *integrity) options(j *job.Job, o *Options) error {
	switch {
	case !j.Direct:
		return errors.New("md_per_io_size: only direct I/O carries metadata: direct=1")
	case o.Hipri:
		return errors.New("md_per_io_size and hipri=1: the kernel does not poll for I/O with metadata")
	case o.ApptagMask != allOfApptag:
		return errors.New("apptag_mask: the kernel compares all of the application tag, so that ioengine=io_uring takes 0xffff alone; io_uring_cmd takes others")
	case o.Apptag < 0 || o.Apptag > 0xffff:
		return fmt.Errorf("apptag=%d: want 0 to 0xffff", o.Apptag)
	case o.PIAct && j.RW.Write:
		return errors.New("pi_act=1 and md_per_io_size: nobody would make the protection information that is written; without md_per_io_size the kernel makes and checks it, with pi_act=0 fiord does")
	case !j.CreateSerialize:
		return errors.New("md_per_io_size and create_serialize=0 exclude each other: the files must be there first")
	}
	fields, err := nvme.ParseChecks(o.PIChk)
	if err != nil {
		return fmt.Errorf("pi_chk=%s: %w", o.PIChk, err)
	}
	p.checks = nvme.Checks{Flags: fields, AppTag: uint16(o.Apptag), AppMask: allOfApptag}
	if o.PIAct {
		p.checks.Flags |= nvme.PRInfoAct
	}
	for check, flag := range map[uint32]uint16{nvme.PRInfoChkGuard: ring.IO_INTEGRITY_CHK_GUARD,
		nvme.PRInfoChkRef: ring.IO_INTEGRITY_CHK_REFTAG, nvme.PRInfoChkApp: ring.IO_INTEGRITY_CHK_APPTAG} {
		if fields&check != 0 {
			p.flags |= flag
		}
	}
	return nil
}

// formatOf asks for the metadata of a file, which must be a block device that takes protection information.
func formatOf(f *engines.File, ask asks) (*nvme.Format, error) {
	if f.Kind != engines.Block {
		return nil, fmt.Errorf("md_per_io_size: %s is no block device: nothing else has metadata", f.Name)
	}
	c, err := ask(f.Name)
	if errors.Is(err, syscall.ENOTTY) && !feature.AtLeast(6, 17) {
		return nil, fmt.Errorf("%s: %w", f.Name, &feature.Error{Name: "md_per_io_size with ioengine=io_uring (FS_IOC_GETLBMD_CAP)", Since: "6.17"})
	}
	if err != nil {
		return nil, err
	}
	guard, known := map[uint8]nvme.GuardType{sys.IntegrityCRC16: nvme.Guard16, sys.IntegrityCRC64: nvme.Guard64}[c.GuardType]
	switch {
	case c.Flags&sys.IntegrityPI == 0:
		return nil, fmt.Errorf("md_per_io_size: %s has no protection information", f.Name)
	case c.StoreTagSize != 0:
		return nil, fmt.Errorf("md_per_io_size: %s has storage tags, which are not supported", f.Name)
	case !known:
		return nil, fmt.Errorf("md_per_io_size: %s has guards of type %d, which are not supported: want the CRC of 16 or of 64 bits", f.Name,
			c.GuardType)
	}
	pi := uint8(3) // without reference tags
	if c.Flags&sys.IntegrityRefTag != 0 {
		pi = 1
	}
	format, err := nvme.SeparateFormat(uint32(c.Interval), uint32(c.Size), nvme.PIAt(pi, guard, uint32(c.PIOffset), uint32(c.PISize)))
	if err != nil {
		return nil, fmt.Errorf("md_per_io_size: %s: %w", f.Name, err)
	}
	return &format, nil
}

// fits checks the block sizes against the format.
func (p *integrity) fits(j *job.Job, name string, f *nvme.Format) error {
	for d, does := range [...]bool{j.RW.Read, j.RW.Write} {
		if !does {
			continue
		}
		if j.MinBS[d]%uint64(f.Block) != 0 || j.MaxBS[d]%uint64(f.Block) != 0 {
			return fmt.Errorf("md_per_io_size: %s: the block size must be a multiple of %d bytes", name, f.Block)
		}
		if need := j.MaxBS[d] / uint64(f.Block) * uint64(f.Meta); need > uint64(p.each) {
			return fmt.Errorf("md_per_io_size=%d: %s: %d bytes are needed, %d for each block of %d", p.each, name, need, f.Meta, f.Block)
		}
	}
	return nil
}

// prepare makes the memory that entries point to, n I/Os worth.
func (p *integrity) prepare(n int) error {
	var err error
	if p.attrs, err = queue.NewMemory[ring.AttrPI](n); err != nil {
		return fmt.Errorf("memory for attributes: %w", err)
	}
	if p.meta, err = sys.NewArena("malloc", p.each*n, 0, 0, ""); err != nil {
		return fmt.Errorf("md_per_io_size=%d: memory for metadata: %w", p.each, err)
	}
	// A page that was never written to is the zero page, which all processes share; see io_uring_cmd.
	for i := 0; i < len(p.meta.Mem); i += os.Getpagesize() {
		p.meta.Mem[i] = 0xff
	}
	clear(p.meta.Mem)
	return nil
}

// close gives the memory back.
func (p *integrity) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.attrs.Close(), p.meta.Close())
}

// of is the metadata of u and the format of its file.
func (p *integrity) of(u *engines.IO) (*nvme.Format, []byte) {
	return p.formats[u.File.Index], p.meta.Mem[int(u.Index)*p.each:][:p.each]
}

// attach lets the entry of u carry its metadata, and makes what protection information is to be written.
func (p *integrity) attach(s *ring.SQE, u *engines.IO) {
	f, meta := p.of(u)
	a := &p.attrs.All[u.Index]
	*a = ring.AttrPI{Flags: p.flags, AppTag: p.checks.AppTag, Len: uint32(len(meta)), Addr: queue.Addr(meta)}
	start := f.LBA(uint64(u.Offset))
	if p.flags&ring.IO_INTEGRITY_CHK_REFTAG != 0 {
		a.Seed = uint64(uint32(start))
	}
	if u.Op == engines.Write && f.Host(&p.checks) {
		f.Generate(&p.checks, u.Buf, meta, start)
	}
	s.Addr3, s.AttrMask = p.attrs.At(u.Index), ring.IORING_RW_ATTR_FLAG_PI
}

// verify checks the protection information that came with a read, where that is the host's part.
func (p *integrity) verify(u *engines.IO) {
	f, meta := p.of(u)
	p.reasons[u.Index] = nil
	if !f.Host(&p.checks) {
		return
	}
	if err := f.Check(&p.checks, u.Buf[:u.Done], meta, f.LBA(uint64(u.Offset))); err != nil {
		u.Done, u.Errno = 0, syscall.EIO
		p.reasons[u.Index] = err
	}
}

// DecodeError says which check of protection information failed; nil where the errno says it all.
func (e *engine) DecodeError(u *engines.IO) error {
	if e.pi == nil || u.Errno != syscall.EIO || u.Op != engines.Read {
		return nil
	}
	return e.pi.reasons[u.Index]
}
