package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"fiord/engines"
	"fiord/job"
)

// printHelp prints the help page. Scripts look for "json+" in it.
func (c *command) printHelp() error {
	w := c.env.Stdout
	fmt.Fprintf(w, "%s\n\nfiord [flags] [job options] [job file ...]\n\n", Version)
	fmt.Fprint(w, "Runs the jobs of the files, and those that --name=... begins on the command line. A job file of - is\n"+
		"standard input. Every job option is a flag too: options before the first --name are defaults for all\n"+
		"jobs. Names may be cut short where that is clear, with one dash or two.\n\n")
	fmt.Fprint(w, "fiord peak measures the most reads a second, with the flags of fio's t/io_uring: fiord peak -h\n"+
		"fiord compare says what changed between JSON reports: fiord compare --help\n\n")
	const column = 30
	for _, f := range c.words.own {
		if f.help == "" {
			continue
		}
		left := "  --" + f.name
		switch {
		case f.form == argOptional && f.arg != "":
			left += "[=" + f.arg + "]"
		case f.arg != "":
			left += "=" + f.arg
		}
		fmt.Fprintf(w, "%-*s %s\n", column, left, f.help)
	}
	c.args.stop = true
	return nil
}

// cmdHelp explains one job option, or lists all of them. fio differs: it exits with 0 when there is no such option.
func (c *command) cmdHelp(name string) error {
	c.args.stop = true
	return helpOn(c.env.Stdout, c.words.job, name, func() string {
		for i, t := range c.words.order {
			if t.Lookup(name) != nil {
				return fmt.Sprintf("it belongs to an ioengine: --enghelp=%s,%s", c.words.owners[i], name)
			}
		}
		return ""
	})
}

// engHelp lists the engines, one a line, or the options of one, or explains one option of one.
func (c *command) engHelp(arg string) error {
	c.args.stop = true
	if arg == "" {
		fmt.Fprintln(c.env.Stdout, "Available IO engines:")
		for _, d := range c.drivers {
			if d.Missing == "" {
				fmt.Fprintf(c.env.Stdout, "\t%s\n", d.Name)
			}
		}
		return nil
	}
	name, option, _ := strings.Cut(arg, ",")
	d := findDriver(c.drivers, name)
	if d == nil {
		var names []string
		for _, d := range c.drivers {
			names = append(names, d.Name)
		}
		hint := "--enghelp lists the engines"
		if best := job.Nearest(name, names); best != "" {
			hint = "did you mean " + best + "?"
		}
		return usagef(hint, "--enghelp: unknown ioengine %q", name)
	}
	if d.Missing != "" {
		fmt.Fprintf(c.env.Stdout, "ioengine %s is not built into fiord: %s\n", d.Name, d.Missing)
	}
	t := c.words.engines[name]
	if t == nil || len(t.All()) == 0 {
		return usagef("", "--enghelp: ioengine %s has no options", name)
	}
	return helpOn(c.env.Stdout, t, option, func() string { return "" })
}

func findDriver(drivers []*engines.Driver, name string) *engines.Driver {
	for _, d := range drivers {
		if d.Name == name {
			return d
		}
		for _, a := range d.Aliases {
			if a == name {
				return d
			}
		}
	}
	return nil
}

// helpOn prints the help of one option of a table, or the list of all. elsewhere may know where else the option is.
func helpOn(w io.Writer, t *job.Table, name string, elsewhere func() string) error {
	if name == "" || name == "all" {
		listOptions(w, t)
		return nil
	}
	if d := t.Lookup(name); d != nil {
		explain(w, d)
		return nil
	}
	hint := elsewhere()
	if hint == "" {
		var names []string
		each(t, func(s spec) { names = append(names, s.name) })
		if best := job.Nearest(name, names); best != "" {
			hint = "did you mean " + best + "?"
		}
	}
	return usagef(hint, "no option %q", printable(name))
}

// listOptions prints one option a line, those that only matter with another one below it and indented.
func listOptions(w io.Writer, t *job.Table) {
	children := map[string][]*job.Decl{}
	var top []*job.Decl
	for _, d := range t.All() {
		if d.Deprecated != "" {
			continue
		}
		if parent := t.Lookup(d.Parent); parent != nil {
			children[parent.Name] = append(children[parent.Name], d)
		} else {
			top = append(top, d)
		}
	}
	var list func(ds []*job.Decl, depth int)
	list = func(ds []*job.Decl, depth int) {
		for _, d := range ds {
			fmt.Fprintf(w, "%-24s: %s\n", strings.Repeat("  ", depth)+d.Name, d.Help)
			list(children[d.Name], depth+1)
		}
	}
	list(top, 0)
}

// explain prints everything a declaration says about its option.
func explain(w io.Writer, d *job.Decl) {
	row := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%20s: %s\n", label, fmt.Sprintf(format, args...))
	}
	row(d.Name, "%s", d.Help)
	if len(d.Aliases) > 0 {
		row("alias", "%s", strings.Join(d.Aliases, ", "))
	}
	row("type", "%s", kindText(d))
	row("default", "%s", orDefault(d.Default, "no default"))
	if d.HasMin || d.HasMax {
		row("range", "%s", limits(d))
	}
	for i, v := range d.Vals {
		label := "valid values"
		if i > 0 {
			label = ""
		}
		row(label, "%s", v)
	}
	if d.Parent != "" {
		row("used with", "%s", d.Parent)
	}
	if d.Missing != "" {
		row("not in fiord", "%s", d.Missing)
	}
	fmt.Fprintln(w)
}

// kindText says what kind of value an option takes, in words.
func kindText(d *job.Decl) string {
	text := map[job.Kind]string{
		job.KindEnum: "one of the valid values", job.KindBool: "boolean: 0 or 1", job.KindFlag: "switch: no value, 0 or 1",
		job.KindInt: "integer", job.KindSize: "size: bytes, a percentage, or zones with the suffix z",
		job.KindRange: "range: low-high", job.KindFloatList: "numbers separated by colons",
		job.KindString: "text", job.KindCustom: "a syntax of its own", job.KindDeprecated: "none: it is no longer used",
	}[d.Kind]
	if d.Kind == job.KindCustom && len(d.Vals) > 0 {
		text = "one of the valid values, some of them with parameters"
	}
	if d.Kind == job.KindTime {
		text = "time, a bare number counts " + map[time.Duration]string{
			time.Second: "seconds", time.Millisecond: "milliseconds", time.Microsecond: "microseconds"}[d.Unit]
	}
	if d.PerDir {
		text += ", for read,write,trim"
	}
	return orDefault(text, string(d.Kind))
}

// limits is the range of a number; fio's form of it, min= and max=, is kept for scripts.
func limits(d *job.Decl) string {
	lo, hi := "none", "none"
	if d.HasMin {
		lo = strconv.FormatFloat(d.Min, 'f', -1, 64)
	}
	if d.HasMax {
		hi = strconv.FormatFloat(d.Max, 'f', -1, 64)
	}
	return "min=" + lo + ", max=" + hi
}
