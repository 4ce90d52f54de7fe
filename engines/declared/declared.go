// Package declared holds the engines of fio that fiord does not have: their names, their options, and why they cannot run.
//
// A job file that names one can be read, checked and shown; running it fails with the reason. The package owns these
// declarations and nothing that runs.
package declared

import (
	"slices"

	"fiord/engines"
	"fiord/job"
)

// Drivers are the declarations, by family.
func Drivers() []*engines.Driver {
	return slices.Concat(local(), device(), network(), cluster())
}

// missing declares an engine that a usual build of fio has.
func missing(name, doc, why string, traits job.Traits, options func() any) *engines.Driver {
	return &engines.Driver{Name: name, Doc: doc, Missing: why, Traits: traits, Options: options}
}

// external declares an engine that a usual build of fio lacks, too, so that a job file with it is refused.
func external(name, doc, why string, traits job.Traits, options func() any) *engines.Driver {
	d := missing(name, doc, why, traits, options)
	d.External = true
	return d
}
