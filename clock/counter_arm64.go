package clock

const counterName = "cntvct"

// ticks reads the virtual counter behind an instruction barrier: without it the read is free to move ahead of the load
// that saw a completion, and unlike on amd64 implementations do use that freedom. The counter steps every 1 to 52 ns.
func ticks() uint64

// counterTrusted is always nil: the architecture promises one rate, the same on all CPUs, and Linux lets user space
// read it or mends the read where an erratum breaks it.
func counterTrusted() error { return nil }
