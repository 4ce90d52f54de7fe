package libaio

import (
	"fiord/engines/cmdprio"
)

// Options are the options of libaio.
type Options struct {
	UserspaceReap  bool `fio:"userspace_reap" flag:"1" help:"Collect completions straight from the shared ring without a system call"`
	Nowait         bool `fio:"nowait" help:"Fail an I/O that would block rather than wait for it"`
	LibaioVectored bool `fio:"libaio_vectored" help:"Issue vectored preadv and pwritev requests rather than plain ones"`
	cmdprio.Options
}
