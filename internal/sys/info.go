package sys

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// ClockMs is the time of a kernel clock (CLOCK_REALTIME is 0) in milliseconds, 0 when there is no such clock.
func ClockMs(id int) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(id), &ts); err != nil {
		return 0
	}
	return ts.Sec*1000 + ts.Nsec/1e6
}

// KernelRelease is the running kernel's version, as uname -r prints it.
func KernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// CPUModel is the model name of the first CPU, or "unknown".
func CPUModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range bytes.Lines(text) {
		key, value, ok := bytes.Cut(line, []byte(":"))
		if ok && string(bytes.TrimSpace(key)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return "unknown"
}
