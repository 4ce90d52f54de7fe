package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"fiord/job"
)

func running() Status {
	return Status{Jobs: 4, Running: 4, Files: 4, Letters: "RRRW", Elapsed: 5 * time.Second, EtaSec: 5, Percent: 50,
		Rate: [job.NDirs]uint64{500 << 20, 20 << 20}, IOPS: [job.NDirs]uint64{128000, 5333},
		UnitBase: 8, KBBase: 1024, SigFigs: 4}
}

func TestLiveRender(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Status)
		want   string
	}{
		{"plain", func(*Status) {}, "Jobs: 4 (f=4): [R(3),W(1)][50.0%][r=500MiB/s,w=20.0MiB/s][r=128k,w=5333 IOPS][eta 00m:05s]"},
		{"one direction", func(s *Status) { s.Rate[1], s.IOPS[1] = 0, 0 },
			"Jobs: 4 (f=4): [R(3),W(1)][50.0%][r=500MiB/s][r=128k IOPS][eta 00m:05s]"},
		{"nothing moves", func(s *Status) { s.Rate, s.IOPS = [job.NDirs]uint64{}, [job.NDirs]uint64{} },
			"Jobs: 4 (f=4): [R(3),W(1)][50.0%][eta 00m:05s]"},
		{"too early", func(s *Status) { s.EtaSec = EtaNone }, "Jobs: 4 (f=4)"},
		{"rate limit", func(s *Status) { s.EtaSec = EtaNone; s.WantRate = 2048 << 20 }, "Jobs: 4 (f=4), 0B/s-2048MiB/s"},
		{"iops limit", func(s *Status) { s.EtaSec = EtaNone; s.WantIOPS, s.MinIOPS = 200, 10 }, "Jobs: 4 (f=4), 10-200 IOPS"},
		{"unknown", func(s *Status) { s.EtaSec = -1 }, "Jobs: 4 (f=4): [R(3),W(1)][-.-%][r=500MiB/s,w=20.0MiB/s][r=128k,w=5333 IOPS][eta --]"},
		{"ramp", func(s *Status) { s.Ramp = true; s.Letters = "////" }, "Jobs: 4 (f=4): [/(4)][-.-%][r=500MiB/s,w=20.0MiB/s][r=128k,w=5333 IOPS][eta 00m:05s]"},
		{"bits", func(s *Status) { s.UnitBase = 1 }, "Jobs: 4 (f=4): [R(3),W(1)][50.0%][r=4000Mibit/s,w=160Mibit/s][r=128k,w=5333 IOPS][eta 00m:05s]"},
		{"done", func(s *Status) { s.Running, s.Files, s.Letters = 0, 0, "____" }, "Jobs: 0 (f=0)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := running()
			c.change(&s)
			if got := new(Live).Render(s); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestEta(t *testing.T) {
	for sec, want := range map[int64]string{-1: "--", 0: "00m:00s", 330: "05m:30s", 3600: "01h:00m:00s", 90061: "01d:01h:01m:01s",
		86400: "01d:00h:00m:00s"} {
		if got := eta(sec); got != want {
			t.Errorf("eta(%d) = %q, want %q", sec, got, want)
		}
	}
}

func TestCondense(t *testing.T) {
	for letters, want := range map[string]string{"": "", "R": "R(1)", "RRrW": "R(2),r(1),W(1)", "P_P": "P(1),_(1),P(1)"} {
		if got := condense(letters); got != want {
			t.Errorf("condense(%q) = %q, want %q", letters, got, want)
		}
	}
}

func TestLiveUpdate(t *testing.T) {
	var b bytes.Buffer
	l := &Live{Out: &b, NewLine: 10 * time.Second}
	step := func(elapsed time.Duration, letters string) string {
		b.Reset()
		s := running()
		s.Rate, s.IOPS = [job.NDirs]uint64{}, [job.NDirs]uint64{}
		s.Elapsed, s.Letters = elapsed, letters
		if err := l.Update(s); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got, want := step(1*time.Second, "RW"), "Jobs: 4 (f=4): [R(1),W(1)][50.0%][eta 00m:05s]\r"; got != want {
		t.Errorf("first line %q, want %q", got, want)
	}
	if got, want := step(2*time.Second, "R"), "Jobs: 4 (f=4): [R(1)][50.0%][eta 00m:05s]     \r"; got != want {
		t.Errorf("a shorter line does not cover the longer: %q, want %q", got, want)
	}
	if got, want := step(11*time.Second, "R"), "\nJobs: 4 (f=4): [R(1)][50.0%][eta 00m:05s]\r"; got != want {
		t.Errorf("no new line after the interval: %q, want %q", got, want)
	}
	b.Reset()
	if err := l.Clear(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "\r"+strings.Repeat(" ", 41)+"\r"; got != want {
		t.Errorf("cleared with %q, want %q", got, want)
	}
	b.Reset()
	if err := l.Clear(); err != nil || b.Len() != 0 {
		t.Errorf("clearing nothing wrote %q, %v", b.String(), err)
	}
}

func TestLiveWidth(t *testing.T) {
	l := &Live{Width: func() int { return 20 }}
	if got, want := l.Render(running()), "Jobs: 4 (f=4): [R(3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	l.Width = func() int { return 0 }
	if got := l.Render(running()); !strings.HasSuffix(got, "00m:05s]") {
		t.Errorf("cut without a width: %q", got)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrors(t *testing.T) {
	if err := (&Live{Out: brokenWriter{}}).Update(running()); !errors.Is(err, errBroken) {
		t.Errorf("status line: %v", err)
	}
	if err := Write(brokenWriter{}, &Result{}, Options{}); !errors.Is(err, errBroken) {
		t.Errorf("report: %v", err)
	}
	if err := Header(brokenWriter{}, "fio-3.42", nil); !errors.Is(err, errBroken) {
		t.Errorf("header: %v", err)
	}
}
