package run

import (
	"encoding/binary"
	"testing"

	"fiord/clock"
)

// TestContentsAndStart watches the buffer at each reading of the clock: an I/O starts once its contents are made, but before
// a few words of them are scrambled, as with fio.
func TestContentsAndStart(t *testing.T) {
	for _, c := range []struct {
		options string
		made    bool // before the start
	}{
		{"ioengine=null rw=write refill_buffers=1", true},
		{"ioengine=null rw=write", false},
		{"ioengine=null rw=write iodepth=2 refill_buffers=1", true},
		{"ioengine=null rw=write iodepth=2", false},
	} {
		t.Run(c.options, func(t *testing.T) {
			w := hotWorker(t, c.options+" size=64k")
			u := w.loop.ios[0]
			seen := []uint64{0}
			restore := clock.Script(func() int64 {
				seen = append(seen, binary.LittleEndian.Uint64(u.Buf[48:])^binary.LittleEndian.Uint64(u.Buf[56:]))
				return int64(len(seen) - 1)
			})
			defer restore()
			w.loop.nextPub = 0
			w.pass()
			if w.loop.blocks[1] != 16 {
				t.Fatalf("%d writes: %s", w.loop.blocks[1], w.st.ErrorText)
			}
			end := binary.LittleEndian.Uint64(u.Buf[48:]) ^ binary.LittleEndian.Uint64(u.Buf[56:])
			if made := seen[u.Start] == end; made != c.made {
				t.Errorf("at the start: contents made: %v, want %v", made, c.made)
			}
		})
	}
}
