package peak

import (
	"errors"
	"fmt"
	"math/bits"

	"fiord/engines/uring/ring"
)

// Config is what is to be measured. Defaults has the values of flags that are not given.
type Config struct {
	Depth     int // -d: reads in flight for each thread
	Submit    int // -s: most reads handed over at once
	Complete  int // -c: reads waited for at once
	BlockSize int // -b: bytes of one read

	Polled        bool   // -p: poll for completions
	FixedBufs     bool   // -B: registered buffers
	RegisterFiles bool   // -F: registered files
	Threads       int    // -n
	Direct        bool   // -O: O_DIRECT
	Nop           bool   // -N: requests that do nothing
	Latency       bool   // -t: measure latencies
	TSCRate       uint64 // -T: ticks a second of the clock; 0: calibrate it
	Seconds       int    // -r: length of the run; 0: until a signal
	Random        bool   // -R: random offsets, else sequential ones
	AIO           bool   // -a: the kernel's native AIO in place of io_uring
	Sync          bool   // -S: preadv2 in place of io_uring
	RegisterRing  bool   // -X: enter by a registered descriptor
	Place         bool   // -P: run on the NUMA node of the device
	Vectored      bool   // -V: one-entry vectors in place of plain buffers
	Restrict      bool   // -e: allow the ring only what it needs
	Passthrough   bool   // -u: NVMe commands
	Hugetlb       string // -H: file that the buffers lie in; empty: ordinary memory

	Format string // --output-format: text or json
	Files  []string

	given map[byte]bool // flags that the user named
	notes []string
}

// Defaults are the values of t/io_uring.
func Defaults() Config {
	return Config{Depth: 128, Submit: 32, Complete: 32, BlockSize: 4096, Polled: true, FixedBufs: true, RegisterFiles: true,
		Threads: 1, Direct: true, Random: true, RegisterRing: true, Format: formatText}
}

// The output formats.
const (
	formatText = "text"
	formatJSON = "json"
)

// maxThreads keeps a typing mistake from filling the machine with threads.
const maxThreads = 1024

// resolve checks the flags together and settles what follows from them.
func (c *Config) resolve() error {
	for _, pair := range []struct {
		both bool
		text string
	}{
		{c.AIO && c.Sync, "-a1 and -S1"}, {c.AIO && c.Passthrough, "-a1 and -u1"}, {c.Sync && c.Passthrough, "-S1 and -u1"},
		{c.Nop && c.Passthrough, "-N1 and -u1"}, {c.Nop && c.AIO, "-N1 and -a1"}, {c.Nop && c.Sync, "-N1 and -S1"},
	} {
		if pair.both {
			return fmt.Errorf("%s exclude each other", pair.text)
		}
	}
	if len(c.Files) == 0 {
		return errors.New("no file or device given")
	}
	c.Submit, c.Complete = min(c.Submit, c.Depth), min(c.Complete, c.Depth)
	c.withoutEffect()
	if size := uint64(c.BlockSize) * c.slots(); c.FixedBufs && size > ring.MaxBufferSize {
		return fmt.Errorf("-B1: %d bytes of buffers for each thread; the kernel registers at most %d: give -B0, or less of -d or -b",
			size, ring.MaxBufferSize)
	}
	return nil
}

// withoutEffect turns off what the chosen way of reading does not have. Where the user named it, a note tells.
func (c *Config) withoutEffect() {
	off := func(letter byte, on *bool, why string) {
		if *on && c.given[letter] {
			c.notes = append(c.notes, fmt.Sprintf("-%c1 has no effect: %s", letter, why))
		}
		*on = false
	}
	switch {
	case c.AIO:
		const why = "native AIO has none of it"
		off('p', &c.Polled, why)
		off('B', &c.FixedBufs, why)
		off('F', &c.RegisterFiles, why)
		off('V', &c.Vectored, "native AIO reads into plain buffers here")
		off('X', &c.RegisterRing, why)
		off('e', &c.Restrict, why)
	case c.Sync:
		const why = "preadv2 has none of it"
		off('B', &c.FixedBufs, why)
		off('F', &c.RegisterFiles, why)
		off('X', &c.RegisterRing, why)
		off('e', &c.Restrict, why)
		if c.given['d'] && c.Depth > 1 {
			c.notes = append(c.notes, "-d has no effect: preadv2 reads one block at a time")
		}
		c.Depth, c.Submit, c.Complete = 1, 1, 1
	case c.Nop:
		off('p', &c.Polled, "there is nothing to poll for without I/O")
		off('V', &c.Vectored, "there are no buffers without I/O")
	}
}

// slots is how many buffers a thread has: as many as the ring has entries.
func (c *Config) slots() uint64 { return 1 << bits.Len64(uint64(c.Depth-1)) }
