package uring

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/ring"
	"fiord/internal/sys"
	"fiord/job"
)

// protected is a block device of 4096-byte blocks with 16 bytes of metadata, whose last 8 are protection information.
var protected = sys.Integrity{Flags: sys.IntegrityPI | sys.IntegrityRefTag, Interval: 4096, Size: 16, PISize: 8, PIOffset: 8,
	GuardType: sys.IntegrityCRC16}

func tells(c sys.Integrity, err error) asks {
	return func(string) (sys.Integrity, error) { return c, err }
}

func protectedJob(rw string, bs uint64) *job.Job {
	j := &job.Job{}
	j.RW.Read, j.RW.Write, j.Direct, j.CreateSerialize = strings.Contains(rw, "r"), strings.Contains(rw, "w"), true, true
	for d := range j.MinBS {
		j.MinBS[d], j.MaxBS[d] = bs, bs
	}
	return j
}

func protectedOptions(set func(*Options)) *Options {
	o := &Options{Nonvectored: -1, MdPerIOSize: 32, PIChk: "GUARD,APPTAG,REFTAG", Apptag: 0x1234, ApptagMask: 0xffff}
	if set != nil {
		set(o)
	}
	return o
}

func TestMetadataOptions(t *testing.T) {
	with := func(set func(*sys.Integrity)) sys.Integrity {
		c := protected
		set(&c)
		return c
	}
	for _, c := range []struct {
		name string
		o    func(*Options)
		j    func(*job.Job)
		tell asks
		want string // empty: fine
	}{
		{"fine", nil, nil, nil, ""},
		{"none", func(o *Options) { o.MdPerIOSize = 0 }, nil, tells(sys.Integrity{}, errors.New("asked")), ""},
		{"not direct", nil, func(j *job.Job) { j.Direct = false }, nil, "direct=1"},
		{"polled", func(o *Options) { o.Hipri = true }, nil, nil, "does not poll"},
		{"mask", func(o *Options) { o.ApptagMask = 0xff }, nil, nil, "apptag_mask"},
		{"tag", func(o *Options) { o.Apptag = 0x10000 }, nil, nil, "want 0 to 0xffff"},
		{"nobody makes it", func(o *Options) { o.PIAct = true }, nil, nil, "pi_act=1"},
		{"read with pi_act", func(o *Options) { o.PIAct = true }, func(j *job.Job) { j.RW.Write = false }, nil, ""},
		{"unknown check", func(o *Options) { o.PIChk = "GUARD,X" }, nil, nil, `got "X"`},
		{"files later", nil, func(j *job.Job) { j.CreateSerialize = false }, nil, "create_serialize"},
		{"too little room", func(o *Options) { o.MdPerIOSize = 16 }, nil, nil, "32 bytes are needed"},
		{"half a block", nil, func(j *job.Job) { j.MinBS[0] = 512 }, nil, "multiple of 4096"},
		{"no metadata", nil, nil, tells(sys.Integrity{}, nil), "no protection information"},
		{"storage tags", nil, nil, tells(with(func(c *sys.Integrity) { c.StoreTagSize = 2 }), nil), "storage tags"},
		{"IP checksum", nil, nil, tells(with(func(c *sys.Integrity) { c.GuardType = 1 }), nil), "guards of type 1"},
		{"nonsense", nil, nil, tells(with(func(c *sys.Integrity) { c.PIOffset = 12 }), nil), "make no sense"},
		{"other error", nil, nil, tells(sys.Integrity{}, syscall.EACCES), "permission denied"},
	} {
		j, o := protectedJob("rw", 8192), protectedOptions(c.o)
		if c.j != nil {
			c.j(j)
		}
		if c.tell == nil {
			c.tell = tells(protected, nil)
		}
		w := &engines.Worker{Job: j, IOs: []*engines.IO{{}}, Files: []*engines.File{{Name: "drive", Kind: engines.Block}}, Notice: t.Logf}
		_, err := newIntegrity(w, o, c.tell)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	w := &engines.Worker{Job: protectedJob("r", 8192), Files: []*engines.File{{Name: "file"}}}
	if _, err := newIntegrity(w, protectedOptions(nil), tells(protected, nil)); err == nil || !strings.Contains(err.Error(), "no block device") {
		t.Errorf("a regular file: %v", err)
	}
}

// TestMetadataInEntries looks at what entries carry, and breaks a block afterwards.
func TestMetadataInEntries(t *testing.T) {
	f := openFile(t, "f", "")
	f.Kind = engines.Block
	e, w := openAs(t, ring.Linux, tells(protected, nil), 2, 8192, protectedOptions(nil), protectedJob("rw", 8192), f)
	u := w.IOs[1]
	u.Op, u.Offset = engines.Write, 7*4096
	entries := make([]ring.SQE, 1)
	if e.fill(entries, w.IOs[1:]) != 1 {
		t.Fatal("the write cannot be sent")
	}
	s := &entries[0]
	a := (*ring.AttrPI)(unsafe.Add(nil, s.Addr3))
	meta := e.pi.meta.Mem[32:64]
	if s.AttrMask != ring.IORING_RW_ATTR_FLAG_PI || a.Len != 32 || a.AppTag != 0x1234 || a.Seed != 7 || a.Flags != 7 ||
		a.Addr != uint64(uintptr(unsafe.Pointer(&meta[0]))) {
		t.Errorf("attribute %+v", *a)
	}
	u.Op, u.Done, u.Errno = engines.Read, 8192, 0
	if e.pi.verify(u); u.Errno != 0 {
		t.Errorf("what was written does not pass: %v", e.DecodeError(u))
	}
	u.Buf[5000] ^= 1
	if e.pi.verify(u); u.Errno != syscall.EIO || u.Done != 0 || !strings.Contains(e.DecodeError(u).Error(), "guard of LBA 8") {
		t.Errorf("a flipped bit: %v, %v", u.Errno, e.DecodeError(u))
	}
}

// TestNoMetadataHere asks this machine: a file has none, whatever the kernel.
func TestNoMetadataHere(t *testing.T) {
	if _, err := sys.BlockIntegrity(openFile(t, "f", "").Name); !errors.Is(err, syscall.ENOTTY) && !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Errorf("a regular file: %v", err)
	}
}

// TestPolledRings makes rings that poll; a kernel that lacks them is named in the error.
func TestPolledRings(t *testing.T) {
	for _, hybrid := range []bool{false, true} {
		o := &Options{Nonvectored: -1, Hipri: true}
		o.HybridPoll = hybrid
		e, _ := openOn(t, ring.Linux, 2, 4096, o, &job.Job{}, openFile(t, "f", ""))
		got := strings.Join(e.Features(), " ")
		if !strings.Contains(got, "iopoll") || strings.Contains(got, "hybrid_iopoll") != hybrid {
			t.Errorf("hybrid_poll=%v: %s", hybrid, got)
		}
	}
	w := &engines.Worker{Job: &job.Job{}, Depth: 1, IOs: []*engines.IO{{}}, Notice: t.Logf}
	o := &Options{Nonvectored: -1}
	o.HybridPoll = true
	if _, err := open(ring.Linux, sys.BlockIntegrity, w, o); err == nil || !strings.Contains(err.Error(), "needs hipri") {
		t.Errorf("hybrid_poll without hipri: %v", err)
	}
}

// TestMetadataUnused gives options on protection information without md_per_io_size.
func TestMetadataUnused(t *testing.T) {
	for _, c := range []struct {
		set  func(*Options)
		want string
	}{
		{func(o *Options) {}, ""},
		{func(o *Options) { o.PIChk = "GUARD" }, "pi_chk"},
		{func(o *Options) { o.PIAct = false }, "pi_act"},
		{func(o *Options) { o.Apptag = 7 }, "apptag"},
		{func(o *Options) { o.ApptagMask = 1 }, "apptag_mask"},
	} {
		o := protectedOptions(func(o *Options) { o.MdPerIOSize, o.PIChk, o.PIAct = 0, "", true })
		c.set(o)
		said := ""
		w := &engines.Worker{Job: protectedJob("r", 4096), Notice: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
		if p, err := newIntegrity(w, o, tells(protected, nil)); p != nil || err != nil {
			t.Errorf("%v, %v", p, err)
		}
		if c.want == "" && said != "" || c.want != "" && !strings.HasPrefix(said, "io_uring: "+c.want+" has no effect") {
			t.Errorf("%s: said %q", c.want, said)
		}
	}
}
