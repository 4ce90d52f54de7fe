package null

import (
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
)

func TestConformance(t *testing.T) {
	for _, depth := range []int{1, 8} {
		enginetest.Run(t, Driver(), enginetest.WithDepth(depth))
	}
}

// TestOneBatch holds the engine to fio's depth: it is full until what it has is reaped.
func TestOneBatch(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 8)
	ios := r.Worker.IOs
	if n, err := r.Engine.Submit(ios[:3]); n != 3 || err != nil {
		t.Fatalf("first Submit: %d, %v", n, err)
	}
	if n, err := r.Engine.Submit(ios[3:]); n != 0 || err != nil {
		t.Fatalf("Submit before the reap: %d, %v", n, err)
	}
	done := make([]*engines.IO, 8)
	if n, err := r.Engine.Reap(done, 1, -1); n != 3 || err != nil {
		t.Fatalf("Reap: %d, %v", n, err)
	}
	if n, err := r.Engine.Submit(ios[3:]); n != 5 || err != nil {
		t.Fatalf("Submit after the reap: %d, %v", n, err)
	}
}

func TestSyncAtDepthOne(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 1)
	if engines.Inner(r.Engine) == nil {
		t.Error("at depth 1 the engine is not synchronous")
	}
}

func BenchmarkDepth1(b *testing.B)  { enginetest.Bench(b, Driver(), 1) }
func BenchmarkDepth16(b *testing.B) { enginetest.Bench(b, Driver(), 16) }
func BenchmarkDepth32(b *testing.B) { enginetest.Bench(b, Driver(), 32) }
