// Command bench runs the same work on fiord and on fio, in turns on the same CPUs, and prints how they compare.
//
//	bench [flags] FIORD
//
// FIO names the fio binary (default: fio from PATH). PEAK names fio's t/io_uring, which is compared with fiord peak.
// A ratio above 1 says that fiord is better, whatever is measured.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
)

func main() {
	var o options
	flag.IntVar(&o.pairs, "pairs", 5, "pairs of runs of each case")
	flag.IntVar(&o.seconds, "seconds", 1, "run time of each run that is not of fixed work")
	only := flag.String("cases", "", "regular expression of the names of the cases to run")
	flag.StringVar(&o.json, "json", "", "file to write the figures to as JSON")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: bench [flags] FIORD")
		flag.PrintDefaults()
		os.Exit(2)
	}
	o.fiord = flag.Arg(0)
	err := o.find(*only)
	if err == nil {
		err = bench(&o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are what the command line and the environment say.
type options struct {
	fiord, fio, peak string
	pairs, seconds   int
	only             *regexp.Regexp
	json             string
}

// find looks for the programs and compiles the selection.
func (o *options) find(only string) (err error) {
	if o.pairs < 1 || o.seconds < 1 {
		return errors.New("pairs and seconds must be 1 or more")
	}
	if o.only, err = regexp.Compile(only); err != nil {
		return err
	}
	if o.fiord, err = exec.LookPath(o.fiord); err != nil {
		return err
	}
	fio := os.Getenv("FIO")
	if fio == "" {
		fio = "fio"
	}
	if o.fio, err = exec.LookPath(fio); err != nil {
		return fmt.Errorf("%s: nothing to compare with; FIO names the binary: %w", fio, err)
	}
	if peak := os.Getenv("PEAK"); peak != "" {
		o.peak, err = exec.LookPath(peak)
	}
	return err
}

func bench(o *options) error {
	var s places
	defer s.close()
	var rows []row
	run := func(list []benchCase, f func(c *benchCase, fio bool, file string) (sample, error)) error {
		for i := range list {
			c := &list[i]
			if !o.only.MatchString(c.name) {
				continue
			}
			file, err := s.get(c.on)
			if err != nil {
				fmt.Fprintf(os.Stderr, "skipped: %s: %v\n", c.name, err)
				continue
			}
			more, err := compare(o, c, func(fio bool) (sample, error) { return f(c, fio, file) })
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			rows = append(rows, more...)
		}
		return nil
	}
	err := run(cases, func(c *benchCase, fio bool, file string) (sample, error) {
		return runJob(c, o.binary(fio), fio, file, o.seconds)
	})
	if err == nil && o.peak != "" {
		err = run(peakCases, func(c *benchCase, fio bool, file string) (sample, error) {
			bin := o.fiord
			if fio {
				bin = o.peak
			}
			return runPeak(c, bin, fio, file)
		})
	}
	if err != nil {
		return err
	}
	return show(o, rows)
}

func (o *options) binary(fio bool) string {
	if fio {
		return o.fio
	}
	return o.fiord
}
