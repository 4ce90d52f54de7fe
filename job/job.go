// Package job says what to run: it reads job files and options into []Job.
//
// It owns the option declarations, their parsing, ranges, defaults and help, the job file syntax and the checks between
// options. It must not know how jobs run: it opens no device and asks the system for nothing but what a value needs
// (an included file, a pattern file, the number of CPUs, whether a directory exists).
package job

// Job is one job ready to run: a section with the global options before it, one of its numjobs clones.
type Job struct {
	Name    string // section name, or the name option; clones of a named section have the section name, as in fio
	Section string // section name: what generated file names are made from; on the command line the name option
	Source  string // job file; empty: the command line
	Line    int    // line of the section header; 0 on the command line

	Options       // fio's job options, defaults filled in
	Engine    any // the options struct of its engine, as made by EngineDecl.Options, decoded
	EngineDoc *EngineDecl

	// What Load works out from several options. Options itself holds resolved values wherever its own field can: BA,
	// IODepthLow, IODepthBatch, IODepthBatchCompleteMax, NrFiles, OpenFiles, NoRandomMap, Overwrite, ZoneRange,
	// RefillBuffers and so on; enums carry their canonical name (fallocate=1 is "posix").
	MinBS, MaxBS     PerDir[uint64] // smallest and largest block size in bytes, from bs, bsrange or bssplit
	Filenames        []string       // names from filename, [global] ones first, escapes resolved; nil: names are made up from Section
	ContinueOnRead   bool           // read errors do not end the job (continue_on_error, ignore_error)
	ContinueOnWrite  bool           // likewise write and trim errors
	ContinueOnVerify bool           // likewise verify errors
	MemFile          string         // file behind mem=mmap:FILE; empty: anonymous memory

	Number    int // thread number, from 1, over all jobs; $jobnum is SubJob
	SubJob    int // which of its numjobs clones, from 0
	Group     int // group number for reports, from 0 (stonewall, new_group)
	Stonewall int // how many stonewalls stand before it: jobs of a higher number wait for those of a lower one

	Given  []Setting // options of this section, in parse-priority order, canonical names, values as given
	Global []Setting // options of [global], likewise

	set map[string]bool // canonical names that the section or a global gave
}

// Setting is one option as given.
type Setting struct {
	Name, Value string
	Flag        bool // given without a value
}

// IsSet reports whether the job or a [global] gave the option, by canonical name.
func (j *Job) IsSet(name string) bool { return j.set[name] }

// EngineDecl is what job must know of an I/O engine. engines.Driver makes one.
type EngineDecl struct {
	Name     string
	Doc      string
	Aliases  []string
	Options  func() any // a fresh options struct, its fields tagged like Options; nil: none
	Missing  string     // not empty: fiord does not have this engine, and why
	External bool       // Missing and not known to a default fio build either: --parse-only refuses it
	Traits   Traits
}

// Traits are the facts about an engine that decide how options are checked, fio's engine flags.
type Traits struct {
	Sync       bool // completes inside submit: iodepth above 1 has no effect (FIO_SYNCIO)
	Diskless   bool // no file is created (FIO_DISKLESSIO)
	NoIO       bool // does no I/O (FIO_NOIO)
	FakeIO     bool // counts I/O it does not do (FIO_FAKEIO)
	Raw        bool // O_DIRECT always (FIO_RAWIO)
	NoExtend   bool // files are not extended (FIO_NOEXTEND)
	MemAlign   bool // buffers must be page aligned (FIO_MEMALIGN)
	Pipe       bool // input and output no seek (FIO_PIPEIO)
	NoStats    bool // FIO_NOSTATS
	NoFileHash bool // FIO_NOFILEHASH
	Atomic     bool // FIO_ATOMICWRITES
	MultiRange bool // a trim can have several ranges (FIO_MULTI_RANGE_TRIM)
	Placement  bool // writes carry placement identifiers (dataplacement)
	NoOffload  bool // no use with io_submit_mode=offload (FIO_NO_OFFLOAD)
	Seeks      bool // goes by the position of the file, which all who have its descriptor share
	ReapsAll   bool // hands back at once all that it took, whatever iodepth_batch_complete_max says
}
