package job

import "time"

// SizeKind tells what a Size counts.
type SizeKind uint8

// The kinds of Size.
const (
	Bytes   SizeKind = iota // Value is bytes
	Percent                 // Value is percent of what the option refers to
	Zones                   // Value is zones (the suffix z)
)

// Size is a value of fio's size options: bytes, percent or zones. The zero Size means "not given".
type Size struct {
	Value uint64
	Kind  SizeKind
}

// Range is an inclusive range of block sizes, in bytes.
type Range struct{ Min, Max uint64 }

// SizeRange is fio's filesize: each file gets a random size from Low to High. A percentage has Low == High and Kind
// Percent.
type SizeRange struct {
	Low, High uint64
	Kind      SizeKind
}

// TimeRange is fio's startdelay: a random time from Low to High.
type TimeRange struct{ Low, High time.Duration }

// RWMode is the value of rw: the base pattern and its modifier behind the colon.
type RWMode struct {
	Read, Write, Trim bool // the directions the job has
	Random            bool
	TrimWrite         bool   // each block is trimmed, then written
	SeqNr             int    // rw=randread:N: a new random offset every N I/Os; 1 when not given
	SeqAdd            int64  // rw=read:N: bytes skipped after each I/O; 0 when not given
	Text              string // canonical base name, such as "randread"
}

// BlockShare is one entry of bssplit: a block size in bytes and the percentage of I/Os that use it.
type BlockShare struct {
	BS      uint64
	Percent int
}

// BSSplit is bssplit of one direction, its missing percentages filled in. It is in ascending order of percentage, entries
// of equal percentage as given: the order in which a random number from 0 to 100 falls into them, the last entry taking
// what is left when they add up to less. nil means "not given".
type BSSplit []BlockShare

// Zone is one entry of a zoned distribution: AccessPercent of the I/Os go to SizePercent of the file, or to Size
// bytes for zoned_abs.
type Zone struct {
	AccessPercent, SizePercent int
	Size                       uint64
}

// Distribution is the value of random_distribution for one direction.
type Distribution struct {
	Kind     string // random, zipf, pareto, normal, zoned, zoned_abs, sequence
	Param    float64
	Center   float64 // zipf, pareto, normal: centre as a fraction of the file; below 0 when not given
	Zones    []Zone
	Sequence []int
}

// FileService is the value of file_service_type.
type FileService struct {
	Kind  string  // random, roundrobin, sequential, zipf, pareto, normal
	N     int     // I/Os before the next file; 1 when not given
	Param float64 // theta, power or deviation of zipf, pareto, normal

	Centered bool    // a centre was given
	Center   float64 // of zipf, pareto, normal: a fraction of the files
}

// SyncRange is the value of sync_file_range: flags of the system call, and every how many writes.
type SyncRange struct {
	Flags uint32 // SYNC_FILE_RANGE_* bits
	Every int
}

// LogName is a write_*_log option: it may be given without a value, and then the job's name is the prefix.
type LogName struct {
	On     bool
	Prefix string
}

// CPUSet is a set of CPU numbers in ascending order; nil means "not given".
type CPUSet []int

// IntList is a list of numbers as plids takes it, ranges expanded, ascending; a number can be there twice.
type IntList []int

// DirSet says which kinds of I/O are in a set: the directions, and Syncs.
type DirSet [NDirs + 1]bool

// Syncs is the place of fsync and its like in a DirSet.
const Syncs = NDirs

// Pattern is a buffer or verify pattern: its bytes, and where formats such as %o put values that change with the I/O.
type Pattern struct {
	Bytes   []byte
	Formats []PatternFormat
}

// PatternFormat is one format of a Pattern.
type PatternFormat struct {
	Kind   byte // 'o': the block's offset, 8 bytes little endian
	Offset int  // where in Bytes it stands
}

// IgnoreErrors lists, for read, write and verify, the errno values that do not count as errors.
type IgnoreErrors [3][]int

// SteadyState is the value of steadystate.
type SteadyState struct {
	Kind    string // iops, iops_slope, bw, bw_slope, lat, lat_slope; empty when not given
	Limit   float64
	Percent bool // Limit is percent of the mean
}

// Deprecated is an option that fio knows and no longer uses; giving it changes nothing, and a notice says so.
type Deprecated struct{}
