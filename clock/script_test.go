package clock

import "testing"

func TestScript(t *testing.T) {
	before := Source()
	times := int64(41)
	restore := Script(func() int64 { times++; return times })
	if a, b := Now(), Nanos(Ticks()); a != 42 || b != 43 {
		t.Errorf("%d, %d, want 42, 43", a, b)
	}
	restore()
	if Now() == 44 || Source() != before {
		t.Error("the script goes on")
	}
}
