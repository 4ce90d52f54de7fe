package job

import (
	"fmt"
	"strings"
)

// canonicalValues maps, by option, numeric spellings of enum values to their names.
var canonicalValues = map[string]map[string]string{
	"fallocate":            {"0": "none", "1": "posix"},
	"sync":                 {"0": "none", "1": "sync"},
	"continue_on_error":    {"0": "none", "1": "all"},
	"log_window_value":     {"0": "avg", "1": "max"},
	"unified_rw_reporting": {"0": "none", "1": "mixed", "2": "both"},
	"verify":               {"crc32c-intel": "crc32c"},
}

// afterSet does what fio does at once when an option is parsed: an option may change others, and what is given later
// may change them back.
func (l *Loader) afterSet(j *Job, d *Decl) error {
	if names := canonicalValues[d.Name]; names != nil {
		f := fieldString(j, d)
		if name, ok := names[*f]; ok {
			*f = name
		}
	}
	switch d.Name {
	case "rw":
		if l.ReadOnly && (j.RW.Write || j.RW.Trim) {
			return conflict("%s writes or trims, which --readonly forbids", j.RW.Text)
		}
	case "direct":
		j.Buffered = !j.Direct
	case "buffered":
		j.Direct = !j.Buffered
	case "rwmixread":
		j.RWMixWrite = 100 - j.RWMixRead
	case "rwmixwrite":
		j.RWMixRead = 100 - j.RWMixWrite
	case "filename":
		j.Filenames = append(j.Filenames, SplitNames(j.Filename)...)
	case "bsrange":
		for dir, r := range j.BSRange {
			if r.Max > 0 {
				j.MinBS[dir], j.MaxBS[dir] = r.Min, r.Max
			}
		}
	case "bssplit":
		j.splitLimits()
	case "buffer_pattern":
		j.RefillBuffers = j.BufferCompressPercentage > 0 || j.RW.Read
		j.ScrambleBuffers, j.ZeroBuffers = false, false
	case "dedupe_percentage":
		j.RefillBuffers = true
	case "verify_pattern":
		if !j.set["verify"] {
			j.Verify = "pattern_hdr"
		}
	case "gtod_reduce":
		if j.GTODReduce {
			j.DisableLat, j.DisableClat, j.DisableSlat, j.DisableBWMeasurement = true, true, true, true
			j.LatPercentiles, j.ClatPercentiles, j.SlatPercentiles = false, false, false
		}
	case "continue_on_error":
		v := j.ContinueOnError
		j.ContinueOnRead = v == "read" || v == "io" || v == "all"
		j.ContinueOnWrite = v == "write" || v == "io" || v == "all"
		j.ContinueOnVerify = v == "verify" || v == "all"
	case "ignore_error":
		j.ContinueOnRead = j.ContinueOnRead || len(j.IgnoreError[0]) > 0
		j.ContinueOnWrite = j.ContinueOnWrite || len(j.IgnoreError[1]) > 0
		j.ContinueOnVerify = j.ContinueOnVerify || len(j.IgnoreError[2]) > 0
	case "mem":
		j.Mem, j.MemFile, _ = strings.Cut(j.Mem, ":")
	case "numjobs":
		if j.NumJobs < 1 || j.NumJobs > l.MaxJobs {
			return badValue(fmt.Sprint(j.NumJobs), "a number from 1 to %d", l.MaxJobs)
		}
	}
	return nil
}

// fieldString is the string field of one of the options in canonicalValues.
func fieldString(j *Job, d *Decl) *string {
	return map[string]*string{
		"fallocate": &j.Fallocate, "sync": &j.Sync, "continue_on_error": &j.ContinueOnError,
		"log_window_value": &j.LogWindowValue, "unified_rw_reporting": &j.UnifiedRWReporting, "verify": &j.Verify,
	}[d.Name]
}

// splitLimits makes the sizes of bssplit the limits of the block size.
func (j *Job) splitLimits() {
	for dir, split := range j.BSSplit {
		for i, s := range split {
			if i == 0 || s.BS < j.MinBS[dir] {
				j.MinBS[dir] = s.BS
			}
			if i == 0 || s.BS > j.MaxBS[dir] {
				j.MaxBS[dir] = s.BS
			}
		}
	}
}

// SplitNames splits a list of file names, directories or devices at colons. A colon behind a backslash belongs to the
// name; colons at the start of the list or doubled ones separate nothing.
func SplitNames(list string) []string {
	var names []string
	var name []byte
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '\\' && i+1 < len(list) && list[i+1] == ':' && len(name) > 0:
			name = append(name, ':')
			i++
		case list[i] == ':':
			if len(name) > 0 {
				names = append(names, string(name))
			}
			name = name[:0]
		default:
			name = append(name, list[i])
		}
	}
	if len(name) > 0 {
		names = append(names, string(name))
	}
	return names
}
