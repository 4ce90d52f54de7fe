package workload

import (
	"strings"
	"testing"

	"fiord/job"
)

// testEngines stand for the engines that the recorded command lines name.
var testEngines = []job.EngineDecl{
	{Name: "null", Traits: job.Traits{Diskless: true, FakeIO: true}},
	{Name: "psync", Traits: job.Traits{Sync: true}},
	{Name: "mmap", Traits: job.Traits{Sync: true}},
	{Name: "libaio"},
	{Name: "io_uring"},
	{Name: "io_uring_cmd", Traits: job.Traits{MultiRange: true}},
}

// loadJobs reads a fio command line of --option=value words.
func loadJobs(t testing.TB, args []string) []*job.Job {
	t.Helper()
	l := job.Loader{Engines: testEngines}
	for _, a := range args {
		name, value, given := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		if name == "output" {
			continue
		}
		if err := l.SetOption(name, value, given); err != nil {
			t.Fatal(err)
		}
	}
	jobs, _, _, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// testJob is the one job of some options in the words of a job file, on the null engine.
func testJob(t testing.TB, options string) *job.Job {
	t.Helper()
	args := []string{"name=j", "ioengine=null"}
	return loadJobs(t, append(args, strings.Fields(options)...))[0]
}
