package job

import (
	"slices"
	"strconv"
	"strings"
)

// Limits of the lists, fio's.
const (
	maxBSSplit   = 64
	maxZoneSplit = 256
	maxSequence  = 64
)

// Parameters of distributions when none is given.
const (
	defaultZipf   = 1.1
	defaultPareto = 0.2
)

// perDirText gives each direction its part of a list with commas: one part is for all, two are for read and for write
// and trim.
func perDirText(text string) (PerDir[string], error) {
	parts := strings.Split(text, ",")
	switch len(parts) {
	case 1:
		return PerDir[string]{parts[0], parts[0], parts[0]}, nil
	case 2:
		return PerDir[string]{parts[0], parts[1], parts[1]}, nil
	case NDirs:
		return PerDir[string]{parts[0], parts[1], parts[2]}, nil
	}
	return PerDir[string]{}, badValue(text, "at most %d lists: read,write,trim", NDirs)
}

// share is one entry value/percentage of a list, the percentage -1 where it is left out or 0.
type share struct {
	value   uint64
	percent int
	size    uint64 // in place of percent in lists of absolute sizes
}

// shares reads a list of value/percentage entries separated by colons. An empty entry ends the list.
func shares(text string, absolute bool, most, kbBase int) ([]share, error) {
	var list []share
	for _, entry := range strings.Split(text, ":") {
		if entry == "" {
			break
		}
		value, part, _ := strings.Cut(entry, "/")
		n, err := ParseBytes(value, kbBase)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, badValue(entry, "a value not below 0")
		}
		s := share{value: uint64(n), percent: -1}
		if absolute {
			size, err := ParseBytes(part, kbBase)
			if err != nil || size < 0 {
				return nil, badValue(entry, "a size after the slash")
			}
			s.size = uint64(size)
		} else if part != "" {
			p, err := strconv.Atoi(part)
			if err != nil || p < 0 || p > 100 {
				return nil, badValue(entry, "a percentage from 0 to 100 after the slash")
			}
			if p > 0 {
				s.percent = p
			}
		}
		if list = append(list, s); len(list) > most {
			return nil, badValue(abbreviate(text), "at most %d entries", most)
		}
	}
	return list, nil
}

// fillShares divides what the given percentages leave of 100 among the entries without one.
func fillShares(list []share, text string) error {
	sum, open := 0, 0
	for _, s := range list {
		if s.percent < 0 {
			open++
		} else {
			sum += s.percent
		}
	}
	if sum > 100 {
		return badValue(abbreviate(text), "percentages that add up to at most 100")
	}
	for i := range list {
		if list[i].percent < 0 {
			list[i].percent = (100 - sum) / open
		}
	}
	return nil
}

// decodeBSSplits reads bssplit. A direction whose list is empty keeps what it had.
func decodeBSSplits(target *PerDir[BSSplit], text string, kbBase int) error {
	texts, err := perDirText(text)
	if err != nil {
		return err
	}
	next := *target
	for dir, part := range texts {
		list, err := shares(part, false, maxBSSplit, kbBase)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		if err := fillShares(list, part); err != nil {
			return err
		}
		split := make(BSSplit, len(list))
		for i, s := range list {
			if s.value == 0 {
				return badValue(part, "block sizes above 0")
			}
			split[i] = BlockShare{BS: s.value, Percent: s.percent}
		}
		// The order decides which random number means which size, so it is fio's: by percentage, else as given.
		slices.SortStableFunc(split, func(a, b BlockShare) int { return a.Percent - b.Percent })
		next[dir] = split
	}
	*target = next
	return nil
}

// decodeDistributions reads random_distribution.
func decodeDistributions(target *PerDir[Distribution], d *Decl, text string, kbBase int) error {
	kind, mod, hasMod := strings.Cut(text, ":")
	if !contains(d.Vals, kind) {
		return badValue(text, "%s", d.Allowed())
	}
	dist := Distribution{Kind: kind, Center: -1}
	var err error
	switch kind {
	case "random":
		if hasMod {
			return badValue(text, "nothing after random")
		}
	case "zoned", "zoned_abs":
		return decodeZones(target, kind, mod, kbBase)
	case "sequence":
		dist.Sequence, err = decodeSequence(mod)
	default:
		dist, err = decodeShape(kind, mod, hasMod, text)
	}
	if err != nil {
		return err
	}
	*target = PerDir[Distribution]{dist, dist, dist}
	return nil
}

// decodeShape reads the parameter of zipf, pareto or normal and, after a colon, its centre.
func decodeShape(kind, mod string, hasMod bool, text string) (Distribution, error) {
	dist := Distribution{Kind: kind, Center: -1, Param: map[string]float64{"zipf": defaultZipf, "pareto": defaultPareto}[kind]}
	if hasMod {
		param, center, hasCenter := strings.Cut(mod, ":")
		var err error
		if dist.Param, err = parseFloat(param); err != nil {
			return dist, badValue(text, "a number after %s:", kind)
		}
		if hasCenter {
			if dist.Center, err = parseFloat(center); err != nil || dist.Center < 0 || dist.Center > 1 {
				return dist, badValue(text, "a centre from 0 to 1")
			}
		}
	}
	switch p := dist.Param; {
	case kind == "zipf" && p == 1:
		return dist, badValue(text, "a theta other than 1")
	case kind == "pareto" && (p <= 0 || p >= 1):
		return dist, badValue(text, "a power above 0 and below 1")
	case kind == "normal" && (p < 0 || p >= 100):
		return dist, badValue(text, "a deviation from 0 to below 100")
	}
	return dist, nil
}

func decodeZones(target *PerDir[Distribution], kind, text string, kbBase int) error {
	texts, err := perDirText(text)
	if err != nil {
		return err
	}
	next := *target
	for dir, part := range texts {
		zones, err := zoneList(part, kind == "zoned_abs", kbBase)
		if err != nil {
			return err
		}
		if len(zones) > 0 || next[dir].Kind != kind {
			next[dir] = Distribution{Kind: kind, Center: -1, Zones: zones}
		}
	}
	*target = next
	return nil
}

// zoneList reads access/size entries; the access percentages must add up to 100.
func zoneList(text string, absolute bool, kbBase int) ([]Zone, error) {
	list, err := shares(text, absolute, maxZoneSplit, kbBase)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if !absolute {
		if err := fillShares(list, text); err != nil {
			return nil, err
		}
	}
	zones := make([]Zone, len(list))
	access := 0
	for i, s := range list {
		if s.value > 100 {
			return nil, badValue(abbreviate(text), "access percentages up to 100")
		}
		access += int(s.value)
		zones[i] = Zone{AccessPercent: int(s.value), Size: s.size}
		if !absolute {
			zones[i].SizePercent = s.percent
		}
	}
	if access != 100 {
		return nil, badValue(abbreviate(text), "access percentages that add up to 100, not %d", access)
	}
	return zones, nil
}

func decodeSequence(text string) ([]int, error) {
	if text == "" {
		return nil, badValue(text, "block numbers separated by commas after sequence:")
	}
	parts := strings.Split(text, ",")
	if len(parts) > maxSequence {
		return nil, badValue(abbreviate(text), "at most %d numbers", maxSequence)
	}
	list := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 32)
		if err != nil {
			return nil, badValue(part, "a block number not below 0")
		}
		list[i] = int(n)
	}
	return list, nil
}
