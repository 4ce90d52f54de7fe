package job

// Dir is the direction of an I/O, in fio's order. It indexes every per-direction value and statistic.
type Dir uint8

// The three data directions.
const (
	Read Dir = iota
	Write
	Trim
)

// NDirs is how many data directions there are.
const NDirs = 3

// String is the lower-case name that reports use.
func (d Dir) String() string { return [...]string{"read", "write", "trim"}[d] }

// PerDir holds a value for each of Read, Write and Trim.
type PerDir[T any] [NDirs]T
