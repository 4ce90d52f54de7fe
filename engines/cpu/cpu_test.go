package cpu

import (
	"errors"
	"slices"
	"testing"
	"time"

	"fiord/engines"
	"fiord/engines/enginetest"
	"fiord/job"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, Driver(), enginetest.WithOptions(&Options{Cpuload: 50, Cpuchunks: 1}))
}

func TestPauses(t *testing.T) {
	for _, c := range []struct {
		load, chunk, want int
	}{{50, 50000, 50000}, {25, 1000, 3000}, {100, 50000, 0}, {250, 50000, 0}, {1, 100, 9900}} {
		w := &engines.Worker{Job: &job.Job{}, Depth: 1}
		e, err := Driver().Open(w, &Options{Cpuload: c.load, Cpuchunks: c.chunk})
		if err != nil {
			t.Fatal(err)
		}
		if w.Job.ThinkTime != c.want || w.Job.ThinkTimeBlocks != 1 {
			t.Errorf("cpuload=%d cpuchunks=%d: think time %d us, want %d", c.load, c.chunk, w.Job.ThinkTime, c.want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBanner(t *testing.T) {
	got := Driver().Banner(&job.Job{Name: "j", Engine: &Options{Cpuload: 120, Cpumode: "qsort", Cpuchunks: 1000}})
	if want := "j (qsort): ioengine=cpuio, cpuload=100, cpucycle=1000"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSpins(t *testing.T) {
	e := &engine{chunk: time.Millisecond}
	start := time.Now()
	e.Do(&engines.IO{})
	if d := time.Since(start); d < time.Millisecond {
		t.Errorf("a chunk of 1 ms took %v", d)
	}
}

func TestSort(t *testing.T) {
	e := &engine{data: []int32{3, -7, 500, 12, 0, -1 << 31, 1<<31 - 1, 9}}
	e.Do(&engines.IO{})
	slices.Reverse(e.data)
	if !slices.IsSorted(e.data) {
		t.Errorf("not in descending order: %v", e.data)
	}
	w := &engines.Worker{Job: &job.Job{}, Depth: 1}
	opened, err := Driver().Open(w, &Options{Cpuload: 50, Cpumode: "qsort"})
	if err != nil {
		t.Fatal(err)
	}
	if w.Job.ThinkTime == 0 {
		t.Error("the time of a sort did not become a pause")
	}
	_ = opened.Close()
}

func TestErrors(t *testing.T) {
	w := &engines.Worker{Job: &job.Job{}, Depth: 1}
	if _, err := Driver().Open(w, &Options{}); !errors.Is(err, ErrNoLoad) {
		t.Errorf("without cpuload: %v", err)
	}
	if _, err := Driver().Open(w, &Options{Cpuload: 50, Cpuchunks: -1}); err == nil {
		t.Error("a negative chunk was taken")
	}
}
