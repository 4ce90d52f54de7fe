package clock

const counterName = "tsc"

// ticks reads the time stamp counter with a plain RDTSC, as fio does. RDTSC does not wait for the instructions before
// it, so a stamp may be early by what the processor can hold in flight, some tens of ns. LFENCE or RDTSCP would close
// that gap and cost as much as it is worth: each empties the pipeline at every stamp, inside the loop that is being
// measured. Stamps stand next to system calls, which wait for everything themselves, and two RDTSC of one thread are
// not reordered in practice.
func ticks() uint64

func cpuid(leaf uint32) (eax, ebx, ecx, edx uint32)

// counterTrusted is nil when the processor promises a TSC that runs at one rate in all power states.
func counterTrusted() error {
	const (
		powerLeaf    = 0x80000007
		invariantTSC = 1 << 8 // EDX
	)
	if highest, _, _, _ := cpuid(0x80000000); highest < powerLeaf {
		return untrusted("the processor has no invariant TSC")
	}
	if _, _, _, edx := cpuid(powerLeaf); edx&invariantTSC == 0 {
		return untrusted("the processor has no invariant TSC")
	}
	return nil
}
