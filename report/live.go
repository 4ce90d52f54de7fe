package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"fiord/job"
)

// Live draws the status line of a run on a terminal, over and over in the same place. It is not safe for several
// goroutines.
type Live struct {
	Out     io.Writer     // the terminal
	Width   func() int    // its columns at the moment; nil or 0: no limit
	NewLine time.Duration // how long one line is redrawn before the next begins (--eta-newline); 0: for ever

	shown   int           // columns that the last line took
	since   time.Duration // when the line now being redrawn was begun
	started bool
	known   bool // a time to go was known once
}

// Update draws the line of s over the one before it.
func (l *Live) Update(s Status) error {
	line := l.Render(s)
	head := ""
	if l.started && l.NewLine > 0 && s.Elapsed-l.since >= l.NewLine {
		head, l.shown, l.since = "\n", 0, s.Elapsed
	}
	if !l.started {
		l.started, l.since = true, s.Elapsed
	}
	width := utf8.RuneCountInString(line)
	pad := strings.Repeat(" ", max(0, l.shown-width))
	l.shown = width
	return l.write(head + line + pad + "\r")
}

// Clear takes the line off the terminal, so that other text can start in its place.
func (l *Live) Clear() error {
	if l.shown == 0 {
		return nil
	}
	blank := strings.Repeat(" ", l.shown)
	l.shown = 0
	return l.write("\r" + blank + "\r")
}

func (l *Live) write(s string) error {
	if _, err := io.WriteString(l.Out, s); err != nil {
		return fmt.Errorf("write status line: %w", err)
	}
	return nil
}

// Render is the line of s, cut to the width of the terminal: a line that wraps cannot be redrawn.
func (l *Live) Render(s Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Jobs: %d (f=%d)", s.Running, s.Files)
	sc := newScale(s.KBBase, s.UnitBase, s.SigFigs)
	switch {
	case s.WantRate > 0 || s.MinRate > 0:
		fmt.Fprintf(&b, ", %s-%s", Number(s.MinRate, sc.figures, 1, sc.binary, BytesPerSec),
			Number(s.WantRate, sc.figures, 1, sc.binary, BytesPerSec))
	case s.WantIOPS > 0 || s.MinIOPS > 0:
		fmt.Fprintf(&b, ", %d-%d IOPS", s.MinIOPS, s.WantIOPS)
	}
	if s.EtaSec != EtaNone && s.Running > 0 {
		fmt.Fprintf(&b, ": [%s][%s]%s[eta %s]", condense(s.Letters), l.percent(s), rates(s, sc), eta(s.EtaSec))
	}
	return l.cut(b.String())
}

// percent is how much is done, and no number while nothing is known of it.
func (l *Live) percent(s Status) string {
	if s.Ramp || s.Percent < 0 || s.EtaSec < 0 || s.EtaSec == 0 && !l.known {
		return "-.-%"
	}
	l.known = true
	return fmt.Sprintf("%3.1f%%", min(100, finite(s.Percent)))
}

func (l *Live) cut(line string) string {
	if l.Width == nil {
		return line
	}
	width := l.Width() - 1 // the last column stays free, for some terminals wrap there
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width])
}

// rates are the bandwidth and the IOPS of the directions that move.
func rates(s Status, sc scale) string {
	var bw, iops []string
	for d, letter := range [job.NDirs]string{"r", "w", "t"} {
		if s.Rate[d] == 0 && s.IOPS[d] == 0 {
			continue
		}
		bw = append(bw, letter+"="+Number(s.Rate[d]/1024, 4, 1024, sc.binary, sc.unit))
		iops = append(iops, letter+"="+Number(s.IOPS[d], 4, 1, false, Plain))
	}
	if bw == nil {
		return ""
	}
	return "[" + strings.Join(bw, ",") + "][" + strings.Join(iops, ",") + " IOPS]"
}

// condense counts equal neighbours: RRRW becomes R(3),W(1).
func condense(letters string) string {
	var b strings.Builder
	for i := 0; i < len(letters); {
		n := 1
		for i+n < len(letters) && letters[i+n] == letters[i] {
			n++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%c(%d)", letters[i], n)
		i += n
	}
	return b.String()
}

// eta writes seconds as 05m:30s, with hours and days where there are any; below 0 they are unknown.
func eta(sec int64) string {
	if sec < 0 {
		return "--"
	}
	s, m, h, d := sec%60, sec/60%60, sec/3600%24, sec/86400
	switch {
	case d > 0:
		return fmt.Sprintf("%02dd:%02dh:%02dm:%02ds", d, h, m, s)
	case h > 0:
		return fmt.Sprintf("%02dh:%02dm:%02ds", h, m, s)
	}
	return fmt.Sprintf("%02dm:%02ds", m, s)
}
