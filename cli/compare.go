package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"fiord/compare"
)

// compareCommand is the word that begins a comparison. A job file of this name is ./compare.
const compareCommand = "compare"

// statusRegression is the exit status of a comparison that found a regression.
const statusRegression = 3

const compareUsage = `fiord compare [flags] BASE.json NEW.json...
fiord compare [flags] BASE.json... vs NEW.json...
fiord compare [flags] --base=FILE[,FILE] --new=FILE[,FILE]

Compares JSON reports of fio or fiord. Several files on one side are runs of the same jobs: their mean is
compared, and the spread shown. Without "vs" the first file is the base and the others are runs of the new side.

`

// compareArgs is a command line of fiord compare.
type compareArgs struct {
	base, fresh []string
	options     compare.Options
	json        bool
	help        bool
}

// runCompare runs fiord compare. The status is 0, 1 for files that cannot be read or a command line in error, and 3 where a
// threshold was passed.
func runCompare(env *Env, args []string) (int, error) {
	a, flags, err := parseCompare(args)
	if err != nil {
		return 1, err
	}
	if a.help {
		printCompareHelp(env.Stdout, flags)
		return 0, nil
	}
	base, err := readRuns(env, a.base)
	if err != nil {
		return 1, err
	}
	fresh, err := readRuns(env, a.fresh)
	if err != nil {
		return 1, err
	}
	res, err := compare.Compare(base, fresh, a.options)
	if err != nil {
		return 1, fmt.Errorf("compare: %w", err)
	}
	if a.json {
		err = res.WriteJSON(env.Stdout)
	} else {
		err = res.WriteTable(env.Stdout, a.options.Threshold)
	}
	if err != nil {
		return 1, err
	}
	if res.Regressions > 0 {
		return statusRegression, nil
	}
	return 0, nil
}

// parseCompare reads the arguments behind "compare". Flags may stand anywhere.
func parseCompare(args []string) (*compareArgs, *flag.FlagSet, error) {
	a := &compareArgs{}
	f := flag.NewFlagSet(compareCommand, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.Func("base", "Reports to compare with, separated by commas; may be given again", addFiles(&a.base))
	f.Func("new", "Reports to compare, separated by commas; may be given again", addFiles(&a.fresh))
	f.Func("threshold", "Exit with status 3 where IOPS or bandwidth are lower or a latency is higher by more than this: 5%, "+
		"or iops=5%,p99=20%", func(v string) (err error) {
		a.options.Threshold, err = compare.ParseThreshold(v)
		return err
	})
	f.Func("metric", "What to compare: a list of iops, bw, mean, max and percentiles such as p99.99 (default iops,bw,mean,p50,p99,p99.9)",
		func(v string) (err error) {
			a.options.Metrics, err = compare.ParseMetrics(v)
			return err
		})
	f.Func("output-format", "table or json (default table)", func(v string) error {
		if v != "table" && v != "json" {
			return fmt.Errorf("want table or json")
		}
		a.json = v == "json"
		return nil
	})
	f.BoolFunc("help", "Print this page", func(string) error { a.help = true; return nil })
	operands, err := operandsOf(f, args)
	switch {
	case err != nil:
		return nil, nil, usagef("fiord compare --help lists the flags", "compare: %s", strings.TrimPrefix(err.Error(), "flag "))
	case a.help:
		return a, f, nil
	}
	return a, f, a.sides(operands)
}

// versus stands between the files of the two sides.
const versus = "vs"

// operandsOf parses flags and returns what is none, in order. Everything behind -- is an operand; between operands it
// stands for vs.
func operandsOf(f *flag.FlagSet, args []string) ([]string, error) {
	var files []string
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		rest := f.Args()
		if len(rest) == 0 {
			return files, nil
		}
		if used := len(args) - len(rest); used > 0 && args[used-1] == "--" {
			if len(files) > 0 {
				files = append(files, versus)
			}
			return append(files, rest...), nil
		}
		files, args = append(files, rest[0]), rest[1:]
	}
}

func addFiles(to *[]string) func(string) error {
	return func(list string) error {
		for name := range strings.SplitSeq(list, ",") {
			if name == "" {
				return fmt.Errorf("a file without a name")
			}
			*to = append(*to, name)
		}
		return nil
	}
}

// sides shares out the files that no flag has named.
func (a *compareArgs) sides(operands []string) error {
	const hint = "fiord compare BASE.json NEW.json, or fiord compare --help"
	vs := slices.Index(operands, versus)
	switch {
	case len(a.base)+len(a.fresh) > 0:
		if len(operands) > 0 {
			return usagef(hint, "compare: %q: with --base and --new all files are named by them", operands[0])
		}
	case vs >= 0:
		a.base, a.fresh = operands[:vs], operands[vs+1:]
		if slices.Contains(a.fresh, versus) {
			return usagef("a file of that name is ./vs", "compare: more than one \"vs\"")
		}
	case len(operands) > 0:
		a.base, a.fresh = operands[:1], operands[1:]
	}
	if len(a.base) == 0 || len(a.fresh) == 0 {
		return usagef(hint, "compare: want reports of two sides")
	}
	return nil
}

func readRuns(env *Env, names []string) ([]*compare.Run, error) {
	var runs []*compare.Run
	for _, name := range names {
		f, err := env.Open(name)
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		run, err := compare.Read(name, f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// printCompareHelp prints the help page. Standard output keeps the errors.
func printCompareHelp(w io.Writer, f *flag.FlagSet) {
	fmt.Fprint(w, compareUsage)
	f.VisitAll(func(one *flag.Flag) { fmt.Fprintf(w, "  --%-16s %s\n", one.Name, one.Usage) })
}
