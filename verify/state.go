package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fiord/internal/checksum"
)

// State is how far a job came with its writes (verify_state_save), so that a later run knows which of them to expect.
type State struct {
	NumberIO uint64   // writes issued
	Index    uint64   // number of the job, from 0
	Wide     bool     // the offsets come from the 64-bit generator
	Rand     []uint64 // where that generator stands: 3 or 5 words
	Name     string   // of the job; fio keeps 63 bytes
	InFlight []uint64 // numbers of the writes in flight, one for each place in the queue: NoNumber for none
	Failed   []uint64 // numbers of the writes that failed
}

// NoNumber stands for no write.
const NoNumber = 1<<64 - 1

// The layout of the file: a header of three words (version, size of the rest, CRC32C of the rest), then the state.
const (
	stateVersion = 7
	stateHeader  = 24
	stateFixed   = 144 // up to the numbers of writes
	nameOffset   = 80
	nameSize     = 64
	maxState     = 64 << 20
)

// ErrState is wrapped by the errors of ParseState.
var ErrState = errors.New("verify state is corrupt")

// StateName is the name of the state file of a job.
func StateName(name string, index int) string {
	return fmt.Sprintf("local-%s-%d-verify.state", strings.ReplaceAll(name, "/", "."), index)
}

// Encode is the file of the state.
func (s *State) Encode() []byte {
	n := len(s.InFlight) + len(s.Failed)
	b := make([]byte, stateHeader+stateFixed+8*n)
	body := b[stateHeader:]
	le := binary.LittleEndian
	le.PutUint32(body, uint32(n))
	le.PutUint64(body[8:], s.NumberIO)
	le.PutUint64(body[16:], s.Index)
	if s.Wide {
		le.PutUint64(body[24:], 1)
	}
	for i, w := range s.Rand {
		switch {
		case s.Wide && i < 6:
			le.PutUint64(body[32+8*i:], w)
		case !s.Wide && i < 4:
			le.PutUint32(body[32+4*i:], uint32(w))
		}
	}
	copy(body[nameOffset:nameOffset+nameSize-1], s.Name)
	for i, v := range slices.Concat(s.InFlight, s.Failed) {
		le.PutUint64(body[stateFixed+8*i:], v)
	}
	le.PutUint64(b, stateVersion)
	le.PutUint64(b[8:], uint64(len(body)))
	le.PutUint64(b[16:], uint64(checksum.CRC32C(body)))
	return b
}

// ParseState reads a state file. depth is the queue depth of the job: the numbers behind so many are those of failed
// writes.
func ParseState(b []byte, depth int) (*State, error) {
	le := binary.LittleEndian
	if len(b) < stateHeader {
		return nil, fmt.Errorf("%w: %d bytes are no header", ErrState, len(b))
	}
	if v := le.Uint64(b); v != stateVersion {
		return nil, fmt.Errorf("unsupported version %d in verify state header, want %d", v, stateVersion)
	}
	size, sum := le.Uint64(b[8:]), le.Uint64(b[16:])
	body := b[stateHeader:]
	if size > maxState || size < stateFixed || uint64(len(body)) < size {
		return nil, fmt.Errorf("%w: it says that it has %d bytes, and has %d", ErrState, size, len(body))
	}
	body = body[:size]
	if got := uint64(checksum.CRC32C(body)); got != sum {
		return nil, fmt.Errorf("%w: checksum %x, calculated %x", ErrState, sum, got)
	}
	n := uint64(le.Uint32(body))
	if n > (size-stateFixed)/8 {
		return nil, fmt.Errorf("%w: no room for %d numbers of writes", ErrState, n)
	}
	s := &State{NumberIO: le.Uint64(body[8:]), Index: le.Uint64(body[16:]), Wide: le.Uint64(body[24:]) != 0}
	if s.Wide {
		for i := range 5 {
			s.Rand = append(s.Rand, le.Uint64(body[32+8*i:]))
		}
	} else {
		for i := range 3 {
			s.Rand = append(s.Rand, uint64(le.Uint32(body[32+4*i:])))
		}
	}
	name, _, _ := bytes.Cut(body[nameOffset:nameOffset+nameSize], []byte{0})
	s.Name = string(name)
	for i := range n {
		v := le.Uint64(body[stateFixed+8*i:])
		switch {
		case i < uint64(max(depth, 0)):
			s.InFlight = append(s.InFlight, v)
		case v != NoNumber:
			s.Failed = append(s.Failed, v)
		}
	}
	return s, nil
}

// Lost reports whether the write may not be on the medium: it was in flight, or had failed.
func (s *State) Lost(number uint64) bool {
	return slices.Contains(s.InFlight, number) || slices.Contains(s.Failed, number)
}
