package mmap

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/job"
)

var noShort = enginetest.Without("short", "a mapping has no short reads: behind the end of the file is an error")

func TestConformance(t *testing.T) {
	enginetest.Run(t, Driver(), noShort)
	t.Run("direct", func(t *testing.T) {
		enginetest.Run(t, Driver(), noShort, enginetest.WithJob(func(j *job.Job) { j.Direct = true }))
	})
	t.Run("advice", func(t *testing.T) {
		enginetest.Run(t, Driver(), noShort, enginetest.WithJob(func(j *job.Job) { j.FadviseHint = "random" }))
	})
	t.Run("thp", func(t *testing.T) {
		private := "with thp the mapping is private, as in fio"
		enginetest.Run(t, Driver(), noShort, enginetest.WithOptions(&Options{THP: 1}),
			enginetest.Without("data", private), enginetest.Without("scatter", private))
	})
}

// TestTruncated cuts the file under the mapping: fio dies of SIGBUS there.
func TestTruncated(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 1)
	const bs = enginetest.BlockSize
	if u := r.DoOne(t, engines.Read, 8*bs, bs); u.Errno != 0 {
		t.Fatal(u.Errno)
	}
	if err := os.Truncate(r.Path, 4*bs); err != nil {
		t.Fatal(err)
	}
	for _, op := range []engines.Op{engines.Read, engines.Write} {
		if u := r.DoOne(t, op, 8*bs, bs); u.Errno != syscall.EIO || u.Done != 0 {
			t.Errorf("%v behind the end: done %d, errno %v; want 0, EIO", op, u.Done, u.Errno)
		}
		if u := r.DoOne(t, op, 0, bs); u.Errno != 0 || u.Done != bs {
			t.Errorf("%v inside the file afterwards: done %d, errno %v", op, u.Done, u.Errno)
		}
	}
}

// TestWindow does I/O outside of the job's range, which is mapped block by block, and in a range that starts off a page.
func TestWindow(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 1)
	const bs = enginetest.BlockSize
	r.File.Offset, r.File.Length = 2*bs+512, 4*bs
	for i, offset := range []int64{2*bs + 512, 20 * bs, 3*bs + 512, 30*bs + 1024, 0} {
		u := r.Worker.IOs[0]
		want := strings.Repeat(string(rune('a'+i)), bs)
		copy(u.Buf, want)
		if u = r.DoOne(t, engines.Write, offset, bs); u.Errno != 0 {
			t.Fatalf("write at %d: %v", offset, u.Errno)
		}
		clear(u.Buf)
		if u = r.DoOne(t, engines.Read, offset, bs); u.Errno != 0 || string(u.Buf) != want {
			t.Errorf("read at %d: errno %v, or other data than written", offset, u.Errno)
		}
		if u = r.DoOne(t, engines.Sync, offset, 0); u.Errno != 0 {
			t.Errorf("sync at %d: %v", offset, u.Errno)
		}
	}
}

func TestReopened(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 1)
	const bs = enginetest.BlockSize
	r.DoOne(t, engines.Read, 0, bs)
	// A new file of the same name, opened as the layout does: the old mapping must not be used.
	if err := os.Remove(r.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.Path, []byte(strings.Repeat("x", 64*bs)), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Close(r.File.Fd)
	fd, err := syscall.Open(r.Path, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.File.Fd, r.File.Engine = fd, nil
	if u := r.DoOne(t, engines.Read, 0, bs); u.Errno != 0 || u.Buf[0] != 'x' {
		t.Errorf("read of the new file: errno %v, first byte %q", u.Errno, u.Buf[0])
	}
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*job.Job)
		want string
	}{
		{"odd block, direct", func(j *job.Job) { j.Direct = true; j.MinBS = job.PerDir[uint64]{512, 512, 512} }, "block size 512"},
		{"odd range, fsync", func(j *job.Job) { j.Fsync = 1; j.MinBS[job.Read] = 1024 },
			"block size 1024"},
		{"odd block, buffered", func(j *job.Job) { j.MinBS = job.PerDir[uint64]{512, 512, 512} }, ""},
		{"noreuse", func(j *job.Job) { j.FadviseHint = "noreuse" }, "noreuse"},
	} {
		w := &engines.Worker{Job: &job.Job{}, Depth: 1}
		w.Job.RW.Read = true
		c.set(w.Job)
		_, err := Driver().Open(w, &Options{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func BenchmarkRead(b *testing.B) { enginetest.Bench(b, Driver(), 1) }
