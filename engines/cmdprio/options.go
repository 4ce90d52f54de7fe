package cmdprio

import "fiord/job"

// Options are the options of every engine that gives single I/Os a priority; an engine embeds them in its own.
type Options struct {
	CmdprioPercentage job.PerDir[int] `fio:"cmdprio_percentage" min:"0" max:"100" help:"Percentage of I/Os given the cmdprio priority, optionally per direction"`
	CmdprioClass      job.PerDir[int] `fio:"cmdprio_class" min:"1" max:"3" help:"Priority class for the I/Os picked by cmdprio_percentage or cmdprio_bssplit"`
	CmdprioHint       job.PerDir[int] `fio:"cmdprio_hint" min:"0" max:"1023" help:"Priority hint for the I/Os picked by cmdprio_percentage or cmdprio_bssplit"`
	Cmdprio           job.PerDir[int] `fio:"cmdprio" min:"0" max:"7" help:"Priority value for the I/Os picked by cmdprio_percentage or cmdprio_bssplit"`
	CmdprioBSSplit    string          `fio:"cmdprio_bssplit" help:"Percentage of I/Os to prioritise for each block size, as size/percent pairs"`
}
