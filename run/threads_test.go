package run

import (
	"strings"
	"testing"
)

// TestTooManyThreads has jobs that together take more threads than there can be: that is said, and none is started.
func TestTooManyThreads(t *testing.T) {
	for options, fits := range map[string]bool{
		"io_submit_mode=offload iodepth=29999":            true,
		"io_submit_mode=offload iodepth=30000":            false,
		"io_submit_mode=offload iodepth=300 numjobs=100":  false,
		"iodepth=300 numjobs=100":                         true,
		"verify=crc32c verify_async=30000 rw=write":       false,
		"verify=crc32c verify_async=100 rw=write loops=2": true,
	} {
		g := newRig()
		g.load(t, section("a", "ioengine=psync size=4k "+options))
		_, err := newRunner(g.cfg)
		if fits && err != nil || !fits && (err == nil || !strings.Contains(err.Error(), "threads, want at most 30000")) {
			t.Errorf("%s: %v", options, err)
		}
	}
}
