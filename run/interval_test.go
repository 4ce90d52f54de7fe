package run

import (
	"sync/atomic"
	"testing"
	"time"

	"fiord/engines"
	"fiord/report"
)

// slowClose is an engine that takes its time to close.
type slowClose struct {
	engines.Engine
	closing func()
}

func (s *slowClose) Close() error {
	s.closing()
	return s.Engine.Close()
}

// TestIntervalAtEnd has the interval pass over and over while the only job is ending: no dump is made of that, for the last
// report is the same.
func TestIntervalAtEnd(t *testing.T) {
	d := syncDriver("slow", func(*engines.Worker, int, *engines.IO) {})
	open := d.Open
	enough := make(chan struct{})
	var ending atomic.Bool
	d.Open = func(w *engines.Worker, o any) (engines.Engine, error) {
		e, err := open(w, o)
		return &slowClose{Engine: e, closing: func() { ending.Store(true); <-enough }}, err
	}
	g := newRig(d)
	g.cfg.Interval, g.cfg.LiveEvery = time.Millisecond, time.Millisecond
	dumps, lives := 0, 0
	g.cfg.Dump = func(*report.Result) {
		if ending.Load() {
			dumps++
		}
	}
	g.cfg.Live = func(report.Status) {
		if ending.Load() {
			if lives++; lives == 50 {
				close(enough)
			}
		}
	}
	if res := g.run(t, section("a", "ioengine=slow rw=read size=64k bs=4k")); res.Failed != 0 {
		t.Fatal(g.said())
	}
	if dumps > 1 { // one may have been under way when the job came to its end
		t.Errorf("%d dumps while the job was ending", dumps)
	}
}
