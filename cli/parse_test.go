package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wordList is a vocabulary of fixed flags: a letter and a colon before a name give it a short form, = behind it a value,
// =? an optional one.
type wordList []string

func (l wordList) each(f func(s spec, letter byte)) {
	for _, w := range l {
		var letter byte
		if len(w) > 1 && w[1] == ':' {
			letter, w = w[0], w[2:]
		}
		s := spec{name: w}
		if name, opt, ok := strings.Cut(w, "="); ok {
			s = spec{name, argRequired}
			if opt == "?" {
				s.form = argOptional
			}
		}
		f(s, letter)
	}
}

func (l wordList) find(name string) (found spec, ok bool) {
	l.each(func(s spec, _ byte) {
		if s.name == name {
			found, ok = s, true
		}
	})
	return found, ok
}

func (l wordList) names(f func(spec)) { l.each(func(s spec, _ byte) { f(s) }) }

func (l wordList) letter(c byte) (found spec, ok bool) {
	l.each(func(s spec, letter byte) {
		if letter == c {
			found, ok = s, true
		}
	})
	return found, ok
}

func (l wordList) elsewhere(name string) string {
	if name == "hipri" {
		return "it belongs to ioengine io_uring"
	}
	return ""
}

func TestParse(t *testing.T) {
	words := wordList{"o:output=", "output-format=", "m:minimal", "P:parse-only", "b:bandwidth-log=?",
		"rw=", "readwrite=", "name=", "iodepth=", "iodepth_batch=", "ioengine=", "group_reporting=?", "direct=", "thread=?"}
	tests := []struct {
		args string // words separated by spaces; ~ is an empty word
		want string // calls and operands, or the error and its hint
	}{
		{"--rw=read", "rw=read"},
		{"-rw=read", "rw=read"},
		{"--rw read", "rw=read"},
		{"-rw read", "rw=read"},
		{"--rw=a=b", "rw=a=b"},
		{"--ioeng=null", "ioengine=null"},
		{"--ioe null", "ioengine=null"},
		{"--iodepth=4", "iodepth=4"},
		{"--iodep=4", "--iodep: ambiguous option | it may stand for --iodepth, --iodepth_batch"},
		{"--readw=rw", "readwrite=rw"},
		{"--group_reporting", "group_reporting"},
		{"--group_reporting=0", "group_reporting=0"},
		{"--group_reporting 1", "group_reporting [1]"},
		{"--group_reporting=", "group_reporting="},
		{"--thread=true", "thread=true"},
		{"--direct --thread", "direct=--thread"},
		{"--direct", "--direct: needs a value"},
		{"--direct=", "--direct: needs a value"},
		{"--direct ~", "--direct: needs a value"},
		{"--minimal=3", `--minimal: takes no value, got "3"`},
		{"--minimal --rw=read", "minimal rw=read"},
		{"a.fio --rw=read b.fio", "rw=read [a.fio b.fio]"},
		{"--rw=read -- --rw=write b", "rw=read [--rw=write b]"},
		{"-", "[-]"},
		{"~", "[]"},
		{"- --rw=read", "rw=read [-]"},
		{"--name=a --rw=read --name=b", "name=a rw=read name=b"},
		{"-o out", "output=out"},
		{"-oout", "output=out"},
		{"-mP", "minimal parse-only"},
		{"-mo out", "minimal output=out"},
		{"-b -m", "bandwidth-log minimal"},
		{"-bagg", "bandwidth-log=agg"},
		{"-mz", "--mz: unknown option"},
		{"--mP", "--mP: unknown option"},
		{"--bogus", "--bogus: unknown option"},
		{"--", ""},
		{"--=3", "--: unknown option"},
		{"---rw=read", "---rw: unknown option | did you mean --rw?"},
		{"--iodetph=3", "--iodetph: unknown option | did you mean --iodepth?"},
		{"--hipri", "--hipri: unknown option | it belongs to ioengine io_uring"},
		{"--rw=read --bogus --name=x", "rw=read --bogus: unknown option"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var got []string
			p := newParser(words)
			words.each(func(s spec, _ byte) {
				p.register(s.name, s.form, func(value string, bare bool) error {
					if bare {
						got = append(got, s.name)
					} else {
						got = append(got, s.name+"="+value)
					}
					return nil
				})
			})
			args := strings.Fields(tt.args)
			for i, a := range args {
				if a == "~" {
					args[i] = ""
				}
			}
			if err := p.parse(args); err != nil {
				text := err.Error()
				if h := err.(*usageError).hint; h != "" {
					text += " | " + h
				}
				got = append(got, text)
			}
			if p.operands != nil {
				got = append(got, "["+strings.Join(p.operands, " ")+"]")
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
