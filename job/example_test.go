package job_test

import (
	"fmt"

	"fiord/job"
)

// The defaults of a command line or [global] section go into every job; each job may have clones.
func Example() {
	l := &job.Loader{Engines: []job.EngineDecl{{Name: "psync", Traits: job.Traits{Sync: true}}}}
	l.AddText("example.fio", `
[global]
bs=4k
[reader]
rw=randread
size=(4*16k)
numjobs=2
[writer]
rw=write
stonewall
`)
	jobs, global, _, err := l.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("global:", global)
	for _, j := range jobs {
		fmt.Println(j.Number, j.Name, j.RW.Text, j.MinBS[job.Read], j.Size.Value, "group", j.Group)
	}
	// Output:
	// global: [{bs 4k false}]
	// 1 reader randread 4096 65536 group 0
	// 2 reader randread 4096 65536 group 0
	// 3 writer write 4096 0 group 1
}
