package job

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestResolve says what options make of each other.
func TestResolve(t *testing.T) {
	type check func(j *Job) bool
	tests := []struct {
		name, text string
		ok         check
	}{
		{"bs for all", "bs=8k", func(j *Job) bool {
			return j.MinBS == PerDir[uint64]{8192, 8192, 8192} && j.MaxBS == j.MinBS && j.BA == j.MinBS
		}},
		{"bsrange beats bs", "bs=8k\nbsrange=4k-16k,1k-2k", func(j *Job) bool {
			return j.MinBS == PerDir[uint64]{4096, 1024, 1024} && j.MaxBS == PerDir[uint64]{16384, 2048, 2048}
		}},
		{"bssplit sets the limits", "bssplit=8k/10:4k/20:32k", func(j *Job) bool { return j.MinBS[Read] == 4096 && j.MaxBS[Trim] == 32768 }},
		{"blockalign with random I/O", "rw=randread\nba=512", func(j *Job) bool { return j.BA[Read] == 512 && j.NoRandomMap }},
		{"blockalign with sequential I/O", "ba=512", func(j *Job) bool { return j.BA[Read] == 4096 && !j.NoRandomMap }},
		{"distribution without map", "rw=randread\nrandom_distribution=zipf", func(j *Job) bool { return j.NoRandomMap }},
		{"depths follow iodepth", "iodepth=16\niodepth_batch=0", func(j *Job) bool {
			return j.IODepthLow == 16 && j.IODepthBatch == 16 && j.IODepthBatchCompleteMin == 1 && j.IODepthBatchCompleteMax == 1
		}},
		{"depths are bounded", "iodepth=4\niodepth_batch=8\niodepth_low=9\niodepth_batch_complete_min=3", func(j *Job) bool {
			return j.IODepthLow == 4 && j.IODepthBatch == 4 && j.IODepthBatchCompleteMax == 3
		}},
		{"direct", "direct=1", func(j *Job) bool { return j.Direct && !j.Buffered }},
		{"buffered", "buffered=0", func(j *Job) bool { return j.Direct && !j.Buffered }},
		{"rwmixread", "rw=rw\nrwmixread=70", func(j *Job) bool { return j.RWMixRead == 70 && j.RWMixWrite == 30 }},
		{"rwmixwrite", "rw=rw\nrwmixread=70\nrwmixwrite=60", func(j *Job) bool { return j.RWMixRead == 40 && j.RWMixWrite == 60 }},
		{"reads need the file", "rw=read", func(j *Job) bool { return j.Overwrite }},
		{"writes do not", "rw=write", func(j *Job) bool { return !j.Overwrite }},
		{"nrfiles", "nrfiles=4", func(j *Job) bool { return j.NrFiles == 4 && j.OpenFiles == 4 }},
		{"openfiles", "nrfiles=4\nopenfiles=2", func(j *Job) bool { return j.OpenFiles == 2 }},
		{"file names count", "nrfiles=9\nfilename=a:b", func(j *Job) bool { return j.NrFiles == 2 && slices.Equal(j.Filenames, []string{"a", "b"}) }},
		{"strided zones", "zonemode=strided\nzonesize=16k", func(j *Job) bool { return j.ZoneRange == 16384 }},
		{"strided zones in many files", "zonemode=strided\nzonesize=16k\nnrfiles=2\nopenfiles=2", func(j *Job) bool { return j.ZoneMode == "none" }},
		{"thinktime_spin", "thinktime=1ms\nthinktime_spin=2ms", func(j *Job) bool { return j.ThinkTimeSpin == 1000 }},
		{"gtod_reduce", "gtod_reduce=1\ndisable_slat=0", func(j *Job) bool {
			return j.DisableLat && j.DisableClat && !j.DisableSlat && j.DisableBWMeasurement && !j.ClatPercentiles
		}},
		{"gtod_reduce off", "gtod_reduce=0", func(j *Job) bool { return !j.DisableLat && j.ClatPercentiles }},
		{"disabled latencies have no percentiles", "disable_clat=1\nslat_percentiles=1\ndisable_slat=1", func(j *Job) bool {
			return !j.ClatPercentiles && !j.SlatPercentiles
		}},
		{"randseed", "randseed=5", func(j *Job) bool { return !j.RandRepeat && j.RandSeed == 5 }},
		{"buffer_pattern of a writer", "rw=write\nbuffer_pattern=1", func(j *Job) bool { return !j.RefillBuffers && !j.ScrambleBuffers && !j.ZeroBuffers }},
		{"buffer_pattern of a reader", "rw=rw\nbuffer_pattern=1", func(j *Job) bool { return j.RefillBuffers }},
		{"dedupe refills", "dedupe_percentage=50", func(j *Job) bool { return j.RefillBuffers }},
		{"full compression is zeroes", "buffer_compress_percentage=100", func(j *Job) bool { return j.ZeroBuffers && j.BufferCompressPercentage == 0 }},
		{"compression refills", "buffer_compress_percentage=50", func(j *Job) bool { return j.RefillBuffers }},
		{"compression with refill off", "buffer_compress_percentage=50\nrefill_buffers=0", func(j *Job) bool { return !j.RefillBuffers }},
		{"zero_buffers are not scrambled", "zero_buffers", func(j *Job) bool { return j.ZeroBuffers && !j.ScrambleBuffers }},
		{"continue_on_error", "continue_on_error=1", func(j *Job) bool {
			return j.ContinueOnError == "all" && j.ContinueOnRead && j.ContinueOnWrite && j.ContinueOnVerify
		}},
		{"ignore_error continues", "ignore_error=EIO,,EILSEQ", func(j *Job) bool { return j.ContinueOnRead && !j.ContinueOnWrite && j.ContinueOnVerify }},
		{"enums have one name", "fallocate=1\nsync=1\nlog_max_value=1\nunified_rw_reporting=2", func(j *Job) bool {
			return j.Fallocate == "posix" && j.Sync == "sync" && j.LogWindowValue == "max" && j.UnifiedRWReporting == "both"
		}},
		{"memory file", "mem=mmapshared:/x:y", func(j *Job) bool { return j.Mem == "mmapshared" && j.MemFile == "/x:y" }},
		{"serialize_overlap of readers", "serialize_overlap=1\niodepth=4", func(j *Job) bool { return !j.SerializeOverlap }},
		{"serialize_overlap of writers", "rw=write\nserialize_overlap=1\niodepth=4", func(j *Job) bool { return j.SerializeOverlap }},
		{"pre_read keeps the cache", "pre_read=1", func(j *Job) bool { return !j.Invalidate }},
		{"loops", "loops=0", func(j *Job) bool { return j.Loops == 1 }},
		{"bwavgtime follows log_avg_msec", "write_bw_log\nlog_avg_msec=100", func(j *Job) bool { return j.BWAvgTime == 100 && j.IOPSAvgTime == 500 }},
		{"bwavgtime given", "write_bw_log=x\nwrite_iops_log\nbwavgtime=50\nlog_avg_msec=100", func(j *Job) bool {
			return j.BWAvgTime == 50 && j.IOPSAvgTime == 100 && j.WriteBWLog.Prefix == "x"
		}},
		{"users", "uid=0", func(j *Job) bool { return j.UID == 0 && j.GID == -1 && j.IsSet("uid") && !j.IsSet("gid") }},
		{"time range", "startdelay=1-3", func(j *Job) bool { return j.StartDelay == TimeRange{time.Second, 3 * time.Second} }},
		{"kb_base counts wherever it stands", "bs=4k\nkb_base=1000", func(j *Job) bool { return j.BS[Read] == 4000 }},
		{"unit_base", "", func(j *Job) bool { return j.UnitBase == "8" }},
		{"atomic readers", "ioengine=pvsync2\natomic=1", func(j *Job) bool { return !j.Atomic }},
	}
	for _, tt := range tests {
		jobs, _, err := loadText(t, &Loader{}, "[a]\n"+tt.text+"\n")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if !tt.ok(jobs[0]) {
			t.Errorf("%s: got %+v", tt.name, jobs[0].Options)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ text, want string }{
		{"zonesize=4k", "zonesize has no meaning with zonemode=none"},
		{"zonemode=strided", "zonemode=strided requires zonesize"},
		{"size=1k", "size 1024 is smaller than the smallest block size 4096"},
		{"nrfiles=0", "nrfiles=0 leaves the job without a file"},
		{"ioengine=mmap\nfile_append=1", "file_append: ioengine mmap cannot extend files"},
		{"directory=" + plain, "is not a directory"},
		{"directory=" + plain + ".none", "no such file or directory"},
		{"rate=1m\nrate_iops=5", "rate and rate_iops exclude each other"},
		{"rate_min=1m\nrate_iops_min=5", "rate and rate_iops exclude each other"},
		{"rate=1m,2m\nrate_min=2m", "minimum rate exceeds rate, direction read"},
		{"rate_iops=0,5\nrate_iops_min=6", "minimum rate exceeds rate, direction write"},
		{"ramp_time=1\nramp_size=4k", "ramp_time and ramp_size exclude each other"},
		{"atomic=1\nrw=write", "atomic: ioengine psync does not support atomic writes"},
		{"dedupe_percentage=50\ndedupe_mode=working_set", "dedupe_mode=working_set requires size"},
		{"dedupe_percentage=50\ndedupe_mode=working_set\nsize=1m\nnrfiles=2", "works with one file per job, not 2"},
		{"dedupe_percentage=97\ndedupe_mode=working_set\nsize=1m", "cannot be reached with 5 percent"},
		{"log_issue_time=1", "log_issue_time requires write_lat_log and log_offset"},
		{"cpus_allowed=0,8000", "cpus_allowed: CPU 8000 does not exist"},
		{"cpumask=0x80000000", "cpumask: CPU 31 does not exist"},
	}
	for _, tt := range tests {
		_, _, err := loadText(t, &Loader{}, "[a]\n"+tt.text+"\n")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.text, err, tt.want)
		}
	}
}

// TestResolveOfMissing checks rules about options that stop a job before, for lack of the feature: under ParseOnly they
// are warnings like it.
func TestResolveOfMissing(t *testing.T) {
	tests := []struct {
		text, want string
		ok         func(j *Job) bool
	}{
		{"zonemode=zbd\ncreate_serialize=0", "zonemode=zbd and create_serialize=0 exclude each other", nil},
		{"ss_dur=10\nss_interval=500ms", "steadystate_check_interval must be at least 1 s", nil},
		{"ss_dur=10\nss_interval=3", "or a larger multiple", nil},
		{"rw=write\nwrite_barrier=8", "write_barrier has no effect", nil},
		{"unique_filename=0", "unique_filename has no effect", nil},
		{"read_iolog=x\nwrite_iolog=y", "read_iolog overrides write_iolog", func(j *Job) bool { return j.WriteIolog == "" }},
		{"block_error_percentiles=1\nnrfiles=2", "works with one file per job, not 2", nil},
		{"rw=write\nverify=md5\nnumjobs=2\nfilename=x", "multiple writers may overwrite blocks", nil},
		{"rw=write\nverify=md5\nruntime=5\ntime_based", "the read phase of verification never starts", nil},
		{"rw=write\nverify=md5\nverify_offset=4090", "verify_offset puts the header beyond", nil},
		{"rw=randwrite\nverify=crc32c-intel\nnorandommap\nbsrange=1k-4k\niodepth=4\nioengine=libaio", "limits verification", func(j *Job) bool {
			return j.Verify == "crc32c" && j.VerifyInterval == 1024 && !j.VerifyWriteSequence && !j.VerifyHeaderSeed && j.RefillBuffers
		}},
		{"rw=write\nverify_pattern=0xff\nverify_interval=8k", "", func(j *Job) bool {
			return j.Verify == "pattern_hdr" && j.VerifyInterval == 4096 && j.VerifyWriteSequence
		}},
		{"rw=rw\nbs=1k,4k\nverify=md5\nverify_interval=4k\nverify_only", "", func(j *Job) bool { return j.VerifyInterval == 1024 }},
		{"rw=write\nbs=1000\nverify=md5\nverify_interval=300", "", func(j *Job) bool { return j.VerifyInterval == 1000 }},
	}
	for _, tt := range tests {
		jobs, warnings, err := loadText(t, &Loader{ParseOnly: true}, "[a]\n"+tt.text+"\n")
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if !strings.Contains(strings.Join(warnings, "\n"), tt.want) {
			t.Errorf("%s: warnings %q, want %q", tt.text, warnings, tt.want)
		}
		if tt.ok != nil && !tt.ok(jobs[0]) {
			t.Errorf("%s: got %+v", tt.text, jobs[0].VerifyOptions)
		}
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct{ text, want string }{
		{"time_based", "a: time_based requires a runtime"},
		{"rw=randread\nba=512", "a: any use of blockalign turns off the random map"},
		{"direct=1\nbs_unaligned", "a: bs_unaligned may not work with direct I/O"},
		{"ioengine=net\npre_read=1", "a: pre_read has no effect with ioengine net, which cannot seek"},
	}
	for _, tt := range tests {
		_, warnings, err := loadText(t, &Loader{}, "[a]\n"+tt.text+"\n")
		if err != nil || !slices.Contains(warnings, tt.want) {
			t.Errorf("%s: got %q, %v", tt.text, warnings, err)
		}
	}
	if _, _, err := loadText(t, &Loader{WarningsFatal: true}, "[a]\ntime_based\n"); err == nil {
		t.Error("a warning is not fatal with WarningsFatal")
	}
}
