package iolog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// traceRecord is one record of a blktrace file: struct blk_io_trace of linux/blktrace_api.h, without its payload.
type traceRecord struct {
	Magic, Sequence    uint32
	Time               uint64 // ns
	Sector             uint64 // units of 512 bytes
	Bytes, Action, PID uint32
	Device             uint32 // major << 20 | minor
	CPU                uint32
	Error, PayloadLen  uint16
}

const (
	traceSize    = 48
	traceMagic   = 0x65617400 // the lowest byte is the version
	traceVersion = 7
)

// What Action says: its low half is what happened, its high half a mask of categories.
const (
	traceQueued     = 1
	traceBackMerge  = 2
	traceFrontMerge = 3
	traceCompleted  = 8

	traceRead    = 1 << (16 + 0)
	traceWrite   = 1 << (16 + 1)
	traceFlush   = 1 << (16 + 2)
	traceNotify  = 1 << (16 + 10)
	traceDiscard = 1 << (16 + 13)
)

// traceOrder is the byte order of a blktrace file that begins with magic, nil when it does not begin one.
func traceOrder(magic []byte) binary.ByteOrder {
	if len(magic) < 4 {
		return nil
	}
	for _, o := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if o.Uint32(magic)&^0xff == traceMagic {
			return o
		}
	}
	return nil
}

// readTrace reads the next record, whose payload it leaves to skipPayload. The error is io.EOF at the end of the file.
func readTrace(in io.Reader, order binary.ByteOrder, t *traceRecord) error {
	var b [traceSize]byte
	if n, err := io.ReadFull(in, b[:]); err == io.ErrUnexpectedEOF {
		return fmt.Errorf("it is cut short: its last record has %d of %d bytes", n, traceSize)
	} else if err != nil {
		return err
	}
	*t = traceRecord{
		Magic: order.Uint32(b[0:]), Sequence: order.Uint32(b[4:]), Time: order.Uint64(b[8:]), Sector: order.Uint64(b[16:]),
		Bytes: order.Uint32(b[24:]), Action: order.Uint32(b[28:]), PID: order.Uint32(b[32:]), Device: order.Uint32(b[36:]),
		CPU: order.Uint32(b[40:]), Error: order.Uint16(b[44:]), PayloadLen: order.Uint16(b[46:]),
	}
	switch {
	case t.Magic&^0xff != traceMagic:
		return fmt.Errorf("bad magic number %#x in a record", t.Magic)
	case t.Magic&0xff != traceVersion:
		return fmt.Errorf("blktrace version %d: want %d", t.Magic&0xff, traceVersion)
	}
	return nil
}

// skipPayload passes over the payload of t.
func skipPayload(in interface{ Discard(n int) (int, error) }, t *traceRecord) error {
	n, err := in.Discard(int(t.PayloadLen))
	if err == io.EOF {
		return fmt.Errorf("it is cut short: its last payload has %d of %d bytes", n, t.PayloadLen)
	}
	return err
}

// append appends the record in the order of this machine's kind, little endian, without a payload.
func (t *traceRecord) append(b []byte) []byte {
	o := binary.LittleEndian
	b = o.AppendUint32(b, t.Magic)
	b = o.AppendUint32(b, t.Sequence)
	b = o.AppendUint64(b, t.Time)
	b = o.AppendUint64(b, t.Sector)
	for _, v := range [...]uint32{t.Bytes, t.Action, t.PID, t.Device, t.CPU} {
		b = o.AppendUint32(b, v)
	}
	b = o.AppendUint16(b, t.Error)
	return o.AppendUint16(b, 0)
}

// queued reports whether the record is of an I/O that entered the queue; the others are what the block layer made of it.
func (t *traceRecord) queued() bool {
	return t.Action&0xffff == traceQueued && t.Action&traceNotify == 0
}

// dir is the direction that counts for the depth and for merges; ok is false for records of none.
func (t *traceRecord) dir() (op Op, ok bool) {
	switch {
	case t.Action&traceRead != 0:
		return OpRead, true
	case t.Action&traceWrite != 0:
		return OpWrite, true
	case t.Action&traceDiscard != 0:
		return OpTrim, true
	}
	return 0, false
}

// traceSource makes entries of blktrace's records.
type traceSource struct {
	r       *Replay
	order   binary.ByteOrder
	device  map[uint32]int32 // files by device number
	pending []Entry          // to be given first
	ended   bool

	flying, most [3]int // I/Os queued and not complete, and the most there were
}

func (s *traceSource) next(e *Entry) error {
	for {
		if len(s.pending) > 0 {
			*e = s.pending[0]
			s.pending = s.pending[1:]
			return nil
		}
		if s.ended {
			return io.EOF
		}
		var t traceRecord
		err := readTrace(s.r.in, s.order, &t)
		if err == io.EOF {
			s.end()
			continue
		}
		if err == nil {
			err = skipPayload(s.r.in, &t)
		}
		if err == nil {
			err = s.take(&t)
		}
		if err != nil {
			return s.r.wrap(err)
		}
	}
}

func (s *traceSource) ready() bool { return len(s.pending) > 0 || s.r.in.Buffered() >= traceSize }

// end closes the devices.
func (s *traceSource) end() {
	s.ended = true
	for i := range s.r.files {
		s.pending = append(s.pending, Entry{Kind: EntryClose, File: int32(i)})
	}
}

// take makes what it can of a record.
func (s *traceSource) take(t *traceRecord) error {
	s.countDepth(t)
	if !t.queued() {
		return nil
	}
	op := OpRead
	switch {
	case t.Action&traceDiscard != 0:
		op = OpTrim
	case t.Action&traceFlush != 0:
		op = OpSync
	case t.Action&traceWrite != 0:
		op = OpWrite
	}
	if s.r.cfg.ReadOnly && t.Action&(traceWrite|traceDiscard) != 0 {
		s.r.counts[leftReadOnly]++
		return nil
	}
	delay := s.r.delay(t.Time)
	if s.r.skipped(op) {
		return nil
	}
	e := Entry{Kind: EntryIO, Op: op, Delay: micros(delay / 1000)}
	if op != OpSync {
		if t.Bytes == 0 {
			s.r.counts[leftEmpty]++
			return nil
		}
		if err := s.extent(&e, t); err != nil {
			return err
		}
	}
	var err error
	if e.File, err = s.file(t.Device); err != nil {
		return err
	}
	s.pending = append(s.pending, e)
	return nil
}

// extent sets where the I/O is. replay_align makes the length of traces a multiple too.
func (s *traceSource) extent(e *Entry, t *traceRecord) error {
	if t.Sector >= 1<<54 {
		return fmt.Errorf("sector %d: too large", t.Sector)
	}
	var err error
	if e.Offset, err = s.r.place(t.Sector * 512); err != nil {
		return err
	}
	e.Len = int64(t.Bytes)
	if a := s.r.cfg.Align; a > 0 {
		e.Len = (e.Len + a - 1) &^ (a - 1)
	}
	return checkLength(e.Op, e)
}

// file is the file of a device. A new one is opened first.
func (s *traceSource) file(device uint32) (int32, error) {
	if i, ok := s.device[device]; ok {
		return i, nil
	}
	name := s.r.cfg.Redirect
	if name == "" {
		if s.r.cfg.Device == nil {
			return 0, errors.New("replay_redirect is needed: devices are not looked up")
		}
		var err error
		if name, err = s.r.cfg.Device(device>>20, device&(1<<20-1)); err != nil {
			return 0, err
		}
	}
	n := len(s.r.files)
	i := s.r.add(name)
	s.device[device] = i
	if len(s.r.files) > n {
		s.pending = append(s.pending, Entry{Kind: EntryOpen, File: i})
	}
	return i, nil
}

// countDepth follows how many I/Os are in flight. Merged ones are one.
func (s *traceSource) countDepth(t *traceRecord) {
	op, ok := t.dir()
	if !ok || t.Action&traceNotify != 0 {
		return
	}
	switch t.Action & 0xffff {
	case traceQueued:
		s.flying[op]++
	case traceBackMerge, traceFrontMerge:
		s.flying[op]--
	case traceCompleted:
		s.most[op] = max(s.most[op], s.flying[op])
		s.flying[op] = 0
	}
}

// depth is the queue depth that the trace asks for. Stacked devices never complete their I/Os, so it is bounded.
func (s *traceSource) depth(*Totals) int {
	return min(max(s.most[0], s.most[1], s.most[2], 1), 1024)
}
