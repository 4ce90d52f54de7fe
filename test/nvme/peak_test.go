package nvme

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"fiord/test/nvme/plan"
)

var maximum = regexp.MustCompile(`(?m)^Maximum IOPS=[1-9]`)

// peak measures with fiord peak what drives do with commands, polled and not.
func (s *suite) peak() {
	peak := func(name string, test func(*testing.T, plan.Result), args string) {
		s.add("peak, "+name, 60, test, append([]string{"/bin/fiord", "peak", "-u1", "-O0", "-r2", "-d16", "-s8", "-c8"}, strings.Fields(args)...)...)
	}
	measures := func(t *testing.T, r plan.Result) {
		t.Helper()
		fine(t, r)
		if !maximum.MatchString(r.Stdout) || !contains(r, "Engine=io_uring, sq_ring=") {
			t.Errorf("nothing was measured:\n%s%s", r.Stdout, r.Stderr)
		}
	}
	for _, way := range []string{"-p0 -B0 -F0", "-p1 -B1 -F1"} {
		peak(way, measures, fmt.Sprintf("-b512 %s /dev/ng%dn1", way, plain512))
		peak(way+" -b4096", measures, fmt.Sprintf("-b4096 %s /dev/ng%dn1", way, plain4k))
	}
	// t/io_uring reads past the end here.
	peak("several blocks a read, two drives", measures, "-b4096 -p1 -n2 /dev/ng0n1 /dev/ng3n1")
	peak("less than a block", says("multiple of the drive's 4096 bytes"), "-b512 /dev/ng3n1")
	peak("block device", says("/dev/ng3n1"), "/dev/nvme3n1")
}
