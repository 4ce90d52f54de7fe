package declared

import (
	"fiord/engines"
	"fiord/job"
)

// local is: engines on files, memory and processors of this machine.
func local() []*engines.Driver {
	return []*engines.Driver{
		missing("filecreate", "Creates files and measures how long that takes.",
			"file and directory operations are not built yet",
			job.Traits{Diskless: true, FakeIO: true, NoFileHash: true, NoStats: true, Sync: true}, nil),
		missing("filestat", "Looks up files and measures how long that takes.",
			"file and directory operations are not built yet",
			job.Traits{FakeIO: true, NoFileHash: true, NoStats: true, Sync: true}, func() any { return &statOptions{} }),
		missing("filedelete", "Removes files and measures how long that takes.",
			"file and directory operations are not built yet",
			job.Traits{FakeIO: true, NoFileHash: true, NoStats: true, Sync: true}, nil),
		missing("dircreate", "Creates directories and measures how long that takes.",
			"file and directory operations are not built yet",
			job.Traits{Diskless: true, FakeIO: true, NoFileHash: true, NoStats: true, Sync: true}, nil),
		missing("dirstat", "Looks up directories and measures how long that takes.",
			"file and directory operations are not built yet",
			job.Traits{Diskless: true, FakeIO: true, NoFileHash: true, NoStats: true, Sync: true}, func() any { return &statOptions{} }),
		missing("dirdelete", "Removes directories and measures how long that takes.",
			"file and directory operations are not built yet",
			job.Traits{Diskless: true, FakeIO: true, NoFileHash: true, NoStats: true, Sync: true}, nil),
		missing("e4defrag", "Swaps extents of a file with a donor, as ext4 defragmentation does.",
			"ext4 defragmentation is not built yet",
			job.Traits{Sync: true}, func() any { return &e4defragOptions{} }),
		missing("posixaio", "Uses the asynchronous I/O of POSIX, aio_read and aio_write.",
			"it is a thread pool of the C library, which a static Go binary lacks; libaio or io_uring do the same",
			job.Traits{}, nil),
		missing("mtd", "Reads, writes and erases raw flash memory.",
			"raw flash memory is not built yet",
			job.Traits{NoExtend: true, Sync: true}, func() any { return &mtdOptions{} }),
	}
}

// statOptions are the options of filestat and dirstat.
type statOptions struct {
	StatType string `fio:"stat_type" def:"stat" vals:"stat|lstat|statx" help:"Stat call to measure: stat (default), lstat or statx"`
}

// e4defragOptions are the options of e4defrag.
type e4defragOptions struct {
	Donorname string `fio:"donorname" help:"File that supplies the blocks swapped in during defragmentation"`
	Inplace   int    `fio:"inplace" min:"0" max:"1" help:"Allocate donor blocks up front (0, default) or inside each defrag event (1)"`
}

// mtdOptions are the options of mtd.
type mtdOptions struct {
	SkipBad bool `fio:"skip_bad" def:"0" help:"Pass over bad blocks rather than fail on them; off by default"`
}
