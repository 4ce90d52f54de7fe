// Package all lists the engines of the fiord command.
//
// It owns the list and nothing else: an engine that is not named here is not in the program.
package all

import (
	"fmt"
	"slices"

	"fiord/engines"
	"fiord/engines/cpu"
	"fiord/engines/declared"
	"fiord/engines/exec"
	"fiord/engines/falloc"
	"fiord/engines/libaio"
	"fiord/engines/mmap"
	"fiord/engines/null"
	"fiord/engines/pagefault"
	"fiord/engines/psync"
	"fiord/engines/splice"
	"fiord/engines/uring"
	"fiord/engines/uringcmd"
)

// Drivers is the list, in the order of --enghelp. It panics when two engines share a name: that is a mistake in the
// program, which its first start shows.
func Drivers() []*engines.Driver {
	return unique(slices.Concat(
		[]*engines.Driver{cpu.Driver(), exec.Driver(), mmap.Driver()},
		psync.Drivers(),
		[]*engines.Driver{null.Driver(), pagefault.Driver()},
		falloc.Drivers(),
		[]*engines.Driver{splice.Driver(), uring.Driver(), uringcmd.Driver(), libaio.Driver()},
		declared.Drivers(),
	))
}

func unique(drivers []*engines.Driver) []*engines.Driver {
	seen := map[string]bool{}
	for _, d := range drivers {
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			if seen[name] {
				panic(fmt.Sprintf("engines/all: two engines are called %q", name))
			}
			seen[name] = true
		}
	}
	return drivers
}
