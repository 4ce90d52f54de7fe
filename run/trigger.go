package run

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"time"
)

// Trigger stops a run from outside, such as by cutting the power of the machine that holds the data: when its file
// appears or its time has come, the verify states of all jobs are saved, the jobs are told to end, and the command runs.
// The zero Trigger does nothing.
type Trigger struct {
	File    string        // looked for several times a second, and removed when it is there
	After   time.Duration // since the start of the run; 0: never
	Command string        // for the shell; empty: none
}

// triggerEvery is how often the file is looked for.
const triggerEvery = 100 * time.Millisecond

// watchTrigger waits for the trigger until the run is over. It closes done when its command, if any, has ended.
func (r *runner) watchTrigger(done chan<- struct{}) {
	defer close(done)
	t := &r.cfg.Trigger
	if t.File == "" && t.After == 0 {
		return
	}
	var after <-chan time.Time
	if t.After > 0 {
		timer := time.NewTimer(t.After)
		defer timer.Stop()
		after = timer.C
	}
	tick := time.NewTicker(triggerEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.over:
			return
		case <-after:
			after = nil
			r.pull()
		case <-tick.C:
			if t.File != "" && r.triggerFile() {
				r.pull()
			}
		}
	}
}

// triggerFile reports whether the file is there, and removes it.
func (r *runner) triggerFile() bool {
	name := r.cfg.Trigger.File
	if _, err := os.Stat(name); err != nil {
		return false
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.warn("trigger file: %v", err)
	}
	return true
}

// pull does what the trigger is for. Jobs stop issuing writes before their states are saved, so that no later write can
// hit what a state says is there; fio saves first.
func (r *runner) pull() {
	r.pulled.Store(true)
	r.terminateAll()
	for _, w := range r.workers {
		if w.vfy == nil || w.epoch.Load() == 0 {
			continue
		}
		if err := w.vfy.saveOnce(true); err != nil {
			r.unsaved = append(r.unsaved, func() { w.unsavedLate(err) })
		}
	}
	if r.cfg.Trigger.Command == "" {
		return
	}
	c := exec.Command("/bin/sh", "-c", r.cfg.Trigger.Command)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr // standard output is the report's
	if err := c.Run(); err != nil {
		r.warn("trigger %q: %v", r.cfg.Trigger.Command, err)
	}
}
