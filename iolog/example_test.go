package iolog_test

import (
	"fmt"
	"os"
	"path/filepath"

	"fiord/iolog"
	"fiord/job"
)

func ExampleNewJobLogs() {
	dir, err := os.MkdirTemp("", "iolog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	j := &job.Job{Number: 1}
	j.PerJobLogs, j.LogEntries = true, 1024
	j.WriteBWLog = job.LogName{On: true, Prefix: filepath.Join(dir, "disk")}

	logs, err := iolog.NewJobLogs(j, iolog.NewRegistry())
	if err != nil {
		fmt.Println(err)
		return
	}
	start := int64(5_000_000)
	logs.Begin(start, 0)
	logs.Bw.Add(start+3_000_000, 4096, job.Write, 8192, 0, 0, 0)
	if err := logs.Close(start + 4_000_000); err != nil {
		fmt.Println(err)
		return
	}
	text, _ := os.ReadFile(filepath.Join(dir, "disk_bw.1.log"))
	fmt.Print(string(text))
	// Output: 3, 4096, 1, 8192, 0
}
