package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fiord/job"
	"fiord/report"
	"fiord/run"
)

// settings is what fiord's own flags say.
type settings struct {
	output       string // file that standard output goes to; empty: standard output
	formats      []report.Format
	terseVersion int
	ownKeys      bool

	eta            string        // always, never or auto
	etaInterval    time.Duration // between redraws of the status line
	etaNewline     time.Duration // a new line each time this has passed; 0: never
	statusInterval time.Duration // between full reports during the run; 0: none

	idle          *run.IdleProfile
	bandwidthLog  string // prefix; empty: none
	trigger       run.Trigger
	auxPath       string // folder of verify states and dumps; empty: the current one
	sections      []string
	maxJobs       int // 0: no limit
	mergeOnly     bool
	readOnly      bool
	parseOnly     bool
	showCmd       bool
	warningsFatal bool
	debug         debugSet

	notes []string // notices about flags, for the report
}

func defaultSettings() *settings {
	return &settings{formats: []report.Format{report.Normal}, terseVersion: 3, eta: "auto", etaInterval: time.Second}
}

// dryRun reports whether no job is to run.
func (s *settings) dryRun() bool { return s.parseOnly || s.showCmd }

// ownFlag is one of fio's own flags, as against those that are job options.
type ownFlag struct {
	spec
	letter byte   // its short form, fio's; 0: none
	arg    string // what --help calls the value
	help   string // a sentence for --help; empty: not listed
	set    func(c *command, value string, bare bool) error
}

// ownFlags lists fio's own flags in the order of --help.
func ownFlags() []ownFlag {
	return append([]ownFlag{
		{spec{"debug", argRequired}, 'd', "what[,what]", "Trace what happens to standard error: " + strings.Join(debugNames(), ", ") + ", all",
			func(c *command, v string, _ bool) error { return c.setDebug(v) }},
		{spec{"parse-only", argNone}, 'P', "", "Check job files and options, then stop",
			func(c *command, _ string, _ bool) error { c.set.parseOnly = true; return nil }},
		{spec{"showcmd", argNone}, 's', "", "Print each job file as a command line, then stop",
			func(c *command, _ string, _ bool) error { c.set.showCmd = true; return nil }},
		{spec{"output", argRequired}, 'o', "file", "Write the report to this file; it is made when the run starts",
			func(c *command, v string, _ bool) error { c.set.output = v; return nil }},
		{spec{"output-format", argRequired}, 'F', "type[,type]", "Report as normal, terse, json, json+, table, csv or openmetrics (default normal)",
			func(c *command, v string, _ bool) error { return c.set.setFormats(v) }},
		{spec{"minimal", argNone}, 'm', "", "Report as terse",
			func(c *command, _ string, _ bool) error { c.set.formats = []report.Format{report.Terse}; return nil }},
		{spec{"append-terse", argOptional}, 'f', "", "Add terse to the formats of the report",
			func(c *command, _ string, _ bool) error { c.set.addFormat(report.Terse); return nil }},
		{spec{"terse-version", argRequired}, 'V', "n", "Version of the terse format: 2, 3, 4 or 5 (default 3)",
			func(c *command, v string, _ bool) error { return c.set.setTerseVersion(v) }},
		{spec{"own-keys", argNone}, 0, "", "Add what fio does not measure to JSON reports, under the key fiord",
			func(c *command, _ string, _ bool) error { c.set.ownKeys = true; return nil }},
		{spec{"bandwidth-log", argOptional}, 'b', "prefix", "Log the bandwidth of all jobs together (default prefix agg)",
			func(c *command, v string, _ bool) error { c.set.bandwidthLog = orDefault(v, "agg"); return nil }},
		{spec{"eta", argRequired}, 'e', "when", "Show the status line always, never or auto: on a terminal (default auto)",
			func(c *command, v string, _ bool) error { return c.set.setETA(v) }},
		{spec{"eta-interval", argRequired}, 'O', "time", "Time between updates of the status line, 250ms or more (default 1s)",
			func(c *command, v string, _ bool) error {
				return setTime(&c.set.etaInterval, "eta-interval", v, 250*time.Millisecond)
			}},
		{spec{"eta-newline", argRequired}, 'E', "time", "Begin a new status line each time this has passed",
			func(c *command, v string, _ bool) error {
				return setTime(&c.set.etaNewline, "eta-newline", v, time.Millisecond)
			}},
		{spec{"status-interval", argRequired}, 'L', "time", "Print a full report each time this has passed",
			func(c *command, v string, _ bool) error {
				return setTime(&c.set.statusInterval, "status-interval", v, time.Millisecond)
			}},
		{spec{"idle-prof", argRequired}, 'I', "how", "Measure how idle the CPUs are: system, percpu, or calibrate alone",
			func(c *command, v string, _ bool) error { return c.setIdle(v) }},
		{spec{"section", argRequired}, 'x', "name", "Run this section of the job files only; may be given again",
			func(c *command, v string, _ bool) error { return c.set.addSection(v) }},
		{spec{"readonly", argNone}, 'r', "", "Refuse jobs that write or trim",
			func(c *command, _ string, _ bool) error { c.set.readOnly = true; return nil }},
		{spec{"merge-blktrace-only", argNone}, 'A', "", "Merge the traces of merge_blktrace_file, and run no job",
			func(c *command, _ string, _ bool) error { c.set.mergeOnly = true; return nil }},
		{spec{"inflate-log", argRequired}, 'X', "file", "Print a log that log_store_compressed has left compressed, and run no job",
			func(c *command, v string, _ bool) error { return c.inflateLog(v) }},
		{spec{"warnings-fatal", argNone}, 'w', "", "Take warnings about options for errors",
			func(c *command, _ string, _ bool) error { c.set.warningsFatal = true; return nil }},
		{spec{"max-jobs", argRequired}, 'j', "n", "Refuse to run more jobs than this",
			func(c *command, v string, _ bool) error { return c.set.setMaxJobs(v) }},
		{spec{"alloc-size", argRequired}, 'a', "KiB", "Taken from old command lines; it has no effect",
			func(c *command, v string, _ bool) error { return c.set.setAllocSize(v) }},
		{spec{"trigger-file", argRequired}, 'W', "file", "When this file appears, save verify states, stop all jobs and run the trigger",
			func(c *command, v string, _ bool) error { c.set.trigger.File = v; return nil }},
		{spec{"trigger-timeout", argRequired}, 'B', "time", "Do so when this has passed",
			func(c *command, v string, _ bool) error {
				return setTime(&c.set.trigger.After, "trigger-timeout", v, time.Second)
			}},
		{spec{"trigger", argRequired}, 'H', "command", "What the trigger runs, by the shell",
			func(c *command, v string, _ bool) error { c.set.trigger.Command = v; return nil }},
		{spec{"aux-path", argRequired}, 'K', "folder", "Put saved verify states and dumps of bad data here",
			func(c *command, v string, _ bool) error { c.set.auxPath = v; return nil }},
		{spec{"cmdhelp", argOptional}, 'c', "option", "Explain a job option, or list them all",
			func(c *command, v string, _ bool) error { return c.cmdHelp(v) }},
		{spec{"enghelp", argOptional}, 'i', "engine[,option]", "List the engines, the options of one, or explain one option",
			func(c *command, v string, _ bool) error { return c.engHelp(v) }},
		{spec{"version", argNone}, 'v', "", "Print the version: fio's that fiord is compatible with, then its own",
			func(c *command, _ string, _ bool) error { return c.printVersion() }},
		{spec{"help", argNone}, 'h', "", "Print this page",
			func(c *command, _ string, _ bool) error { return c.printHelp() }},
	}, absentFlags()...)
}

// absentFlags are fio's flags that fiord does not have. Each fails by name.
func absentFlags() []ownFlag {
	const network = "running jobs on other machines is not built"
	list := []struct {
		name   string
		letter byte
		form   argForm
		why    string
	}{
		{"latency-log", 'l', argRequired, "fio itself has dropped it; set write_lat_log in the job"},
		{"profile", 'p', argRequired, "the act and tiobench profiles are not built"},
		{"server", 'S', argOptional, network},
		{"daemonize", 'D', argRequired, network},
		{"client", 'C', argRequired, network},
		{"remote-config", 'R', argRequired, network},
		{"cpuclock-test", 'T', argNone, "the clock is checked at the start of each run; there is no test of its own"},
		{"crctest", 'G', argOptional, "fiord has no benchmark of checksums"},
		{"memcpytest", 'M', argOptional, "fiord has no benchmark of memory copies"},
		{"trigger-remote", 'J', argRequired, network},
	}
	var flags []ownFlag
	for _, a := range list {
		flags = append(flags, ownFlag{spec: spec{a.name, a.form}, letter: a.letter,
			set: func(*command, string, bool) error {
				return usagef("", "--%s: not in fiord: %s", a.name, a.why)
			}})
	}
	return flags
}

func orDefault(value, def string) string {
	if value == "" {
		return def
	}
	return value
}

// setFormats reads a comma list. Order does not matter: formats are printed in fio's order.
func (s *settings) setFormats(list string) error {
	formats, err := report.ParseFormats(list)
	if err != nil {
		return usagef("", "--output-format: %s", strings.TrimPrefix(err.Error(), "output format: "))
	}
	s.formats = formats
	return nil
}

func (s *settings) addFormat(f report.Format) {
	if !s.has(f) {
		s.formats = append(s.formats, f)
	}
}

func (s *settings) has(f report.Format) bool {
	for _, have := range s.formats {
		if have == f {
			return true
		}
	}
	return false
}

// document reports whether the output is to be a JSON document and so has a place for notes and warnings.
func (s *settings) document() bool { return s.has(report.JSON) || s.has(report.JSONPlus) }

func (s *settings) setTerseVersion(v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 2 || n > 5 {
		return usagef("", "--terse-version: want 2, 3, 4 or 5, got %q", v)
	}
	s.terseVersion = n
	return nil
}

// setETA differs from fio, which takes any word it does not know for auto.
func (s *settings) setETA(v string) error {
	switch v {
	case "always", "never", "auto":
		s.eta = v
		return nil
	}
	return usagef("", "--eta: want always, never or auto, got %q", v)
}

func (s *settings) addSection(v string) error {
	if strings.HasPrefix(v, "global") {
		return usagef("global options always apply; name a job's section", "--section: %q is no job", v)
	}
	s.sections = append(s.sections, v)
	return nil
}

// setMaxJobs differs from fio, which takes the flag and no longer heeds it.
func (s *settings) setMaxJobs(v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return usagef("", "--max-jobs: want a number above 0, got %q", v)
	}
	s.maxJobs = n
	return nil
}

func (s *settings) setAllocSize(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 1 {
		return usagef("", "--alloc-size: want a number of KiB above 0, got %q", v)
	}
	s.notes = append(s.notes, fmt.Sprintf("--alloc-size=%s has no effect: fiord has no memory pool of a fixed size", v))
	return nil
}

// setTime reads a time as job options have it, in seconds where it has no unit.
func setTime(dst *time.Duration, name, v string, least time.Duration) error {
	d, err := job.ParseTime(v, time.Second)
	if err != nil {
		return usagef("without a unit it counts seconds", "--%s: %v", name, err)
	}
	if d < least {
		return usagef("", "--%s: want at least %v, got %q", name, least, v)
	}
	*dst = d
	return nil
}
