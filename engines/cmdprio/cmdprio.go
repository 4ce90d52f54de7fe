// Package cmdprio picks the I/Os that get a priority of their own, by the cmdprio options.
//
// It owns the options, their checks and the draw, which repeats fio's for the same seed. It must not know how an engine
// hands a priority to the kernel.
package cmdprio

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/job"
	"fiord/workload"
)

// The limits of what an I/O priority is made of, and of cmdprio_bssplit.
const (
	maxClass   = 3
	maxLevel   = 7
	maxHint    = 1023
	maxEntries = 64 // in one direction
)

// prio is one priority and the percentage of I/Os that get it.
type prio struct {
	percent uint32
	value   uint16
}

// split is what happens to the I/Os of one length.
type split struct {
	bs    int // 0: any length
	total uint32
	prios []prio
}

// Picker picks priorities for the I/Os of one worker.
type Picker struct {
	dirs [2][]split // of reads and writes
	base uint16     // of the I/Os that are not picked
	rand *workload.Rand
}

// ErrBoth is the error of a job that gives cmdprio_percentage and cmdprio_bssplit.
var ErrBoth = errors.New("cmdprio_percentage and cmdprio_bssplit cannot be given together")

// New checks the options of job j and makes its picker: nil when the job asks for no priorities.
func New(o Options, j *job.Job) (*Picker, error) {
	percent := o.CmdprioPercentage[job.Read] != 0 || o.CmdprioPercentage[job.Write] != 0
	if !percent && o.CmdprioBSSplit == "" {
		return nil, nil
	}
	if percent && o.CmdprioBSSplit != "" {
		return nil, ErrBoth
	}
	p := &Picker{}
	if j.IsSet("prio") || j.IsSet("prioclass") || j.IsSet("priohint") {
		p.base = sys.IOPrioValue(j.PrioClass, j.Prio, j.PrioHint)
	}
	texts := perDirection(o.CmdprioBSSplit)
	for d, has := range [2]bool{j.RW.Read, j.RW.Write} {
		class := o.CmdprioClass[d]
		if class == 0 {
			class = sys.IOPrioRT
		}
		value := sys.IOPrioValue(class, o.Cmdprio[d], o.CmdprioHint[d])
		if percent {
			if n := uint32(o.CmdprioPercentage[d]); n > 0 && has {
				p.dirs[d] = []split{{total: n, prios: []prio{{n, value}}}}
			}
			continue
		}
		splits, err := parseSplits(texts[d], value, kbBase(j))
		if err != nil {
			return nil, err
		}
		if has {
			p.dirs[d] = splits
		}
	}
	p.rand = workload.StreamRand(j, workload.PrioStream)
	return p, nil
}

func kbBase(j *job.Job) int {
	if j.KBBase == "1000" {
		return 1000
	}
	return 1024
}

// perDirection cuts the value of cmdprio_bssplit into those of reads and writes; one alone is for both.
func perDirection(text string) [2]string {
	read, rest, several := strings.Cut(strings.TrimSpace(text), ",")
	if !several {
		return [2]string{read, read}
	}
	write, _, _ := strings.Cut(rest, ",") // a third part would be for trims, which have no priority
	return [2]string{read, write}
}

// parseSplits reads entries of the forms bs/, bs/percent, bs/percent/class/level and bs/percent/class/level/hint,
// separated by colons. The first two get the priority implied by the other options.
func parseSplits(text string, implied uint16, kbBase int) ([]split, error) {
	var splits []split
	n := 0
	for entry := range strings.SplitSeq(text, ":") {
		if entry == "" {
			break // as in fio, an empty entry ends the list
		}
		if n++; n > maxEntries {
			return nil, fmt.Errorf("cmdprio_bssplit: more than %d entries in %q", maxEntries, text)
		}
		bs, p, err := parseEntry(entry, implied, kbBase)
		if err != nil {
			return nil, err
		}
		if p.percent == 0 {
			continue
		}
		i := slices.IndexFunc(splits, func(s split) bool { return s.bs == bs })
		if i < 0 {
			i = len(splits)
			splits = append(splits, split{bs: bs})
		}
		s := &splits[i]
		s.prios = append(s.prios, p)
		if s.total += p.percent; s.total > 100 {
			return nil, fmt.Errorf("cmdprio_bssplit: the percentages of block size %d add up to more than 100", bs)
		}
	}
	slices.SortFunc(splits, func(a, b split) int { return cmp.Compare(a.bs, b.bs) })
	return splits, nil
}

func parseEntry(entry string, implied uint16, kbBase int) (bs int, p prio, err error) {
	bad := func(why string) (int, prio, error) {
		return 0, prio{}, fmt.Errorf("cmdprio_bssplit: entry %q: %s", entry, why)
	}
	fields := strings.Split(entry, "/")
	size, err := job.ParseBytes(fields[0], kbBase)
	if err != nil {
		return bad(err.Error())
	}
	if size <= 0 {
		return bad("want a block size above 0")
	}
	if len(fields) == 2 && fields[1] == "" {
		fields = fields[:1]
	}
	var v [4]uint64 // percent, class, level, hint
	for i, f := range fields[1:] {
		if i == len(v) {
			return bad("too many fields")
		}
		if v[i], err = strconv.ParseUint(f, 10, 32); err != nil {
			return bad(fmt.Sprintf("%q is no number", f))
		}
	}
	p = prio{percent: uint32(min(v[0], 100)), value: implied}
	switch len(fields) {
	case 1, 2:
	case 4, 5:
		p.value = sys.IOPrioValue(int(min(v[1], maxClass)), int(min(v[2], maxLevel)), int(min(v[3], maxHint)))
	default:
		return bad("want bs/percent, bs/percent/class/level or bs/percent/class/level/hint")
	}
	return int(size), p, nil
}

// Pick sets the priority of u, and reports whether it was picked for one of its own. Others get that of the job.
func (p *Picker) Pick(u *engines.IO) bool {
	u.Prio = p.base
	if u.Op > engines.Write {
		return false
	}
	for i := range p.dirs[u.Op] {
		s := &p.dirs[u.Op][i]
		if s.bs != 0 && s.bs != u.Len {
			continue
		}
		draw := uint32(p.rand.Between(0, 99))
		if draw >= s.total {
			return false
		}
		var sum uint32
		for _, c := range s.prios {
			if sum += c.percent; draw < sum {
				u.Prio = c.value
				return true
			}
		}
	}
	return false
}

// Values is every priority that I/Os of direction d can get, that of the job first.
func (p *Picker) Values(d job.Dir) []uint16 {
	values := []uint16{p.base}
	if d > job.Write {
		return values
	}
	for _, s := range p.dirs[d] {
		for _, c := range s.prios {
			if !slices.Contains(values, c.value) {
				values = append(values, c.value)
			}
		}
	}
	return values
}
