package job

// ExitOptions orders jobs and says when they end each other.
type ExitOptions struct {
	Unlink         bool   `fio:"unlink" def:"0" group:"file" help:"Delete the files of the job once it finishes; off by default"`
	UnlinkEachLoop bool   `fio:"unlink_each_loop" def:"0" group:"file" help:"Delete the files after every loop of the job; off by default"`
	ExitAll        bool   `fio:"exitall" flag:"1" group:"general/process" help:"Stop other jobs as soon as one finishes; exit_what selects which"`
	ExitWhat       string `fio:"exit_what" def:"group" vals:"group|stonewall|all" group:"general/process" help:"Jobs that exitall stops: group (default), stonewall or all"`
	ExitAllOnError bool   `fio:"exitall_on_error" flag:"1" group:"general/process" help:"Stop all jobs when one of them ends with an error"`
	Stonewall      bool   `fio:"stonewall" alias:"wait_for_previous" flag:"1" group:"general/process" help:"Wait for all earlier jobs to finish first, and begin a new reporting group"`
	NewGroup       bool   `fio:"new_group" flag:"1" group:"general/process" help:"Begin a new reporting group at this job"`
	Thread         bool   `fio:"thread" flag:"1" group:"general/process" help:"Run jobs as threads rather than as forked processes"`
}
