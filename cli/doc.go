// Package cli is fiord's command line: fio's flags, every job option and engine option as a flag, job files, help, exit
// statuses, and the wiring of a run to its outputs.
//
// It owns what the user types and what the terminal gets. It must not know how options are parsed or checked (package
// job), how jobs run (package run), or how a result is rendered (package report). Everything it wants of the process it
// runs in (arguments, environment, streams, files, signals) comes through Env, so that whole commands run inside a test.
package cli
