package workload_test

import (
	"fmt"

	"fiord/job"
	"fiord/workload"
)

// A generator gives the I/Os of a job one after the other; the caller issues them.
func Example() {
	l := job.Loader{Engines: []job.EngineDecl{{Name: "null"}}}
	l.AddText("example.fio", "[j]\nioengine=null\nrw=write\nbs=64k\nsize=192k\nfsync=2\n")
	jobs, _, _, err := l.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	const size = 192 << 10
	g, err := workload.New(workload.Config{
		Job:       jobs[0],
		Files:     []workload.File{{Name: "j.0.0", Length: size, Size: size}},
		TotalSize: size,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var r workload.Req
	for g.Next(&r) == workload.Issue {
		fmt.Println(r.Op, r.Offset, r.Len)
	}
	// Output:
	// write 0 65536
	// write 65536 65536
	// sync 65536 0
	// write 131072 65536
}
