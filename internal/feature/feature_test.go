package feature

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

func TestErrorSaysWhatWhyAndSinceWhen(t *testing.T) {
	err := error(&Error{Name: "io_uring", Since: "5.1", Hint: "seccomp may forbid it", Err: syscall.ENOSYS})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Error("a feature error is not errors.ErrUnsupported")
	}
	if !errors.Is(err, syscall.ENOSYS) {
		t.Error("the kernel's answer is lost")
	}
	for _, want := range []string{"io_uring: needs Linux 5.1 or later", "function not implemented", "(seccomp may forbid it)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if got, want := (&Error{Name: "invariant TSC"}).Error(), "invariant TSC: not available here"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProbeKeepsOnlyAnswers(t *testing.T) {
	asked := 0
	answers := []struct {
		have bool
		err  error
	}{{false, syscall.EMFILE}, {true, nil}}
	p := NewProbe("thing", "6.1", func() (bool, error) {
		a := answers[asked]
		asked++
		return a.have, a.err
	})
	if err := p.Check(); !errors.Is(err, syscall.EMFILE) || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("undecided: got %v", err)
	}
	for range 3 {
		if err := p.Check(); err != nil {
			t.Errorf("present: got %v", err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times, want 2", asked)
	}
	no := NewProbe("thing", "6.1", func() (bool, error) { return false, nil })
	for range 2 {
		if err := no.Check(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("absent: got %v", err)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		release      string
		major, minor int
		want         bool
	}{
		{"6.18.44-fc", 6, 18, true},
		{"6.18.44-fc", 6, 19, false},
		{"6.1", 5, 19, true},
		{"5.10.0", 6, 1, false},
		{"6.12-rc1", 6, 12, true},
		{"7.0", 6, 18, true},
		{"", 6, 1, true},
		{"odd", 6, 1, true},
		{"6.x", 6, 1, true},
	} {
		if got := atLeast(c.release, c.major, c.minor); got != c.want {
			t.Errorf("atLeast(%q, %d, %d) = %v, want %v", c.release, c.major, c.minor, got, c.want)
		}
	}
	if Release() == "" {
		t.Skip("this system does not tell its kernel version in /proc/sys/kernel/osrelease")
	}
	if !AtLeast(2, 6) {
		t.Errorf("%q is older than 2.6", Release())
	}
}
