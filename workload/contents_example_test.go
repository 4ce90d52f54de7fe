package workload_test

import (
	"fmt"

	"fiord/job"
	"fiord/workload"
)

func ExampleFiller() {
	j := &job.Job{Number: 1}
	j.RW.Write = true
	j.BufferPattern.Bytes = []byte("fiord ")
	j.MaxBS[job.Write] = 16
	f, err := workload.NewFiller(j)
	if err != nil {
		fmt.Println(err)
		return
	}
	buf := make([]byte, 16)
	f.Init(buf)
	fmt.Printf("%q, again for each write: %v\n", buf, f.PerIO())
	// Output: "fiord fiord fior", again for each write: false
}
