package job

import (
	"errors"
	"fmt"
	"strings"
)

// Questions that callers ask of an error with errors.Is.
var (
	ErrUnknownOption = errors.New("unknown option")
	ErrBadValue      = errors.New("bad value")
	ErrNeedsValue    = errors.New("option requires a value")
	ErrDeprecated    = errors.New("option is deprecated and no longer supported")
	ErrUnknownEngine = errors.New("engine not loadable")
	ErrSyntax        = errors.New("not a job file")
	ErrConflict      = errors.New("options contradict each other")
)

// ParseError is an error of one place in a job file or on the command line.
type ParseError struct {
	File    string // job file; empty: the command line
	Line    int    // 1-based; 0 when the error belongs to no line
	Section string // job section; empty: before any section
	Option  string // canonical name where known, else as written; empty: the section as a whole
	Err     error
}

// Error is "file:line: section [x]: option: why".
func (e *ParseError) Error() string {
	var b strings.Builder
	switch {
	case e.File == "":
		b.WriteString("command line: ")
	case e.Line > 0:
		fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	default:
		b.WriteString(e.File + ": ")
	}
	if e.Section != "" {
		fmt.Fprintf(&b, "section [%s]: ", e.Section)
	}
	if e.Option != "" {
		b.WriteString(e.Option + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap gives the reason.
func (e *ParseError) Unwrap() error { return e.Err }

// UnknownOptionError names an option that neither fio's job options nor the engine's have.
type UnknownOptionError struct {
	Name    string
	Engine  string   // the engine the section uses
	Owners  []string // engines that have an option of that name
	Nearest string   // a similar name; empty: none is near
}

// Error says where the option would belong, or what it might have meant.
func (e *UnknownOptionError) Error() string {
	switch {
	case len(e.Owners) > 0:
		return fmt.Sprintf("unknown option %q: it belongs to ioengine %s, this job uses %s", e.Name,
			strings.Join(e.Owners, ", "), e.Engine)
	case e.Nearest != "":
		return fmt.Sprintf("unknown option %q: did you mean %q?", e.Name, e.Nearest)
	}
	return fmt.Sprintf("unknown option %q", e.Name)
}

// Is makes errors.Is(err, ErrUnknownOption) true.
func (e *UnknownOptionError) Is(target error) bool { return target == ErrUnknownOption }

// NotImplementedError names an option or engine that fiord declares but cannot do yet.
type NotImplementedError struct {
	Job    string
	Option string // "ioengine" for an engine
	Value  string
	Reason string
}

// Error names job, option and reason.
func (e *NotImplementedError) Error() string {
	return fmt.Sprintf("job %s: %s=%s: not implemented: %s", e.Job, e.Option, e.Value, e.Reason)
}

// ValueError is a value that an option does not take.
type ValueError struct {
	Value string
	Want  string // what is allowed
}

// Error says what is allowed and what was given.
func (e *ValueError) Error() string { return fmt.Sprintf("want %s, got %q", e.Want, e.Value) }

// Is makes errors.Is(err, ErrBadValue) true.
func (e *ValueError) Is(target error) bool { return target == ErrBadValue }

func badValue(value, want string, args ...any) error {
	return &ValueError{Value: value, Want: fmt.Sprintf(want, args...)}
}

func conflict(format string, args ...any) error {
	return &conflictError{fmt.Sprintf(format, args...)}
}

type conflictError struct{ text string }

func (e *conflictError) Error() string        { return e.text }
func (e *conflictError) Is(target error) bool { return target == ErrConflict }
