package job

import (
	"fmt"
	"math/bits"
	"os"
	"time"
)

// verifyHeader is the size of fio 3.42's verify header in bytes.
const verifyHeader = 48

// resolve checks options against each other and fills in what one leaves to another, in fio's order. Warnings go to the
// loader, errors are returned; with WarningsFatal warnings are errors too.
func (l *Loader) resolve(j *Job) []error {
	r := &resolver{l: l, j: j}
	if j.EngineDoc != nil {
		r.traits = j.EngineDoc.Traits
	}
	r.directions()
	r.zones()
	r.sprandom()
	r.blockSizes()
	r.depths()
	r.files()
	r.rates()
	r.times()
	r.withoutEffect()
	r.verify()
	r.caching()
	r.processors()
	r.numa()
	r.ranges()
	r.placement()
	r.buffers()
	r.reporting()
	r.logs()
	return r.errs
}

type resolver struct {
	l      *Loader
	j      *Job
	traits Traits
	errs   []error
}

func (r *resolver) errorf(format string, args ...any) {
	r.errs = append(r.errs, conflict(format, args...))
}

func (r *resolver) warnf(format string, args ...any) {
	if r.l.WarningsFatal {
		r.errorf(format, args...)
		return
	}
	r.l.warn(r.j, fmt.Errorf(format, args...))
}

func (r *resolver) directions() {
	j := r.j
	trimVerify := j.Verify != "0" && j.TrimBacklog > 0 && j.TrimPercentage > 0
	if r.l.ReadOnly && (j.RW.Write || j.RW.Trim || trimVerify) {
		r.errorf("trim and write operations are not allowed with --readonly")
	}
	if j.WriteIolog != "" && j.ReadIolog != "" {
		r.warnf("read_iolog overrides write_iolog")
		j.WriteIolog = ""
	}
	if a := j.ReplayAlign; a < 0 || a&(a-1) != 0 {
		r.errorf("replay_align=%d is no power of two", a)
	}
	if j.ReplayScale < 0 {
		r.errorf("replay_scale=%d: offsets are divided by it, so it cannot be negative", j.ReplayScale)
	}
	if j.MergeBlktraceFile != "" && j.ReadIolog == "" {
		r.errorf("merge_blktrace_file needs the traces to be merged in read_iolog")
	}
	if j.RW.Read {
		j.Overwrite = true // what is read must exist before
	}
}

func (r *resolver) zones() {
	j := r.j
	switch j.ZoneMode {
	case "none":
		if j.ZoneSize > 0 {
			r.errorf("zonesize has no meaning with zonemode=none")
		}
	case "strided":
		if j.ZoneSize == 0 {
			r.errorf("zonemode=strided requires zonesize")
		}
		if j.OpenFiles > 1 {
			j.ZoneMode = "none" // strides work in one file only
		} else if j.ZoneRange == 0 {
			j.ZoneRange = j.ZoneSize
		}
	case "zbd":
		r.zonedDevice()
		return
	}
	r.withoutZones()
}

func (r *resolver) blockSizes() {
	j := r.j
	for dir := range NDirs {
		if j.MinBS[dir] == 0 {
			j.MinBS[dir] = j.BS[dir]
		}
		if j.MaxBS[dir] == 0 {
			j.MaxBS[dir] = j.BS[dir]
		}
		if j.BA[dir] == 0 || !j.RW.Random {
			j.BA[dir] = j.MinBS[dir]
		}
	}
	if j.BA != j.MinBS && !j.NoRandomMap {
		r.warnf("any use of blockalign turns off the random map")
		j.NoRandomMap = true
	}
	if j.NoRandomMap && j.Verify != "0" && !j.fixedBlockSize() {
		r.warnf("norandommap with variable block sizes limits verification")
	}
	if j.BSUnaligned && (j.Direct || r.traits.Raw) {
		r.l.warn(j, fmt.Errorf("bs_unaligned may not work with direct I/O"))
	}
	if j.RandomDistribution[Read].Kind != "random" {
		j.NoRandomMap = true
	}
	if min := min(j.MinBS[Read], j.MinBS[Write], j.MinBS[Trim]); j.Size.Kind == Bytes && j.Size.Value > 0 && j.Size.Value < min {
		r.errorf("size %d is smaller than the smallest block size %d", j.Size.Value, min)
	}
}

func (j *Job) fixedBlockSize() bool {
	return j.MinBS == j.MaxBS && j.MinBS[Read] == j.MinBS[Write] && j.MinBS[Read] == j.MinBS[Trim]
}

func (r *resolver) depths() {
	j := r.j
	if j.IODepthLow > j.IODepth || j.IODepthLow == 0 {
		j.IODepthLow = j.IODepth
	}
	if j.IODepthBatch > j.IODepth || j.IODepthBatch == 0 {
		j.IODepthBatch = j.IODepth
	}
	j.IODepthBatchCompleteMax = max(j.IODepthBatchCompleteMax, j.IODepthBatchCompleteMin)
	changes := j.RW.Write || j.RW.Trim
	if j.SerializeOverlap && j.ReadIolog == "" && (!changes || j.IODepth == 1) && j.IOSubmitMode != "offload" {
		j.SerializeOverlap = false // nothing in flight can overlap
	}
	if j.ThinkTimeSpin > j.ThinkTime {
		j.ThinkTimeSpin = j.ThinkTime
	}
	if j.Loops == 0 {
		j.Loops = 1
	}
}

func (r *resolver) files() {
	j := r.j
	if len(j.Filenames) > 0 {
		j.NrFiles = len(j.Filenames)
	}
	if j.OpenDir == "" && (j.OpenFiles > j.NrFiles || j.OpenFiles == 0) { // else the number of files is not known yet
		j.OpenFiles = j.NrFiles
	}
	if j.NrFiles == 0 && j.OpenDir == "" && !r.traits.Diskless {
		r.errorf("nrfiles=0 leaves the job without a file")
	}
	if r.traits.NoExtend && j.FileAppend {
		r.errorf("file_append: ioengine %s cannot extend files", j.IOEngine)
	}
	if r.l.ParseOnly || j.Directory == "" {
		return
	}
	for _, dir := range SplitNames(j.Directory) {
		// fio differs: it refuses a symbolic link to a directory.
		if info, err := os.Stat(dir); err != nil {
			r.errorf("directory: %v", err)
		} else if !info.IsDir() {
			r.errorf("directory: %s is not a directory", dir)
		}
	}
}

func (r *resolver) rates() {
	j := r.j
	bytes := j.Rate[Read]+j.Rate[Write]+j.Rate[Trim] > 0
	iops := j.RateIOPS[Read]+j.RateIOPS[Write]+j.RateIOPS[Trim] > 0
	minBytes := j.RateMin[Read]+j.RateMin[Write]+j.RateMin[Trim] > 0
	minIOPS := j.RateIOPSMin[Read]+j.RateIOPSMin[Write]+j.RateIOPSMin[Trim] > 0
	if bytes && iops || minBytes && minIOPS {
		r.errorf("rate and rate_iops exclude each other")
	}
	for dir := range Dir(NDirs) {
		if j.Rate[dir] > 0 && j.Rate[dir] < j.RateMin[dir] || j.RateIOPS[dir] > 0 && j.RateIOPS[dir] < j.RateIOPSMin[dir] {
			r.errorf("minimum rate exceeds rate, direction %v", dir)
		}
	}
}

// withoutEffect names options that fio takes and that change nothing with the engines there are, or for one machine.
func (r *resolver) withoutEffect() {
	if r.j.WriteBarrier > 0 {
		r.warnf("write_barrier has no effect: no engine of fiord has writes with a barrier (in fio, libpmem alone)")
	}
	if !r.j.UniqueFilename {
		r.warnf("unique_filename has no effect: it tells apart the files of client machines, and there are none")
	}
	if r.j.IOSubmitMode == "offload" {
		for _, name := range []string{"iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low"} {
			if r.j.set[name] {
				r.warnf("%s has no effect with io_submit_mode=offload: each thread submits one I/O at a time", name)
			}
		}
	}
	if r.j.LogCompression == 0 && !r.j.LogStoreCompressed {
		r.without("log_compression", "log_compression_cpus")
	}
}

// without warns of options that are given and do nothing without another.
func (r *resolver) without(other string, names ...string) {
	for _, name := range names {
		if r.j.set[name] {
			r.warnf("%s has no effect without %s", name, other)
		}
	}
}

func (r *resolver) times() {
	j := r.j
	if j.Runtime == 0 && j.TimeBased {
		r.warnf("time_based requires a runtime")
		j.TimeBased = false
	}
	if j.RampTime > 0 && j.RampSize > 0 {
		r.errorf("ramp_time and ramp_size exclude each other")
	}
	if j.SteadystateDuration == 0 {
		return
	}
	if j.SteadystateCheckInterval < time.Second {
		r.errorf("steadystate_check_interval must be at least 1 s")
	} else if j.SteadystateDuration%j.SteadystateCheckInterval != 0 || j.SteadystateDuration <= j.SteadystateCheckInterval {
		r.errorf("steadystate_duration %v must be twice steadystate_check_interval %v or a larger multiple", j.SteadystateDuration,
			j.SteadystateCheckInterval)
	}
}

func (r *resolver) verify() {
	j := r.j
	if j.Verify == "0" {
		return
	}
	if j.RW.Write && j.DoVerify && j.NumJobs > 1 && (len(j.Filenames) > 0 || !uniqueNames(j)) {
		r.warnf("multiple writers may overwrite blocks that belong to other jobs; verification may fail")
	}
	if j.RW.Write && j.DoVerify && j.Runtime > 0 && j.TimeBased && !j.RW.Read && j.VerifyBacklog == 0 {
		r.warnf("the read phase of verification never starts, as the writes take all of the runtime")
	}
	if !j.set["refill_buffers"] {
		j.RefillBuffers = true
	}
	r.verifyInterval()
	overlap := j.NoRandomMap || !j.fixedBlockSize()
	unless := func(option string, field *bool, off bool) {
		if off && !j.set[option] {
			*field = false
		}
	}
	unless("verify_write_sequence", &j.VerifyWriteSequence, j.VerifyOnly)
	unless("verify_header_seed", &j.VerifyHeaderSeed, j.VerifyOnly)
	unless("verify_write_sequence", &j.VerifyWriteSequence, j.NoRandomMap && !r.traits.Sync && j.IODepth > 1)
	unless("verify_write_sequence", &j.VerifyWriteSequence, j.ExperimentalVerify && overlap)
	unless("verify_header_seed", &j.VerifyHeaderSeed, !j.RW.Write || j.VerifyBacklog > 0 || j.ZoneResetFrequency > 0 || overlap)
}

// verifyInterval fits the interval into the block sizes.
func (r *resolver) verifyInterval() {
	j := r.j
	low, high, interval := j.MinBS[Write], j.MaxBS[Write], uint64(j.VerifyInterval)
	if low != high && interval == 0 {
		interval = low
	}
	if interval > low {
		interval = low
	} else if j.RW.Read && interval > j.MinBS[Read] {
		interval = j.MinBS[Read]
	}
	if interval == 0 || low%interval != 0 || high%interval != 0 {
		interval = gcd(low, high)
	}
	j.VerifyInterval = int(interval)
	if uint64(j.VerifyOffset)+verifyHeader > interval {
		r.errorf("verify_offset puts the header beyond the verify interval of %d bytes", interval)
	}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (r *resolver) caching() {
	j := r.j
	if j.Atomic {
		if !r.traits.Atomic {
			r.errorf("atomic: ioengine %s does not support atomic writes", j.IOEngine)
		}
		j.Atomic = j.RW.Write
	}
	if j.PreRead {
		j.Invalidate = false
		if r.traits.Pipe {
			r.warnf("pre_read has no effect with ioengine %s, which cannot seek", j.IOEngine)
		}
	}
	if j.set["randseed"] {
		j.RandRepeat = false // randseed alone decides
	}
}

// processors refuses CPUs that the machine does not have.
func (r *resolver) processors() {
	j := r.j
	if r.l.ParseOnly {
		return
	}
	limit := r.l.expand.cpus
	for name, list := range map[string]CPUSet{"cpus_allowed": j.CPUsAllowed, "verify_async_cpus": j.VerifyAsyncCPUs} {
		if n := len(list); n > 0 && list[n-1] >= limit {
			r.errorf("%s: CPU %d does not exist, the last one is %d", name, list[n-1], limit-1)
		}
	}
	if last := bits.Len64(j.CPUMask) - 1; last >= limit {
		r.errorf("cpumask: CPU %d does not exist, the last one is %d", last, limit-1)
	}
}

func (r *resolver) buffers() {
	j := r.j
	if j.BufferCompressPercentage == 100 {
		j.ZeroBuffers, j.BufferCompressPercentage = true, 0 // zeroes compress completely
	} else if j.BufferCompressPercentage > 0 && !j.set["refill_buffers"] {
		j.RefillBuffers = true
	}
	if j.ScrambleBuffers && j.ZeroBuffers && j.set["zero_buffers"] && !j.set["scramble_buffers"] {
		j.ScrambleBuffers = false
	}
	if j.DedupePercentage == 0 || j.DedupeMode != "working_set" {
		return
	}
	switch {
	case !j.set["size"]:
		r.errorf("dedupe_mode=working_set requires size")
	case j.NrFiles != 1:
		r.errorf("dedupe_mode=working_set works with one file per job, not %d", j.NrFiles)
	case j.DedupeWorkingSetPercentage+j.DedupePercentage > 100:
		r.errorf("dedupe_percentage %d cannot be reached with %d percent reserved for the working set",
			j.DedupePercentage, j.DedupeWorkingSetPercentage)
	}
}

func (r *resolver) reporting() {
	j := r.j
	if j.BlockErrorPercentiles && j.NrFiles != 1 {
		r.errorf("block_error_percentiles works with one file per job, not %d", j.NrFiles)
	}
	j.LatPercentiles = j.LatPercentiles && !j.DisableLat
	j.ClatPercentiles = j.ClatPercentiles && !j.DisableClat
	j.SlatPercentiles = j.SlatPercentiles && !j.DisableSlat
	if j.UnitBase == "" || j.UnitBase == "0" {
		j.UnitBase = "8"
	}
}

func (r *resolver) logs() {
	j := r.j
	if j.LogIssueTime && (!j.WriteLatLog.On || !j.LogOffset) {
		r.errorf("log_issue_time requires write_lat_log and log_offset")
	}
	// Without a window of its own a log's samples follow log_avg_msec.
	if j.WriteBWLog.On && !j.set["bwavgtime"] {
		j.BWAvgTime = j.LogAvgMsec
	}
	if j.WriteIOPSLog.On && !j.set["iopsavgtime"] {
		j.IOPSAvgTime = j.LogAvgMsec
	}
}
