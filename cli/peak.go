package cli

import (
	"errors"
	"fmt"

	"fiord/peak"
)

// peakWord begins a command line that measures with package peak. A job file of that name is given as ./peak.
const peakWord = "peak"

// peak runs "fiord peak". args are what stands behind the word.
func (e *Env) peak(args []string) int {
	c, err := peak.Parse(args)
	switch {
	case errors.Is(err, peak.ErrHelp):
		err = peak.Usage(e.Stdout)
	case err != nil:
		err = usagef("fiord peak -h lists the flags", "peak: %v", err)
	default:
		err = named(peak.Run(c, peak.Streams{Out: e.Stdout, Err: e.Stderr, Signals: e.Signals}))
	}
	if err != nil {
		complain(e.Stderr, err)
		return 1
	}
	return 0
}

// named puts the word before each of the errors that err joins.
func named(err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, e := range many.Unwrap() {
			errs = append(errs, named(e))
		}
		return errors.Join(errs...)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", peakWord, err)
}
