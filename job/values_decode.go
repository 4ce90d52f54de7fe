package job

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DecodeOption reads bytes with a suffix, a percentage up to 100 or a number of zones (suffix z).
func (s *Size) DecodeOption(d *Decl, text string, kbBase int) error {
	if digits, ok := strings.CutSuffix(text, "z"); ok {
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil {
			return badValue(text, "a whole number of zones before the z")
		}
		*s = Size{n, Zones}
		return nil
	}
	n, percent, err := parseQuantity(text, kbBase)
	switch {
	case err != nil:
		return err
	case percent && (n < 0 || n > 100):
		return badValue(text, "a percentage from 0 to 100")
	case n < 0:
		return badValue(text, "a size not below 0")
	case percent:
		*s = Size{uint64(n), Percent}
	default:
		if err := d.inLimits(float64(n), text); err != nil {
			return err
		}
		*s = Size{uint64(n), Bytes}
	}
	return nil
}

// DecodeOption reads a size or a range of sizes; the ends may be swapped.
func (r *SizeRange) DecodeOption(d *Decl, text string, kbBase int) error {
	var ends [2]uint64
	parts := splitDirs(text, false)
	if len(parts) > 2 {
		return badValue(text, "a size or a range low-high")
	}
	for i, part := range parts {
		n, err := ParseBytes(part, kbBase)
		if err != nil {
			return err
		}
		if err := d.inLimits(float64(n), text); err != nil {
			return err
		}
		ends[i] = uint64(n)
	}
	if len(parts) == 1 {
		ends[1] = ends[0]
	}
	*r = SizeRange{Low: min(ends[0], ends[1]), High: max(ends[0], ends[1])}
	return nil
}

// DecodeOption reads a time or a range of times; the ends may be swapped.
func (r *TimeRange) DecodeOption(d *Decl, text string, _ int) error {
	var ends [2]time.Duration
	parts := splitDirs(text, false)
	if len(parts) > 2 {
		return badValue(text, "a time or a range low-high")
	}
	for i, part := range parts {
		t, err := ParseTime(part, d.Unit)
		if err != nil {
			return err
		}
		ends[i] = t
	}
	if len(parts) == 1 {
		ends[1] = ends[0]
	}
	*r = TimeRange{Low: min(ends[0], ends[1]), High: max(ends[0], ends[1])}
	return nil
}

// DecodeOption reads low-high; the ends may be swapped.
func (r *Range) DecodeOption(d *Decl, text string, kbBase int) error {
	parts := splitDirs(text, false)
	if len(parts) != 2 || strings.Contains(text, ",") {
		return badValue(text, "a range low-high, per direction as read,write,trim")
	}
	var ends [2]uint64
	for i, part := range parts {
		n, err := ParseBytes(part, kbBase)
		if err != nil {
			return err
		}
		if err := d.inLimits(float64(n), text); err != nil {
			return err
		}
		ends[i] = uint64(n)
	}
	*r = Range{Min: min(ends[0], ends[1]), Max: max(ends[0], ends[1])}
	return nil
}

// DecodeOption reads a pattern name and, after a colon, its modifier: for random patterns how many I/Os one offset
// serves, for sequential ones how many bytes to skip.
func (m *RWMode) DecodeOption(d *Decl, text string, kbBase int) error {
	base, mod, hasMod := strings.Cut(text, ":")
	if !contains(d.Vals, base) {
		return badValue(text, "%s", d.Allowed())
	}
	mode := RWMode{SeqNr: 1, Text: base}
	if base == "readwrite" {
		mode.Text = "rw"
	}
	kind, random := strings.CutPrefix(mode.Text, "rand")
	mode.Random = random
	switch kind {
	case "read":
		mode.Read = true
	case "write":
		mode.Write = true
	case "trim":
		mode.Trim = true
	case "rw":
		mode.Read, mode.Write = true, true
	case "trimwrite":
		mode.Trim, mode.Write, mode.TrimWrite = true, true, true
	}
	if hasMod {
		n, err := ParseBytes(mod, kbBase)
		if err != nil {
			return err
		}
		if random && (n < 1 || n > math.MaxUint32) {
			return badValue(text, "from 1 to %d I/Os per offset after the colon", uint32(math.MaxUint32))
		}
		if random {
			mode.SeqNr = int(n)
		} else {
			mode.SeqAdd = n
		}
	}
	*m = mode
	return nil
}

// DecodeOption reads a way to pick files and, after a colon, its parameter.
func (f *FileService) DecodeOption(d *Decl, text string, _ int) error {
	kind, mod, hasMod := strings.Cut(text, ":")
	if !contains(d.Vals, kind) {
		return badValue(text, "%s", d.Allowed())
	}
	if kind == "gauss" {
		kind = "normal"
	}
	fs := FileService{Kind: kind, N: 1}
	switch kind {
	case "random", "roundrobin", "sequential":
		if hasMod {
			n, err := strconv.Atoi(mod)
			if err != nil || n < 1 {
				return badValue(text, "a number of I/Os, at least 1, after the colon")
			}
			fs.N = n
		}
	default:
		dist, err := decodeShape(kind, mod, hasMod, text)
		if err != nil {
			return err
		}
		fs.Param, fs.Center, fs.Centered = dist.Param, dist.Center, dist.Center >= 0
	}
	*f = fs
	return nil
}

// Flags of the system call sync_file_range.
const (
	syncWaitBefore = 1
	syncWrite      = 2
	syncWaitAfter  = 4
)

// DecodeOption reads comma-separated flags and, after a colon, every how many writes to call.
func (s *SyncRange) DecodeOption(d *Decl, text string, _ int) error {
	flags, every, hasEvery := strings.Cut(text, ":")
	r := SyncRange{Every: 1}
	for _, name := range strings.Split(flags, ",") {
		switch name {
		case "wait_before":
			r.Flags |= syncWaitBefore
		case "write":
			r.Flags |= syncWrite
		case "wait_after":
			r.Flags |= syncWaitAfter
		default:
			return badValue(text, "%s, separated by commas", d.Allowed())
		}
	}
	if hasEvery {
		n, err := strconv.Atoi(every)
		if err != nil || n < 1 {
			return badValue(text, "a number of writes, at least 1, after the colon")
		}
		r.Every = n
	}
	*s = r
	return nil
}

// DecodeOption takes the text as prefix of the log's file name.
func (l *LogName) DecodeOption(_ *Decl, text string, _ int) error {
	*l = LogName{On: true, Prefix: text}
	return nil
}

// maxCPU bounds CPU numbers, as the kernel's largest configuration does.
const maxCPU = 8191

// DecodeOption reads numbers and ranges separated by commas.
func (c *CPUSet) DecodeOption(_ *Decl, text string, _ int) error {
	list, err := numberList(text, maxCPU, maxCPU+1)
	if err == nil {
		*c = list
	}
	return err
}

// maxPlacementIDs is fio's limit of plids.
const maxPlacementIDs = 128

// DecodeOption reads numbers and ranges separated by commas. What is named twice is there twice: it takes its turn twice.
func (l *IntList) DecodeOption(_ *Decl, text string, _ int) error {
	var list IntList
	for part := range strings.SplitSeq(text, ",") {
		first, last, err := numberRange(text, part, 0, 0xffff)
		if err != nil {
			return err
		}
		if len(list)+last-first+1 > maxPlacementIDs {
			return badValue(text, "at most %d numbers", maxPlacementIDs)
		}
		for n := first; n <= last; n++ {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	*l = list
	return nil
}

// numberRange reads a part of text, "0-3" or "7", with numbers of up to limit. Base 0 knows 0x and leading zeroes as fio's
// numbers do.
func numberRange(text, part string, base, limit int) (first, last int, err error) {
	lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
	if !isRange {
		hi = lo
	}
	from, err1 := strconv.ParseUint(lo, base, 31)
	to, err2 := strconv.ParseUint(hi, base, 31)
	if err1 != nil || err2 != nil || to > uint64(limit) || from > to {
		return 0, 0, badValue(text, "numbers from 0 to %d or ascending ranges, separated by commas", limit)
	}
	return int(from), int(to), nil
}

// numberList reads "0-3,7" into ascending numbers without duplicates.
func numberList(text string, limit, most int) ([]int, error) {
	seen := make(map[int]bool)
	for part := range strings.SplitSeq(text, ",") {
		first, last, err := numberRange(text, part, 10, limit)
		if err != nil {
			return nil, err
		}
		for n := first; n <= last; n++ {
			seen[n] = true
		}
	}
	if len(seen) > most {
		return nil, badValue(text, "at most %d numbers", most)
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// DecodeOption reads the names of directions and sync, separated by commas.
func (s *DirSet) DecodeOption(_ *Decl, text string, _ int) error {
	var set DirSet
	for _, name := range strings.Split(text, ",") {
		switch name {
		case "read":
			set[Read] = true
		case "write":
			set[Write] = true
		case "trim":
			set[Trim] = true
		case "sync":
			set[Syncs] = true
		default:
			return badValue(text, "read, write, trim or sync, separated by commas")
		}
	}
	*s = set
	return nil
}

// DecodeOption reads error lists for read, write and verify, separated by commas; each is names such as EIO or numbers
// separated by colons.
func (e *IgnoreErrors) DecodeOption(_ *Decl, text string, _ int) error {
	lists := strings.Split(text, ",")
	if len(lists) > len(e) {
		return badValue(text, "at most 3 lists: read,write,verify")
	}
	var r IgnoreErrors
	for i, list := range lists {
		for _, name := range strings.Split(list, ":") {
			if name == "" {
				continue
			}
			n := errnoByName(name)
			if n == 0 {
				return badValue(name, "an error name such as EIO, or its number")
			}
			r[i] = append(r[i], n)
		}
	}
	*e = r
	return nil
}

// DecodeOption reads a criterion and, after a colon, its limit.
func (s *SteadyState) DecodeOption(d *Decl, text string, kbBase int) error {
	kind, limit, ok := strings.Cut(text, ":")
	if !contains(d.Vals, kind) || !ok {
		return badValue(text, "%s, then a colon and the limit", d.Allowed())
	}
	r := SteadyState{Kind: kind}
	limit = strings.TrimSpace(limit)
	var err error
	if percent, ok := strings.CutSuffix(limit, "%"); ok {
		r.Percent = true
		r.Limit, err = parseFloat(percent)
	} else if strings.HasPrefix(kind, "bw") {
		var n int64
		n, err = ParseBytes(limit, kbBase)
		r.Limit = float64(n)
	} else if strings.HasPrefix(kind, "lat") {
		var t time.Duration
		t, err = ParseTime(limit, time.Microsecond)
		r.Limit = float64(t.Microseconds())
	} else {
		r.Limit, err = parseFloat(limit)
	}
	if err != nil {
		return badValue(text, "a limit after the colon, plain or in percent")
	}
	*s = r
	return nil
}
