package verify

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func exampleState() *State {
	return &State{
		NumberIO: 16, Index: 2, Rand: []uint64{0xa4a8cb5b, 0xeb2caa9a, 0x485ee230}, Name: "v",
		InFlight: []uint64{NoNumber, 9}, Failed: []uint64{3, 4},
	}
}

func TestState(t *testing.T) {
	for name, s := range map[string]*State{
		"narrow": exampleState(),
		"wide":   {NumberIO: 1 << 40, Wide: true, Rand: []uint64{1, 2, 3, 4, 1 << 60}, Name: "w", InFlight: []uint64{NoNumber}},
	} {
		got, err := ParseState(s.Encode(), len(s.InFlight))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	s := exampleState()
	for n, want := range map[uint64]bool{9: true, 3: true, 4: true, 5: false, 0: false} {
		if got := s.Lost(n); got != want {
			t.Errorf("Lost(%d) is %v", n, got)
		}
	}
	if got := StateName("a/b", 3); got != "local-a.b-3-verify.state" {
		t.Errorf("the name is %s", got)
	}
}

// TestStateDamage changes every byte of a state in turn, and cuts it short.
func TestStateDamage(t *testing.T) {
	good := exampleState().Encode()
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x40
		if _, err := ParseState(bad, 2); err == nil {
			t.Errorf("byte %d changed: accepted", i)
		}
		if _, err := ParseState(good[:i], 2); !errors.Is(err, ErrState) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

// TestFioState reads a state that fio 3.42 has saved.
func TestFioState(t *testing.T) {
	s := &State{NumberIO: 16, Rand: []uint64{0xa4a8cb5b, 0xeb2caa9a, 0x485ee230}, Index: 0, Name: "v", InFlight: []uint64{NoNumber}}
	if got := s.Encode()[:24]; string(got) != "\x07\x00\x00\x00\x00\x00\x00\x00\x98\x00\x00\x00\x00\x00\x00\x00\x41\x53\xc1\x8b\x00\x00\x00\x00" {
		t.Errorf("the header is % x", got)
	}
}

func FuzzParseState(f *testing.F) {
	f.Add(exampleState().Encode(), 2)
	f.Add([]byte{}, 0)
	f.Add(exampleState().Encode()[:100], -1)
	f.Fuzz(func(t *testing.T, b []byte, depth int) {
		s, err := ParseState(b, depth)
		if err == nil {
			s.Lost(1)
		}
	})
}
