package peak

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ErrHelp is Parse's answer when the user asked for the usage text.
var ErrHelp = errors.New("help requested")

// option is one of t/io_uring's flags. Exactly one of the targets is set.
type option struct {
	letter byte
	value  string // what the usage text calls it
	help   string
	number func(*Config) *int
	lo, hi int // of number
	truth  func(*Config) *bool
	text   func(c *Config, v string) error
}

// flags are t/io_uring's, in the order of its usage text.
var flags = []option{
	{letter: 'd', value: "int", help: "reads in flight for each thread", lo: 1, hi: 32768, number: func(c *Config) *int { return &c.Depth }},
	{letter: 's', value: "int", help: "most reads handed over at once", hi: 32768, number: func(c *Config) *int { return &c.Submit }},
	{letter: 'c', value: "int", help: "reads waited for at once", hi: 32768, number: func(c *Config) *int { return &c.Complete }},
	{letter: 'b', value: "int", help: "bytes of one read", lo: 1, hi: 1 << 30, number: func(c *Config) *int { return &c.BlockSize }},
	{letter: 'p', value: "bool", help: "poll for completions", truth: func(c *Config) *bool { return &c.Polled }},
	{letter: 'B', value: "bool", help: "register the buffers", truth: func(c *Config) *bool { return &c.FixedBufs }},
	{letter: 'F', value: "bool", help: "register the files", truth: func(c *Config) *bool { return &c.RegisterFiles }},
	{letter: 'n', value: "int", help: "threads", lo: 1, hi: maxThreads, number: func(c *Config) *int { return &c.Threads }},
	{letter: 'O', value: "bool", help: "open with O_DIRECT; devices such as /dev/ng0n1 need 0", truth: func(c *Config) *bool { return &c.Direct }},
	{letter: 'N', value: "bool", help: "only requests that do nothing", truth: func(c *Config) *bool { return &c.Nop }},
	{letter: 't', value: "bool", help: "measure latencies, from the first second on", truth: func(c *Config) *bool { return &c.Latency }},
	{letter: 'T', value: "int", help: "ticks of the clock in a second, in place of what is calibrated", text: setTSCRate},
	{letter: 'r', value: "int", help: "seconds to run; 0: until a signal", hi: 1 << 30, number: func(c *Config) *int { return &c.Seconds }},
	{letter: 'R', value: "bool", help: "random offsets, else sequential ones", truth: func(c *Config) *bool { return &c.Random }},
	{letter: 'a', value: "bool", help: "native AIO in place of io_uring", truth: func(c *Config) *bool { return &c.AIO }},
	{letter: 'S', value: "bool", help: "preadv2 in place of io_uring", truth: func(c *Config) *bool { return &c.Sync }},
	{letter: 'X', value: "bool", help: "enter by a registered descriptor", truth: func(c *Config) *bool { return &c.RegisterRing }},
	{letter: 'P', value: "bool", help: "run on the NUMA node of the device", truth: func(c *Config) *bool { return &c.Place }},
	{letter: 'V', value: "bool", help: "vectored reads", truth: func(c *Config) *bool { return &c.Vectored }},
	{letter: 'e', value: "bool", help: "allow the ring nothing but what it needs", truth: func(c *Config) *bool { return &c.Restrict }},
	{letter: 'u', value: "bool", help: "NVMe commands to a character device such as /dev/ng0n1", truth: func(c *Config) *bool { return &c.Passthrough }},
	{letter: 'H', value: "path", help: "hugetlbfs file that the buffers lie in", text: setHugetlb},
	{letter: 'D', help: "", text: func(*Config, string) error {
		return errors.New("-D: fio 3.42 has dropped it, and so has fiord")
	}},
}

func setTSCRate(c *Config, v string) error {
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil || n == 0 {
		return fmt.Errorf("-T: want ticks a second, got %q", v)
	}
	c.TSCRate = n
	return nil
}

func setHugetlb(c *Config, v string) error {
	if v == "" {
		return errors.New("-H: want the path of a file")
	}
	c.Hugetlb = v
	return nil
}

// Parse reads a command line as getopt does: values behind their letter or in the next word, files anywhere, -- ends the
// flags. ErrHelp asks for Usage.
func Parse(args []string) (*Config, error) {
	c := Defaults()
	c.given = map[byte]bool{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			c.Files = append(c.Files, args[i+1:]...)
			return &c, c.resolve()
		case a == "-h" || a == "-?" || a == "--help":
			return nil, ErrHelp
		case strings.HasPrefix(a, "--"):
			name, value, has := strings.Cut(a[2:], "=")
			if name != "output-format" {
				return nil, fmt.Errorf("unknown flag %q", a)
			}
			if !has && i+1 < len(args) {
				i++
				value = args[i]
			}
			if value != formatText && value != formatJSON {
				return nil, fmt.Errorf("--output-format: want text or json, got %q", value)
			}
			c.Format = value
		case len(a) > 1 && a[0] == '-':
			value := a[2:]
			if value == "" && known(a[1]) {
				if i+1 == len(args) {
					return nil, fmt.Errorf("%s: want a value", a)
				}
				i++
				value = args[i]
			}
			if err := c.set(a[1], value); err != nil {
				return nil, err
			}
		default:
			c.Files = append(c.Files, a)
		}
	}
	return &c, c.resolve()
}

func known(letter byte) bool {
	return slices.ContainsFunc(flags, func(f option) bool { return f.letter == letter })
}

// set takes the value of one flag. fio differs: t/io_uring reads what is no number as 0 or in part.
func (c *Config) set(letter byte, value string) error {
	for _, f := range flags {
		if f.letter != letter {
			continue
		}
		c.given[letter] = true
		switch {
		case f.text != nil:
			return f.text(c, value)
		case f.truth != nil:
			if value != "0" && value != "1" {
				return fmt.Errorf("-%c: want 0 or 1, got %q", letter, value)
			}
			*f.truth(c) = value == "1"
			return nil
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < f.lo || n > f.hi {
			return fmt.Errorf("-%c: want a whole number from %d to %d, got %q", letter, f.lo, f.hi, value)
		}
		if letter == 's' || letter == 'c' {
			n = max(n, 1) // as in t/io_uring, 0 means 1
		}
		*f.number(c) = n
		return nil
	}
	return fmt.Errorf("unknown flag %q", "-"+string(rune(letter)))
}

// Usage writes the usage text.
func Usage(w io.Writer) error {
	var b strings.Builder
	b.WriteString("fiord peak [flags] file ...\n\n" +
		"Reads as fast as one thread for each -n can, and prints the rate once a second. It never writes.\n" +
		"The flags are those of fio's t/io_uring.\n\n")
	d := Defaults()
	for _, f := range flags {
		if f.help == "" {
			continue
		}
		def := ""
		switch {
		case f.number != nil:
			def = fmt.Sprintf(" (default %d)", *f.number(&d))
		case f.truth != nil:
			def = " (default 0)"
			if *f.truth(&d) {
				def = " (default 1)"
			}
		}
		fmt.Fprintf(&b, "  -%c <%s>%s %s%s\n", f.letter, f.value, strings.Repeat(" ", 4-len(f.value)), f.help, def)
	}
	b.WriteString("  --output-format=text|json (default text)\n")
	_, err := io.WriteString(w, b.String())
	return err
}
