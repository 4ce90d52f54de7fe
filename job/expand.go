package job

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// expander replaces ${NAME} and the keywords $pagesize, $mb_memory and $ncpus in option lines.
type expander struct {
	env      func(string) (string, bool)
	keywords []keyword
	cpus     int // CPUs of the machine
}

type keyword struct{ word, value string }

func newExpander(env func(string) (string, bool)) *expander {
	cpus := cpuCount()
	return &expander{env: env, cpus: cpus, keywords: []keyword{
		{"$pagesize", strconv.Itoa(os.Getpagesize())},
		{"$mb_memory", strconv.FormatUint(memoryBytes()>>20, 10)},
		{"$ncpus", strconv.Itoa(cpus)},
	}}
}

// cpuCount is how many CPUs the machine is configured with, also where this process may use fewer.
func cpuCount() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/possible")
	if err == nil {
		if list, err := numberList(strings.TrimSpace(string(text)), maxCPU, maxCPU+1); err == nil {
			return len(list)
		}
	}
	return runtime.NumCPU()
}

// memoryBytes is the machine's memory as the kernel reports it, 0 when it does not.
func memoryBytes() uint64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// expand gives the option with variables and keywords replaced; a variable that is not set is empty. Where a keyword
// was replaced and the value is arithmetic, its result takes its place.
func (e *expander) expand(o rawOption) rawOption {
	if !strings.Contains(o.name, "$") && !strings.Contains(o.value, "$") {
		return o
	}
	o.name = e.variables(o.name)
	o.value = e.variables(o.value)
	before := o.value
	for _, k := range e.keywords {
		o.value = strings.ReplaceAll(o.value, k.word, k.value)
	}
	if o.value != before && strings.ContainsAny(o.value, "+-*/") {
		// fio hands this to bc, which knows no suffixes. What is no arithmetic, such as a path, stays as it is.
		if n, err := evaluate("("+o.value+")", false); err == nil && !n.units {
			o.value = strconv.FormatInt(n.round(), 10)
		}
	}
	return o
}

func (e *expander) variables(s string) string {
	var b strings.Builder
	for {
		start := strings.Index(s, "${")
		if start < 0 {
			break
		}
		end := strings.IndexByte(s[start:], '}')
		if end < 0 {
			break
		}
		b.WriteString(s[:start])
		value, _ := e.env(s[start+2 : start+end])
		b.WriteString(value)
		s = s[start+end+1:]
	}
	return b.String() + s
}

// unset is the first variable in s that is not set, or empty.
func (e *expander) unset(s string) string {
	for {
		_, rest, _ := strings.Cut(s, "${")
		name, after, found := strings.Cut(rest, "}")
		if !found {
			return ""
		}
		if _, is := e.env(name); !is {
			return name
		}
		s = after
	}
}
