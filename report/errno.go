package report

import (
	"fmt"
	"strings"
	"syscall"
)

// ErrnoText is the C library's text of an errno, which reports show: Go's own begins with a small letter.
func ErrnoText(errno int) string {
	if errno == 0 {
		return "Success"
	}
	s := syscall.Errno(errno).Error()
	if strings.HasPrefix(s, "errno ") {
		return fmt.Sprintf("Unknown error %d", errno)
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
