package declared

import (
	"fiord/engines"
	"fiord/job"
)

// local is: engines on files, memory and processors of this machine.
func local() []*engines.Driver {
	return []*engines.Driver{
		missing("cpuio", "Burns CPU time and does no I/O.",
			"burning CPU time is not built yet",
			job.Traits{Diskless: true, NoIO: true, Sync: true}, func() any { return &cpuioOptions{} }),
		missing("exec", "Runs a program beside the other jobs.",
			"running programs is not built yet",
			job.Traits{Diskless: true, NoIO: true, Sync: true}, func() any { return &execOptions{} }),
		missing("falloc", "Allocates and punches file space in place of moving data.",
			"falloc is not built yet",
			job.Traits{Sync: true}, nil),
		missing("ftruncate", "Truncates the file at each offset in place of writing.",
			"ftruncate is not built yet",
			job.Traits{FakeIO: true, Sync: true}, nil),
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
		missing("page_fault", "Touches anonymous memory and measures page faults.",
			"page faults are not built yet",
			job.Traits{Diskless: true, NoExtend: true, Sync: true}, nil),
		missing("posixaio", "Uses the asynchronous I/O of POSIX, aio_read and aio_write.",
			"it is a thread pool of the C library, which a static Go binary does not have; use libaio or io_uring",
			job.Traits{}, nil),
		missing("splice", "Moves data through a pipe with splice and vmsplice.",
			"splice is not built yet",
			job.Traits{Pipe: true, Sync: true}, nil),
		missing("mtd", "Reads, writes and erases raw flash memory.",
			"raw flash memory is not built yet",
			job.Traits{NoExtend: true, Sync: true}, func() any { return &mtdOptions{} }),
	}
}

// cpuioOptions are the options of cpuio.
type cpuioOptions struct {
	Cpuload      int    `fio:"cpuload" help:"Percentage of CPU time to consume"`
	Cpumode      string `fio:"cpumode" def:"noop" vals:"noop|qsort" help:"Type of CPU work to perform: noop (default) or qsort"`
	Cpuchunks    int    `fio:"cpuchunks" def:"50000" parent:"cpuload" help:"Length of each load cycle in microseconds; default 50000"`
	ExitOnIODone bool   `fio:"exit_on_io_done" def:"0" help:"Stop burning CPU once all jobs doing I/O have finished; off by default"`
}

// execOptions are the options of exec.
type execOptions struct {
	Program     string `fio:"program" help:"Path of the program to run"`
	Arguments   string `fio:"arguments" help:"Command-line arguments passed to the program"`
	GraceTime   int    `fio:"grace_time" def:"1" min:"0" help:"Seconds to wait after SIGTERM before sending SIGKILL; default 1"`
	StdRedirect bool   `fio:"std_redirect" def:"1" help:"Send the output of the program to files named after the job; on by default"`
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
