package uringcmd

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiord/engines"
	"fiord/internal/feature"
	"fiord/job"
)

func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name, drive, rw string
		bs              uint64
		set             func(*Options, *job.Job)
		change          func(string, []byte)
		want            string // empty: fine
	}{
		{"fine", "ng0n1", "rwt", 4096, nil, nil, ""},
		{"half a block", "ng3n1", "r", 512, nil, nil, "multiple of the drive's 4096 bytes"},
		{"metadata forgotten", "ng4n1", "r", 8192, func(o *Options, _ *job.Job) { o.PIAct = false }, nil, "did you mean bs=8208?"},
		{"metadata made by the drive", "ng4n1", "r", 8192, nil, nil, ""},
		{"no room for metadata", "ng1n1", "w", 16384, func(o *Options, _ *job.Job) { o.PIAct, o.MdPerIOSize = false, 24 }, nil, "32 bytes are needed"},
		{"room for metadata", "ng1n1", "w", 16384, func(o *Options, _ *job.Job) { o.PIAct, o.MdPerIOSize = false, 32 }, nil, ""},
		{"too long", "ng0n1", "r", 1 << 20, nil, nil, "at most 524288 bytes"},
		{"too long, but no data", "ng3n1", "w", 1 << 20, func(o *Options, _ *job.Job) { o.WriteMode = "zeroes" }, nil, ""},
		{"too many blocks", "ng0n1", "w", 64 << 20, func(o *Options, _ *job.Job) { o.WriteMode = "zeroes" }, nil, "at most 65536 blocks"},
		{"long trim", "ng0n1", "t", 64 << 20, nil, nil, ""},
		{"trim too long", "ng0n1", "t", 4 << 30, nil, nil, "at most 4194303 blocks"},
		{"no verify", "ng0n1", "w", 4096, func(o *Options, _ *job.Job) { o.WriteMode = "verify" }, nil, "no verify command"},
		{"no uncor in a mix", "ng0n1", "w", 4096, func(o *Options, _ *job.Job) { o.WriteMode = "write/50:uncor/50" }, nil, "no write uncorrectable command"},
		{"mode without writes", "ng0n1", "r", 4096, func(o *Options, _ *job.Job) { o.WriteMode = "zeroes" }, nil, "does not write"},
		{"read only", "ng0n1", "w", 4096, nil, func(a string, b []byte) {
			if a == "ns" {
				b[99] |= 1
			}
		}, "write protected"},
		{"read only, read", "ng0n1", "r", 4096, nil, func(a string, b []byte) {
			if a == "ns" {
				b[99] |= 1
			}
		}, ""},
		{"no deallocation", "ng0n1", "t", 4096, nil, func(a string, b []byte) {
			if a == "ctrl" {
				b[520] &^= 4
			}
		}, "no dataset management"},
		{"verify in extended blocks", "ng4n1", "w", 8208, func(o *Options, j *job.Job) { o.PIAct, j.Verify = false, "crc32c" }, nil, "verify does not go with"},
		{"direct", "ng0n1", "r", 4096, func(_ *Options, j *job.Job) { j.Direct = true }, nil, "refuses O_DIRECT"},
		{"compare without the command", "ng0n1", "w", 4096, func(o *Options, _ *job.Job) { o.VerifyMode = "compare" }, func(a string, b []byte) {
			if a == "ctrl" {
				b[520] &^= 1
			}
		}, "no compare command"},
		{"compare with made protection", "ng1n1", "w", 4096, func(o *Options, _ *job.Job) { o.VerifyMode = "compare" }, nil, "pi_act=0"},
		{"compare of headers", "ng0n1", "w", 4096, func(o *Options, j *job.Job) { o.VerifyMode, j.Verify = "compare", "crc32c" }, nil, "needs verify=pattern"},
		{"no placement", "ng0n1", "w", 4096, func(_ *Options, j *job.Job) { j.Dataplacement = "fdp" }, nil, "no flexible data placement"},
		{"no streams", "ng0n1", "w", 4096, func(_ *Options, j *job.Job) { j.Dataplacement = "streams" }, clearDirectives, "no streams"},
		{"too many ranges", "ng0n1", "t", 4096, func(_ *Options, j *job.Job) { j.NumRange = 5 }, limitRanges, "at most 4 ranges"},
		{"ranges too long", "ng0n1", "t", 1 << 20, func(_ *Options, j *job.Job) { j.NumRange = 4 }, limitRanges, "at most 4096 blocks at once, in all"},
		{"ranges that fit", "ng0n1", "t", 512 << 10, func(_ *Options, j *job.Job) { j.NumRange = 4 }, limitRanges, ""},
		{"odd alignment", "ng3n1", "r", 4096, func(_ *Options, j *job.Job) { j.BA[0] = 512 }, nil, "blockalign=512"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, j := defaults(), jobOf(c.rw, c.bs)
			if c.set != nil {
				c.set(o, j)
			}
			s := drive(t, c.drive, c.change)
			err := o.check(j)
			if err == nil {
				_, err = s.device(&engines.File{Name: "/dev/null", Kind: engines.Char}, j, o)
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func clearDirectives(answer string, b []byte) {
	if answer == "ctrl" {
		b[256] &^= 1 << 5
	}
}

// limitRanges takes 4 ranges, and 4096 blocks in all of them.
func limitRanges(answer string, b []byte) {
	if answer == "csi_ctrl" {
		b[3] = 4
		binary.LittleEndian.PutUint64(b[8:], 4096)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		set  func(*Options)
		want string
	}{
		{func(o *Options) { o.Fixedbufs, o.Nonvectored = true, 0 }, "not vectored"},
		{func(o *Options) { o.PIChk = "GUARD,TAG" }, `got "TAG"`},
		{func(o *Options) { o.Apptag = 0x10000 }, "apptag=65536"},
		{func(o *Options) { o.ApptagMask = -1 }, "apptag_mask=-1"},
		{func(o *Options) { o.WriteMode = "wrote" }, `got "wrote"`},
		{func(o *Options) { o.WriteMode = "zone_append" }, "zonemode=zbd"},
		{func(o *Options) { o.WriteMode = "write/60:zeroes/30" }, "add up to 90"},
		{func(o *Options) { o.WriteMode = "write/60:zeroes/50" }, "add up to 110"},
		{func(o *Options) { o.WriteMode = "write:zeroes/50" }, "no percentage"},
		{func(o *Options) { o.WriteMode = "write/x:zeroes/50" }, `got "x"`},
		{func(o *Options) { o.CmdprioPercentage[0] = 10 }, "priority"},
		{func(o *Options) { o.CmdType, o.Hipri = "null", true }, "nothing to poll"},
	} {
		o := with(c.set)
		w := &engines.Worker{Job: jobOf("rw", 4096), Depth: 1, IOs: []*engines.IO{{}}, Notice: t.Logf}
		if _, err := open(linux, w, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestQueueLimits plays the kernel's own files on the drive.
func TestQueueLimits(t *testing.T) {
	s := &system{sysfs: t.TempDir()}
	write := func(path, text string) {
		path = filepath.Join(s.sysfs, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := &device{}
	ask := func(o *Options, bs uint64) string {
		if err := s.checkQueue("/dev/ng4n2", d, jobOf("r", bs), o); err != nil {
			return err.Error()
		}
		return ""
	}
	hipri := with(func(o *Options) { o.Hipri = true })
	polls := feature.AtLeast(6, 5)
	write("module/nvme/parameters/poll_queues", "0\n")
	if got := ask(hipri, 4096); !strings.Contains(got, "poll_queues=N") {
		t.Errorf("no poll queues in the driver: %q", got)
	}
	write("class/block/nvme4n2/queue/io_poll", "0\n")
	if got := ask(hipri, 4096); !strings.Contains(got, "poll_queues=N") {
		t.Errorf("no poll queues in the drive: %q", got)
	}
	if got := ask(defaults(), 4096); got != "" {
		t.Errorf("not polled: %q", got)
	}
	write("class/block/nvme4n2/queue/io_poll", "1\n")
	if got := ask(hipri, 4096); polls && got != "" {
		t.Errorf("polled: %q", got)
	}
	write("class/block/nvme4n2/queue/max_hw_sectors_kb", "128\n")
	if got := ask(defaults(), 128<<10); got != "" {
		t.Errorf("as long as may be: %q", got)
	}
	if got := ask(defaults(), 132<<10); !strings.Contains(got, "at most 128 KiB") {
		t.Errorf("too long: %q", got)
	}
}

func TestDefaultsAreThoseDeclared(t *testing.T) {
	table, err := job.Declare(defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range table.All() {
		if d.Help == "" {
			t.Errorf("option %s has no help", d.Name)
		}
	}
}

// TestUnused gives options that no command of the job has a bit for.
func TestUnused(t *testing.T) {
	for _, c := range []struct {
		rw   string
		set  func(*Options)
		want string
	}{
		{"rw", func(o *Options) { o.Readfua, o.Writefua = true, true }, ""},
		{"w", func(o *Options) { o.Readfua = true }, "readfua=1"},
		{"r", func(o *Options) { o.Writefua = true }, "writefua=1"},
		{"w", func(o *Options) { o.Writefua, o.WriteMode = true, "uncor" }, "writefua=1"},
		{"w", func(o *Options) { o.Writefua, o.WriteMode = true, "uncor/50:zeroes/50" }, ""},
		{"w", func(o *Options) { o.Deac = true }, "deac=1"},
		{"w", func(o *Options) { o.Deac, o.WriteMode = true, "zeroes" }, ""},
	} {
		said := ""
		e := &engine{o: with(c.set), w: &engines.Worker{Job: jobOf(c.rw, 4096),
			Notice: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}}
		if err := e.commands(); err != nil {
			t.Fatal(err)
		}
		e.unused()
		if c.want == "" && said != "" || c.want != "" && !strings.HasPrefix(said, "io_uring_cmd: "+c.want+" has no effect") {
			t.Errorf("%s: said %q", c.want, said)
		}
	}
}
