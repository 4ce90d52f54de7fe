package layout

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrStopped is wrapped by Prepare's and PreRead's error when Env.Stop ended them.
var ErrStopped = errors.New("stopped while laying out files")

// ErrMounted is wrapped when a job would write to a mounted device and allow_mounted_write is not set.
var ErrMounted = errors.New("it appears mounted, and allow_mounted_write is not set")

// FileError says what could not be done to which file. The errno, where the kernel gave one, is found by
// errors.As(err, *syscall.Errno).
type FileError struct {
	Op   string // the step, by fio's name for it: open, fstat, ftruncate, write, total_file_size
	Path string // the file; empty when the job as a whole is meant
	Err  error
	Hint string // what the user may do about it; may be empty

	// Refused says that the job's own options forbid it. Such a job has failed, but its report has error 0, as with fio.
	Refused bool
}

func (e *FileError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s %q: %v", e.Op, e.Path, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// Func is the text that fio shows as func= in its error line.
func (e *FileError) Func() string {
	if e.Op == opOpen && e.Path != "" {
		return fmt.Sprintf("open(%s)", e.Path)
	}
	if e.Op == opCreate {
		return opOpen
	}
	return e.Op
}

// Steps whose name in messages is not simply the system call.
const (
	opOpen   = "open"
	opCreate = "create" // open while laying out, which fio calls plain "open"
	opSizes  = "total_file_size"
	opOffset = "offset"
)

// jobError is an error of the job's options rather than of one file.
func jobError(op, text string) error {
	return &FileError{Op: op, Err: &optionError{text: text, errno: syscall.EINVAL}}
}

// optionError carries the errno that fio sets for it, which its text does not repeat.
type optionError struct {
	text  string
	errno syscall.Errno
}

func (e *optionError) Error() string { return e.text }
func (e *optionError) Unwrap() error { return e.errno }
