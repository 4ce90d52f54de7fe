package sys

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxCPU is how many CPUs an affinity mask of unix.CPUSet holds.
const maxCPU = len(unix.CPUSet{}) * 64

// SetAffinity lets this thread run on the given CPUs only.
func SetAffinity(cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		if c < 0 || c >= maxCPU {
			return fmt.Errorf("cpu %d: want 0 to %d", c, maxCPU-1)
		}
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("set affinity to cpus %v: %w", cpus, err)
	}
	return nil
}

// Affinity is the CPUs that this thread may run on, ascending.
func Affinity() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("get affinity: %w", err)
	}
	var cpus []int
	for c, n := 0, set.Count(); len(cpus) < n; c++ {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// OnlineCPUs is the CPUs that are online, ascending, whether or not this process may use them.
func OnlineCPUs() []int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err == nil {
		if cpus, err := parseCPUList(strings.TrimSpace(string(text))); err == nil {
			return cpus
		}
	}
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

// NumCPU is how many CPUs are online, whether or not this process may use them.
func NumCPU() int { return len(OnlineCPUs()) }

// parseCPUList reads the kernel's form of a CPU list, such as 0-3,8.
func parseCPUList(text string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		lo, err := strconv.ParseUint(from, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("cpu list %q: %w", text, err)
		}
		hi := lo
		if isRange {
			if hi, err = strconv.ParseUint(to, 10, 16); err != nil {
				return nil, fmt.Errorf("cpu list %q: %w", text, err)
			}
		}
		for c := lo; c <= hi; c++ {
			cpus = append(cpus, int(c))
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}
