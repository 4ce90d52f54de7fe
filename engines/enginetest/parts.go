package enginetest

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"

	"fiord/engines"
)

// fill marks the buffer of u so that its block can be told from all others.
func fill(u *engines.IO, seed byte) {
	for i := range u.Buf {
		u.Buf[i] = seed ^ byte(i) ^ byte(i>>8)
	}
}

func reads(r *Rig) []*engines.IO {
	for i, u := range r.Worker.IOs {
		u.Op, u.Offset = engines.Read, int64(i)*BlockSize
	}
	return r.Worker.IOs
}

func wantFull(t *testing.T, u *engines.IO) {
	t.Helper()
	if u.Errno != 0 || u.Done != len(u.Buf) {
		t.Errorf("I/O %d (%v at %d): done %d, errno %v; want %d, none", u.Index, u.Op, u.Offset, u.Done, u.Errno,
			len(u.Buf))
	}
}

// testBatch offers batches of every size.
func testBatch(t *testing.T, r *Rig) {
	for n := 1; n <= len(r.Worker.IOs); n++ {
		ios := reads(r)[:n]
		for _, u := range ios {
			u.Done, u.Errno = -1, syscall.EIO // results of an earlier use must not shine through
		}
		r.Do(t, ios)
		for _, u := range ios {
			wantFull(t, u)
		}
	}
}

// testFull offers I/Os one at a time without reaping: what was refused must be taken after a reap.
func testFull(t *testing.T, r *Rig) {
	ios := reads(r)
	taken := 0
	for taken < len(ios) {
		n, err := r.Engine.Submit(ios[taken : taken+1])
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		taken++
	}
	if taken == 0 {
		t.Fatal("Submit took nothing although nothing is in flight")
	}
	one := r.done[:1]
	for i := range taken { // one at a time: done is the limit, not what is ready
		n, err := r.Engine.Reap(one, 1, -1)
		if err != nil || n != 1 {
			t.Fatalf("Reap %d of %d into one place: %d, %v", i, taken, n, err)
		}
		wantFull(t, one[0])
	}
	r.Do(t, ios[taken:])
}

// testIdle reaps where nothing is in flight.
func testIdle(t *testing.T, r *Rig) {
	for _, wait := range []time.Duration{0, time.Millisecond, -1} {
		if n, err := r.Engine.Reap(r.done, 0, wait); n != 0 || err != nil {
			t.Errorf("Reap with nothing in flight, wait %v: %d, %v", wait, n, err)
		}
	}
	if n, err := r.Engine.Submit(nil); n != 0 || err != nil {
		t.Errorf("Submit of nothing: %d, %v", n, err)
	}
}

// testData writes blocks, reads them back through the engine, and compares with the file.
func testData(t *testing.T, r *Rig) {
	ios := r.Worker.IOs
	for i, u := range ios {
		u.Op, u.Offset = engines.Write, int64(i)*BlockSize
		fill(u, byte(i+1))
	}
	r.Do(t, ios)
	want := make([]byte, 0, len(ios)*BlockSize)
	for _, u := range ios {
		wantFull(t, u)
		want = append(want, u.Buf...)
	}
	for i, u := range ios { // read in another order than written
		u.Op, u.Offset = engines.Read, int64(len(ios)-1-i)*BlockSize
		fill(u, 0)
	}
	r.Do(t, ios)
	for _, u := range ios {
		wantFull(t, u)
		if !bytes.Equal(u.Buf, want[u.Offset:u.Offset+BlockSize]) {
			t.Errorf("block at %d differs from what was written", u.Offset)
		}
	}
	r.DoOne(t, engines.Sync, 0, 0)
	r.Close(t)
	got, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got[:len(want)], want) {
		t.Error("file differs from what was written")
	}
	if int64(len(got)) != r.size || !bytes.Equal(got[len(want):], make([]byte, len(got)-len(want))) {
		t.Errorf("file of %d bytes was changed outside of what was written", len(got))
	}
}

// testScatter mixes reads and writes, some contiguous and some not, in one batch.
func testScatter(t *testing.T, r *Rig) {
	ios := r.Worker.IOs
	offsets := []int64{0, 1, 2, 9, 10, 5, 20, 30, 31, 32, 40, 41, 50, 51, 52, 53}
	for i, u := range ios {
		u.Op, u.Offset = engines.Write, offsets[i%len(offsets)]*BlockSize
		fill(u, byte(i+3))
		if i%4 == 3 {
			u.Op = engines.Read
		}
	}
	n := min(len(ios), len(offsets))
	want := make([]byte, r.size)
	for _, u := range ios[:n] {
		if u.Op == engines.Write {
			copy(want[u.Offset:], u.Buf)
		}
	}
	r.Do(t, ios[:n])
	for _, u := range ios[:n] {
		wantFull(t, u)
		if u.Op == engines.Read && !bytes.Equal(u.Buf, want[u.Offset:u.Offset+BlockSize]) {
			t.Errorf("block read at %d is not what the file holds", u.Offset)
		}
	}
	r.Close(t)
	got, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("file differs from what was written")
	}
}

// testShort reads across and behind the end of the file.
func testShort(t *testing.T, r *Rig) {
	end := int64(2*BlockSize + BlockSize/2)
	if err := os.Truncate(r.Path, end); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		offset int64
		want   int
	}{
		{"inside", BlockSize, BlockSize}, {"across", 2 * BlockSize, BlockSize / 2}, {"behind", 3 * BlockSize, 0},
	} {
		u := r.DoOne(t, engines.Read, c.offset, BlockSize)
		if u.Errno != 0 || u.Done != c.want {
			t.Errorf("read %s the end: done %d, errno %v; want %d, none", c.name, u.Done, u.Errno, c.want)
		}
	}
}

// testBadFd uses a descriptor that is not open: the I/O fails, the engine does not.
func testBadFd(t *testing.T, r *Rig) {
	bad := *r.File
	bad.Fd, bad.Engine, bad.Index = 1<<20, nil, 0
	u := r.Worker.IOs[0]
	for _, op := range []engines.Op{engines.Read, engines.Write} {
		u.File = &bad
		u = r.DoOne(t, op, 0, BlockSize)
		if u.Errno != syscall.EBADF || u.Done != 0 {
			t.Errorf("%v: done %d, errno %v; want 0, EBADF", op, u.Done, u.Errno)
		}
	}
	u.File = r.File
	if u = r.DoOne(t, engines.Read, 0, BlockSize); u.Errno != 0 {
		t.Errorf("read after a failed one: %v", u.Errno)
	}
}

// testSync runs each sync operation alone, and one behind writes in the same batch.
func testSync(t *testing.T, r *Rig) {
	for op := engines.Sync; op <= engines.Syncfs; op++ {
		r.File.SyncFrom, r.File.SyncTo = 0, BlockSize
		if u := r.DoOne(t, op, 0, 0); u.Errno != 0 || u.Done != 0 {
			t.Errorf("%v: done %d, errno %v; want 0, none", op, u.Done, u.Errno)
		}
	}
	ios := r.Worker.IOs
	for i, u := range ios {
		u.Op, u.Offset = engines.Write, int64(i)*BlockSize
	}
	last := ios[len(ios)-1]
	last.Op = engines.DataSync
	last.Buf = last.Buf[:0]
	r.Do(t, ios)
	last.Buf = last.Buf[:BlockSize]
	for _, u := range ios {
		if u.Errno != 0 {
			t.Errorf("%v in a batch: %v", u.Op, u.Errno)
		}
	}
}

// testTrim trims a regular file, which no engine can: it must be an error of the I/O. Block devices need a device.
func testTrim(t *testing.T, r *Rig) {
	if u := r.DoOne(t, engines.Trim, 0, BlockSize); u.Errno == 0 || u.Done != 0 {
		t.Errorf("trim of a regular file: done %d, errno %v; want 0 and an error", u.Done, u.Errno)
	}
	if u := r.DoOne(t, engines.Read, 0, BlockSize); u.Errno != 0 {
		t.Errorf("read after a failed trim: %v", u.Errno)
	}
}

// testClose closes the engine with I/O in flight.
func testClose(t *testing.T, r *Rig) {
	if _, err := r.Engine.Submit(reads(r)); err != nil {
		t.Fatal(err)
	}
	r.Close(t)
}

// testAllocs counts allocations of reads, writes and syncs.
func testAllocs(t *testing.T, r *Rig) {
	for i, u := range r.Worker.IOs {
		u.Op, u.Offset = []engines.Op{engines.Read, engines.Write, engines.Sync}[i%3], int64(i)*BlockSize
	}
	var failed error
	n := testing.AllocsPerRun(20, func() {
		if err := r.Cycle(); err != nil {
			failed = err
		}
	})
	if failed != nil {
		t.Fatal(failed)
	}
	if n != 0 {
		t.Errorf("a batch of %d I/Os allocates %v times, want 0", len(r.Worker.IOs), n)
	}
}
