package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"fiord/job"
)

// argForm says whether a flag takes a value, as getopt_long has it.
type argForm uint8

const (
	argNone     argForm = iota // --minimal
	argRequired                // --output=x, --output x
	argOptional                // --group_reporting, --group_reporting=1; a next word is never its value
)

// spec is one flag that can be given at the present point of the command line.
type spec struct {
	name string
	form argForm
}

// vocabulary is the set of flags that exist at the present point. It changes while arguments are read: the options of
// the current ioengine come and go.
type vocabulary interface {
	// find returns the flag of exactly that name.
	find(name string) (spec, bool)
	// names calls f with every name, in the order in which ambiguities are reported.
	names(f func(spec))
	// letter returns the flag of a single-letter form such as -o.
	letter(c byte) (spec, bool)
	// elsewhere says where a name that is unknown here is known; empty: nowhere.
	elsewhere(name string) string
}

// parser reads arguments the way getopt_long_only does: one dash or two, unique prefixes, operands anywhere among the
// flags, everything after -- an operand. It completes and separates; the flag package takes each flag from there and
// calls what is registered for it, in order.
type parser struct {
	words    vocabulary
	flags    *flag.FlagSet
	operands []string

	bare bool  // the flag being set was given without a value
	err  error // what the callback of that flag returned; package flag would flatten it into text
	stop bool  // a callback has seen enough: --help, --version
}

func newParser(words vocabulary) *parser {
	p := &parser{words: words, flags: flag.NewFlagSet("fiord", flag.ContinueOnError)}
	p.flags.SetOutput(io.Discard)
	p.flags.Usage = func() {}
	return p
}

// register makes set the callback of a flag. Set is told the value, and whether none was given.
func (p *parser) register(name string, form argForm, set func(value string, bare bool) error) {
	if p.flags.Lookup(name) != nil {
		return // an engine option of the same name in another engine: the callback is the same
	}
	call := func(value string) error {
		if p.bare {
			value = ""
		}
		p.err = set(value, p.bare)
		return p.err
	}
	if form == argRequired {
		p.flags.Func(name, "", call)
		return
	}
	p.flags.BoolFunc(name, "", call)
}

// parse reads args. It ends at the first error, and early when a callback set stop.
func (p *parser) parse(args []string) error {
	for len(args) > 0 && !p.stop {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			p.operands = append(p.operands, args...)
			return nil
		}
		if len(arg) < 2 || arg[0] != '-' {
			p.operands = append(p.operands, arg)
			continue
		}
		rest, err := p.one(arg, args)
		if err != nil {
			return err
		}
		args = rest
	}
	return nil
}

// one handles a word that begins with a dash and returns the words behind what it used.
func (p *parser) one(arg string, next []string) ([]string, error) {
	// A single letter behind a single dash is the short form; -rw=read is a long name.
	if len(arg) == 2 {
		if s, ok := p.words.letter(arg[1]); ok {
			return p.give(s, arg, "", false, next)
		}
	}
	name, value, has := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	s, err := p.complete(name)
	if err != nil {
		if rest, ok, shortErr := p.cluster(arg, next); ok {
			return rest, shortErr
		}
		return nil, err
	}
	return p.give(s, arg, value, has, next)
}

// complete finds the flag that name is, or is an unambiguous beginning of.
func (p *parser) complete(name string) (spec, error) {
	if s, ok := p.words.find(name); ok {
		return s, nil
	}
	var found []string
	var last spec
	if name != "" {
		p.words.names(func(s spec) {
			if strings.HasPrefix(s.name, name) {
				found = append(found, "--"+s.name)
				last = s
			}
		})
	}
	switch len(found) {
	case 1:
		return last, nil
	case 0:
		return spec{}, p.unknown(name)
	}
	return spec{}, usagef("it may stand for "+strings.Join(found, ", "), "--%s: ambiguous option", printable(name))
}

func (p *parser) unknown(name string) error {
	hint := p.words.elsewhere(name)
	if hint == "" {
		var all []string
		p.words.names(func(s spec) { all = append(all, s.name) })
		if best := job.Nearest(name, all); best != "" {
			hint = "did you mean --" + best + "?"
		}
	}
	return usagef(hint, "--%s: unknown option", printable(name))
}

// cluster reads a word such as -oFILE or -mP as single letters, which getopt does when no long name fits. ok is false
// when it is no such word.
func (p *parser) cluster(arg string, next []string) (rest []string, ok bool, err error) {
	if strings.HasPrefix(arg, "--") {
		return nil, false, nil
	}
	// The whole word is looked at before any of it takes effect.
	var given []spec
	value := ""
	for i := 1; i < len(arg); i++ {
		s, known := p.words.letter(arg[i])
		if !known {
			return nil, false, nil
		}
		given = append(given, s)
		if s.form != argNone {
			value = arg[i+1:]
			break
		}
	}
	rest = next
	for i, s := range given {
		v, has := "", false
		if i == len(given)-1 && value != "" {
			v, has = value, true
		}
		if rest, err = p.give(s, arg, v, has, rest); err != nil || p.stop {
			return rest, true, err
		}
	}
	return rest, true, nil
}

// give hands one flag to package flag, its value taken from the next word where it needs one.
func (p *parser) give(s spec, arg, value string, has bool, next []string) ([]string, error) {
	switch {
	case s.form == argNone && has:
		return nil, usagef("", "--%s: takes no value, got %q", s.name, value)
	case s.form == argRequired && !has && len(next) == 0:
		return nil, usagef("", "--%s: needs a value", s.name)
	case s.form == argRequired && !has:
		value, has, next = next[0], true, next[1:]
	}
	if s.form == argRequired && value == "" {
		return nil, usagef("", "--%s: needs a value", s.name)
	}
	p.bare, p.err = !has, nil
	word := "--" + s.name
	if has {
		word += "=" + value
	}
	if err := p.flags.Parse([]string{word}); err != nil {
		if p.err != nil {
			return nil, p.err
		}
		return nil, fmt.Errorf("%s: %w", printable(arg), err)
	}
	return next, nil
}

// printable shortens what the user typed for a message: control characters are escaped, long text is cut.
func printable(s string) string {
	const most = 60
	q := fmt.Sprintf("%q", s)
	q = q[1 : len(q)-1]
	if len(q) > most {
		q = q[:most] + "..."
	}
	return q
}
