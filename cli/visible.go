package cli

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// visible escapes what a terminal would take for a command or not show: messages quote names and lines from files that may
// hold anything.
func visible(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\n' || r == '\t' || strconv.IsPrint(r) && (r != utf8.RuneError || n > 1):
			b.WriteString(s[:n])
		default:
			q := strconv.Quote(s[:n])
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}
