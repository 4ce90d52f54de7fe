package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fiord/report"
)

// fioFlags are the flags of fio 3.42 with their letters, : behind those that need a value and ? behind those that may
// have one.
const fioFlags = `output:o latency-log:l bandwidth-log?b minimal.m output-format:F append-terse?f version.v help.h
cmdhelp?c enghelp?i showcmd.s readonly.r eta:e eta-interval:O eta-newline:E debug:d parse-only.P section:x inflate-log:X
alloc-size:a profile:p warnings-fatal.w max-jobs:j terse-version:V server?S daemonize:D client:C remote-config:R
cpuclock-test.T crctest?G memcpytest?M idle-prof:I status-interval:L trigger-file:W trigger-timeout:B trigger:H
trigger-remote:J aux-path:K merge-blktrace-only.A`

func TestAllFlagsOfFio(t *testing.T) {
	want := map[string]string{}
	for _, f := range strings.Fields(fioFlags) {
		want[f[:len(f)-2]] = f[len(f)-2:]
	}
	got := map[string]string{}
	for _, f := range ownFlags() {
		if f.name == "own-keys" {
			continue // fiord's alone
		}
		got[f.name] = map[argForm]string{argNone: ".", argRequired: ":", argOptional: "?"}[f.form] + string(f.letter)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags (-fio +fiord):\n%s", diff)
	}
}

func TestAbsentFlagsSayWhy(t *testing.T) {
	for _, f := range absentFlags() {
		arg := "--" + f.name
		if f.form == argRequired {
			arg += "=x"
		}
		env, stdout, stderr := testEnv(nil, arg)
		status := Run(env, testDrivers())
		prefix := "fiord: --" + f.name + ": not in fiord: "
		if status != 1 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), prefix) || len(stderr.String()) < len(prefix)+10 {
			t.Errorf("%s: status %d, standard error %q", arg, status, stderr)
		}
	}
}

func TestSettings(t *testing.T) {
	base := func(change func(*settings)) *settings {
		s := defaultSettings()
		change(s)
		return s
	}
	tests := []struct {
		args string
		want *settings
	}{
		{"", base(func(*settings) {})},
		{"--minimal", base(func(s *settings) { s.formats = []report.Format{report.Terse} })},
		{"--append-terse", base(func(s *settings) { s.formats = []report.Format{report.Normal, report.Terse} })},
		{"--output-format=json --append-terse", base(func(s *settings) { s.formats = []report.Format{report.JSON, report.Terse} })},
		{"--output-format=json,json+,table", base(func(s *settings) {
			s.formats = []report.Format{report.JSON, report.JSONPlus, report.Table}
		})},
		{"--minimal --output-format=normal", base(func(*settings) {})},
		{"-o f -F terse -V 5", base(func(s *settings) {
			s.output, s.formats, s.terseVersion = "f", []report.Format{report.Terse}, 5
		})},
		{"--bandwidth-log", base(func(s *settings) { s.bandwidthLog = "agg" })},
		{"--bandwidth-log=all", base(func(s *settings) { s.bandwidthLog = "all" })},
		{"--eta=never --eta-interval=2 --eta-newline=1m --status-interval=500ms", base(func(s *settings) {
			s.eta, s.etaInterval, s.etaNewline, s.statusInterval = "never", 2*time.Second, time.Minute, 500*time.Millisecond
		})},
		{"--section=a --section=b --max-jobs=7 --readonly --warnings-fatal", base(func(s *settings) {
			s.sections, s.maxJobs, s.readOnly, s.warningsFatal = []string{"a", "b"}, 7, true, true
		})},
		{"--debug=all", base(func(s *settings) {
			s.debug.on = map[string]bool{"process": true, "file": true, "parse": true, "job": true, "rate": true}
		})},
		{"--debug=job:4,file", base(func(s *settings) {
			s.debug = debugSet{on: map[string]bool{"job": true, "file": true}, job: 4}
		})},
		{"--parse-only --showcmd", base(func(s *settings) { s.parseOnly, s.showCmd = true, true })},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			env, _, _ := testEnv(nil)
			c, err := newCommand(env, testDrivers())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.args.parse(strings.Fields(tt.args)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.set, cmp.AllowUnexported(settings{}, debugSet{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
