package iolog

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Inflate writes a compressed log (log_store_compressed, of fio or fiord) as the text it would else have been. It reads any
// number of zlib streams, each with records of one kind. The log must be of a machine of the same byte order.
func Inflate(w io.Writer, r io.Reader) error {
	in := bufio.NewReader(r) // zlib reads no byte too many from it
	out := bufio.NewWriterSize(w, 64<<10)
	var zip io.ReadCloser
	for part := 1; ; part++ {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			break
		}
		var err error
		if zip == nil {
			zip, err = zlib.NewReader(in)
		} else {
			err = zip.(zlib.Resetter).Reset(in, nil)
		}
		if err == nil {
			err = inflatePart(out, zip)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("compressed log: part %d: %w", part, err), out.Flush())
		}
	}
	return out.Flush()
}

// inflatePart writes the records of one stream.
func inflatePart(w *bufio.Writer, r io.Reader) error {
	buf := make([]byte, packedBytes, packedBytes+16)
	if _, err := io.ReadFull(r, buf); errors.Is(err, io.EOF) {
		return nil // no record at all
	} else if err != nil {
		return err
	}
	flags := binary.NativeEndian.Uint32(buf[24:])
	cols := columnsOf(flags)
	buf = buf[:cols.recordBytes()]
	have := packedBytes
	var line []byte
	for {
		if _, err := io.ReadFull(r, buf[have:]); have == 0 && errors.Is(err, io.EOF) {
			return nil
		} else if errors.Is(err, io.EOF) && have < len(buf) {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
		p := cols.unpack(buf)
		line = cols.line(line[:0], &p)
		if _, err := w.Write(line); err != nil {
			return err
		}
		have = 0
	}
}
