package layout_test

import (
	"fmt"

	"fiord/job"
	"fiord/run/layout"
)

func ExampleNames() {
	j := &job.Job{Section: "db", SubJob: 1}
	j.NrFiles = 2
	j.Directory = "/fast:/slow"
	j.FilenameFormat = "$jobname.$jobnum.$filenum"
	names, err := layout.Names(j)
	fmt.Println(names, err)
	// Output: [/slow/db.1.0 /slow/db.1.1] <nil>
}
