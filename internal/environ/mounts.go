package environ

import (
	"path/filepath"
	"strings"
)

// mount is one line of mountinfo.
type mount struct{ point, kind, source, options, super string }

// mounts reads the mounts of this process.
func (s System) mounts() []mount { return parseMounts(s.read("/proc/self/mountinfo")) }

// parseMounts reads mountinfo (Documentation/filesystems/proc.rst); lines of another form are passed over.
func parseMounts(text string) []mount {
	var out []mount
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		a, b := strings.Fields(left), strings.Fields(right)
		if !ok || len(a) < 6 || len(b) < 2 {
			continue
		}
		m := mount{point: unescape(a[4]), options: a[5], kind: b[0], source: unescape(b[1])}
		if len(b) > 2 {
			m.super = b[2]
		}
		out = append(out, m)
	}
	return out
}

// unescape undoes the kernel's octal escapes: \040 for a blank, \011, \012 and \134.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// longest is the mount that the path lies on: that with the longest mount point, of several the last, which hides the
// others.
func longest(list []mount, path string) (mount, bool) {
	best, found := mount{}, false
	for _, m := range list {
		if below(m.point, path) && (!found || len(m.point) >= len(best.point)) {
			best, found = m, true
		}
	}
	return best, found
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
