package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// sink is standard output. It keeps the first error of writing there, so that help that went to a full disk is no success.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

// withSink returns a copy of e whose standard output is the sink.
func (e *Env) withSink() (*Env, *sink) {
	s := &sink{w: e.Stdout}
	c := *e
	c.Stdout = s
	return &c, s
}

// status is the exit status of a command that ended with status, and standard output where its loss was not told.
func (s *sink) status(status int, errs io.Writer) int {
	if status != 0 || s.err == nil {
		return status
	}
	complain(errs, fmt.Errorf("standard output: %w", s.err))
	return 1
}

// plain is the writer behind a sink: what is written there may get lost.
func plain(w io.Writer) io.Writer {
	if s, ok := w.(*sink); ok {
		return s.w
	}
	return w
}

// stdoutFile is the file that standard output is; nil where it is none.
func (e *Env) stdoutFile() fs.FileInfo {
	f, ok := plain(e.Stdout).(*os.File)
	if !ok {
		return nil
	}
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	return st
}
