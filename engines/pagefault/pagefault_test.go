package pagefault

import (
	"strings"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/job"
)

func TestConformance(t *testing.T) { enginetest.Run(t, Driver()) }

func TestData(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 1)
	const bs = enginetest.BlockSize
	u := r.Worker.IOs[0]
	u.Buf[0] = 'x'
	if u = r.DoOne(t, engines.Write, bs, bs); u.Errno != 0 {
		t.Fatal(u.Errno)
	}
	u.Buf[0] = 'y'
	if u = r.DoOne(t, engines.Read, bs, bs); u.Errno != 0 || u.Buf[0] != 'x' {
		t.Errorf("read: errno %v, first byte %q", u.Errno, u.Buf[0])
	}
	for _, c := range []struct {
		op     engines.Op
		offset int64
	}{{engines.Trim, 0}, {engines.Read, r.File.Length}, {engines.Write, r.File.Length - 1}} {
		if u = r.DoOne(t, c.op, c.offset, bs); u.Errno != syscall.EINVAL || u.Done != 0 {
			t.Errorf("%v at %d: errno %v, done %d; want EINVAL", c.op, c.offset, u.Errno, u.Done)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		files []*engines.File
		want  string
	}{
		{nil, "nrfiles"}, {[]*engines.File{{Length: 1}, {Length: 1}}, "nrfiles"},
		{[]*engines.File{{Offset: 4096, Length: 4096}}, "offset"}, {[]*engines.File{{Length: 0}}, "0 bytes of memory"},
	} {
		_, err := Driver().Open(&engines.Worker{Job: &job.Job{}, Files: c.files}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d files: %v, want %q", len(c.files), err, c.want)
		}
	}
}

func BenchmarkRead(b *testing.B) { enginetest.Bench(b, Driver(), 1) }
