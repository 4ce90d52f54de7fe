package job

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteOptionsMarkdown writes the reference of all options, docs/options.md: the job options in their own order, then
// those of each engine that has any.
func WriteOptionsMarkdown(w io.Writer, engines []EngineDecl) error {
	table, err := OptionTable()
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# Options\n\nGenerated from the declarations; do not edit. Options come in the order of `--cmdhelp=all`, then by engine.\n"+
		"Sizes take the suffixes k, m, g, t and p; times take d, h, m, s, ms and us; arithmetic stands in parentheses.\n")
	fmt.Fprint(b, "\n## Job options\n")
	for _, d := range table.All() {
		d.writeMarkdown(b)
	}
	for _, e := range engines {
		if e.Options == nil {
			continue
		}
		t, err := Declare(e.Options())
		if err != nil {
			return fmt.Errorf("engine %s: %w", e.Name, err)
		}
		fmt.Fprintf(b, "\n## Options of ioengine %s\n", e.Name)
		if e.Missing != "" {
			fmt.Fprintf(b, "\nThe engine is not implemented: %s.\n", strings.TrimSuffix(e.Missing, "."))
		}
		for _, d := range t.All() {
			d.writeMarkdown(b)
		}
	}
	return b.Flush()
}

// writeMarkdown writes one option as a heading, its help and its facts.
func (d *Decl) writeMarkdown(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n", d.Name)
	if d.Help != "" {
		fmt.Fprintf(w, "%s.\n\n", strings.TrimSuffix(d.Help, "."))
	}
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "- %s: %s\n", name, value)
		}
	}
	fact("aliases", codeList(d.Aliases))
	kind := string(d.Kind)
	if d.PerDir {
		kind += ", per direction as `read,write,trim`"
	}
	fact("type", kind)
	fact("values", codeList(d.Vals))
	fact("range", d.rangeText())
	if d.HasDefault {
		fact("default", "`"+d.Default+"`")
	}
	if d.Inverse != "" {
		fact("inverse of", "`"+d.Inverse+"`")
	}
	if d.Parent != "" {
		fact("refines", "`"+d.Parent+"`")
	}
	switch {
	case d.Kind == KindDeprecated && d.Deprecated == "hard":
		fact("status", "deprecated: giving it is an error")
	case d.Deprecated != "":
		fact("status", "deprecated: accepted with a notice, has no effect")
	case d.Missing != "":
		fact("status", "not implemented: "+d.Missing)
	}
}

func codeList(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

// rangeText is the option's limits; empty when it has none.
func (d *Decl) rangeText() string {
	switch {
	case d.Kind == KindBool:
		return "0 or 1"
	case d.HasMin && d.HasMax:
		return num(d.Min) + " to " + num(d.Max)
	case d.HasMin:
		return num(d.Min) + " or more"
	case d.HasMax:
		return "0 to " + num(d.Max)
	}
	return ""
}
