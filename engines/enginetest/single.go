package enginetest

import (
	"syscall"
	"testing"

	"fiord/engines"
)

// testSingle submits I/Os of all kinds by SubmitOne where the engine has it, without reaping until the queue is full.
func testSingle(t *testing.T, r *Rig) {
	s, ok := r.Engine.(engines.SingleSubmitter)
	if !ok {
		t.Skip("the engine has no SubmitOne")
	}
	ops := []engines.Op{engines.Write, engines.Read, engines.Read, engines.Sync}
	for round := range 2 * len(ops) {
		ios := r.Worker.IOs
		for i, u := range ios {
			u.Op, u.Offset = ops[(i+round)%len(ops)], int64(i)*BlockSize
			u.Done, u.Errno = -1, syscall.EIO
			if n, err := s.SubmitOne(u); n != 1 || err != nil {
				t.Fatalf("SubmitOne of I/O %d in round %d: %d, %v", i, round, n, err)
			}
		}
		for left := len(ios); left > 0; {
			n, err := r.Engine.Reap(r.done, min(left, 2), -1)
			if err != nil || n < min(left, 2) {
				t.Fatalf("Reap of %d: %d, %v", left, n, err)
			}
			left -= n
			for _, u := range r.done[:n] {
				u.Inline = false
				if u.Op.IsData() {
					wantFull(t, u)
				} else if u.Errno != 0 {
					t.Errorf("%v: %v", u.Op, u.Errno)
				}
			}
		}
	}
}
