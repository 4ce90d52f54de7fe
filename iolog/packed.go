package iolog

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"fiord/internal/sys"
	"fiord/job"
)

// The layout of a record in a compressed log is that of fio's samples in memory: time, two values, direction with flags,
// priority, block size, then offset and issue time where the flags say so. Numbers have the byte order of the machine.
const (
	packedBytes = 40

	flagOffset = 1 << 31
	flagPrio   = 1 << 30
	flagBoth   = 1 << 29
	flagIssue  = 1 << 28
	dirMask    = flagIssue - 1
)

// flags are the bits that tell a reader which columns the records have.
func (c *config) flags() (f uint32) {
	for _, x := range []struct {
		on  bool
		bit uint32
	}{{c.offset, flagOffset}, {c.prio, flagPrio}, {c.window == Both, flagBoth}, {c.issue, flagIssue}} {
		if x.on {
			f |= x.bit
		}
	}
	return f
}

// columnsOf is the reverse of flags.
func columnsOf(flags uint32) config {
	c := config{offset: flags&flagOffset != 0, prio: flags&flagPrio != 0, issue: flags&flagIssue != 0}
	if flags&flagBoth != 0 {
		c.window = Both
	}
	return c
}

// recordBytes is the length of a packed record.
func (c *config) recordBytes() int {
	n := packedBytes
	if c.offset {
		n += 8
	}
	if c.issue {
		n += 8
	}
	return n
}

func (c *config) pack(b []byte, p *point) []byte {
	e := binary.NativeEndian
	b = e.AppendUint64(b, uint64(p.ms))
	b = e.AppendUint64(b, p.value)
	b = e.AppendUint64(b, p.peak)
	b = e.AppendUint32(b, uint32(p.dir)|c.flags())
	b = e.AppendUint16(b, p.prio)
	b = e.AppendUint16(b, 0)
	b = e.AppendUint64(b, p.bs)
	if c.offset {
		b = e.AppendUint64(b, p.offset)
	}
	if c.issue {
		b = e.AppendUint64(b, uint64(p.issueNs))
	}
	return b
}

// unpack reads a record of recordBytes bytes.
func (c *config) unpack(b []byte) (p point) {
	e := binary.NativeEndian
	p = point{ms: int64(e.Uint64(b)), value: e.Uint64(b[8:]), peak: e.Uint64(b[16:]), dir: job.Dir(e.Uint32(b[24:]) & dirMask),
		prio: e.Uint16(b[28:]), bs: e.Uint64(b[32:])}
	b = b[packedBytes:]
	if c.offset {
		p.offset, b = e.Uint64(b), b[8:]
	}
	if c.issue {
		p.issueNs = int64(e.Uint64(b))
	}
	return p
}

// packedSink compresses a log as it grows (log_compression). What it keeps is written as text, or as it is with
// log_store_compressed.
type packedSink struct {
	file  *file
	cfg   config
	limit int   // bytes of records that are compressed together
	store bool  // write compressed
	cpus  []int // where the writer goroutine may run; empty: anywhere

	raw  []byte // records not compressed yet
	held [][]byte
	kept int64 // bytes of held
	zip  *zlib.Writer
}

func (s *packedSink) start() {
	if len(s.cpus) > 0 {
		runtime.LockOSThread() // to the goroutine's end, which ends the thread
		if err := sys.SetAffinity(s.cpus); err != nil {
			s.file.fail(fmt.Errorf("log_compression_cpus: %w", err))
		}
	}
}

func (s *packedSink) add(c []point) (empty []point) {
	for i := range c {
		s.raw = s.cfg.pack(s.raw, &c[i])
	}
	if len(s.raw) >= s.limit {
		s.keep(s.squeeze())
	}
	return c
}

// keep holds a stream, within the memory that the log and all logs together may take: what is too much is written, the
// oldest first.
func (s *packedSink) keep(stream []byte) {
	n := int64(len(stream))
	for s.kept+n > holdBytes || !s.file.take(n) {
		if len(s.held) == 0 {
			s.writeNow(stream)
			return
		}
		oldest := s.held[0]
		s.writeNow(oldest)
		s.held = slices.Delete(s.held, 0, 1)
		s.kept -= int64(len(oldest))
		s.file.give(int64(len(oldest)))
	}
	s.held = append(s.held, stream)
	s.kept += n
}

func (s *packedSink) writeNow(stream []byte) {
	s.file.mu.Lock()
	defer s.file.mu.Unlock()
	s.write(stream)
}

// squeeze compresses what has come since the last time, as a stream of its own.
func (s *packedSink) squeeze() []byte {
	var b bytes.Buffer
	if s.zip == nil {
		s.zip = zlib.NewWriter(&b)
	} else {
		s.zip.Reset(&b)
	}
	_, err := s.zip.Write(s.raw)
	if err = errors.Join(err, s.zip.Close()); err != nil {
		s.file.fail(fmt.Errorf("compress log: %w", err))
	}
	s.raw = s.raw[:0]
	return bytes.Clone(b.Bytes()) // without the buffer's spare room
}

// write writes one stream. The file's lock must be held.
func (s *packedSink) write(stream []byte) {
	if s.store {
		_ = s.file.put(stream)
		return
	}
	if err := Inflate(putter{s.file}, bytes.NewReader(stream)); err != nil {
		s.file.failed(err)
	}
}

// putter writes to a file whose lock is held.
type putter struct{ f *file }

func (p putter) Write(b []byte) (int, error) {
	if err := p.f.put(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *packedSink) close(last []point) {
	for i := range last {
		s.raw = s.cfg.pack(s.raw, &last[i])
	}
	var rest []byte
	if len(s.raw) > 0 {
		rest = s.squeeze()
	}
	s.file.mu.Lock()
	defer s.file.mu.Unlock()
	for _, stream := range s.held {
		s.write(stream)
	}
	if len(rest) > 0 {
		s.write(rest)
	}
	s.file.give(s.kept)
	s.held, s.raw, s.kept = nil, nil, 0
}
