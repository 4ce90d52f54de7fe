package uring

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/job"
)

// combos are the option sets that the conformance suite runs with.
var combos = []struct {
	name string
	set  func(*Options)
}{
	{"default", func(*Options) {}},
	{"vectored", func(o *Options) { o.Nonvectored = 0 }},
	{"nonvectored", func(o *Options) { o.Nonvectored = 1 }},
	{"fixedbufs", func(o *Options) { o.Fixedbufs = true }},
	{"registerfiles", func(o *Options) { o.Registerfiles = true }},
	{"fixedbufs+registerfiles", func(o *Options) { o.Fixedbufs, o.Registerfiles = true, true }},
	{"vectored+registerfiles", func(o *Options) { o.Nonvectored, o.Registerfiles = 0, true }},
	{"force_async=1", func(o *Options) { o.ForceAsync = 1 }},
	{"force_async=3", func(o *Options) { o.ForceAsync = 3 }},
	{"sqthread_poll", func(o *Options) { o.SqthreadPoll = true }},
	{"sqthread_poll+cpu+fixedbufs", func(o *Options) { o.SqthreadPoll, o.SqthreadPollCPU, o.Fixedbufs = true, 0, true }},
}

func TestConformance(t *testing.T) {
	for _, c := range combos {
		t.Run(c.name, func(t *testing.T) {
			for _, direct := range []bool{false, true} {
				t.Run(fmt.Sprintf("direct=%v", direct), func(t *testing.T) {
					o := &Options{Nonvectored: -1}
					c.set(o)
					opts := []enginetest.Option{enginetest.WithOptions(o)}
					if direct {
						opts = append(opts, enginetest.WithOpenFlags(syscall.O_DIRECT),
							enginetest.WithJob(func(j *job.Job) { j.Direct = true }),
							enginetest.WithDir("."),
							enginetest.Without("short", "an end inside of a sector is no place for direct I/O"))
					}
					enginetest.Run(t, Driver(), opts...)
				})
			}
		})
	}
}

func TestFeaturesSayWhatIsOn(t *testing.T) {
	r := enginetest.NewRig(t, Driver(), 4, enginetest.WithOptions(&Options{Nonvectored: -1, Fixedbufs: true, Registerfiles: true}))
	got := r.Engine.(engines.Features).Features()
	for _, want := range []string{"fixed_buffers", "registered_files"} {
		if !slices.Contains(got, want) {
			t.Errorf("%v lacks %q", got, want)
		}
	}
	if slices.Contains(got, "sqpoll") || slices.Contains(got, "nonvectored") {
		t.Errorf("%v has what is not on", got)
	}
}
