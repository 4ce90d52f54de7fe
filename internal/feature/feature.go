// Package feature answers whether the running kernel has something that an engine or the clock would use.
//
// It owns the probe results and the typed error that names the least kernel. It must not know what the features are
// for, and does no probing of its own: whoever uses a feature knows how to ask for it.
package feature

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Error says that the kernel lacks a feature. It answers errors.Is(err, errors.ErrUnsupported).
type Error struct {
	Name  string // of the feature, as the user meets it
	Since string // least Linux version that has it, such as "6.1"; empty when no version is enough
	Hint  string // what may be in the way besides the version; may be empty
	Err   error  // what the kernel answered; may be nil
}

// Error is the whole sentence: the feature, the least kernel, this kernel, the kernel's own answer and the hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Name)
	if e.Since == "" {
		b.WriteString(": not available here")
	} else {
		fmt.Fprintf(&b, ": needs Linux %s or later", e.Since)
		if r := Release(); r != "" {
			fmt.Fprintf(&b, ", this is %s", r)
		}
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Is reports that every Error is an errors.ErrUnsupported.
func (e *Error) Is(target error) bool { return target == errors.ErrUnsupported }

// Unwrap returns what the kernel answered.
func (e *Error) Unwrap() error { return e.Err }

// Probe is one question to the kernel. The answers yes and no are kept; "could not tell" is asked again next time.
type Probe struct {
	name, since string
	ask         func() (bool, error)

	mu    sync.Mutex
	known bool
	have  bool
}

// NewProbe makes a Probe. ask reports whether the feature is there; an error means that it could not tell.
func NewProbe(name, since string, ask func() (bool, error)) *Probe {
	return &Probe{name: name, since: since, ask: ask}
}

// Check is nil when the feature is there, an *Error when it is not, and any other error when that could not be told.
func (p *Probe) Check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known {
		have, err := p.ask()
		if err != nil {
			return fmt.Errorf("probing %s: %w", p.name, err)
		}
		p.known, p.have = true, have
	}
	if p.have {
		return nil
	}
	return &Error{Name: p.name, Since: p.since}
}

// Release is the running kernel's version as it names itself, such as "6.1.0-13-amd64"; empty when it cannot be read.
var Release = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
})

// AtLeast reports whether the running kernel is Linux major.minor or later. It is for what no probe can tell, and
// answers true for a kernel whose version cannot be read, so that the attempt itself decides.
func AtLeast(major, minor int) bool { return atLeast(Release(), major, minor) }

func atLeast(release string, major, minor int) bool {
	ma, rest, _ := strings.Cut(release, ".")
	haveMajor, err := strconv.Atoi(ma)
	if err != nil {
		return true
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	haveMinor, err := strconv.Atoi(rest[:end])
	if err != nil {
		return true
	}
	return haveMajor > major || haveMajor == major && haveMinor >= minor
}
