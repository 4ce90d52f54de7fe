package ring

const fastBurst = true

// runBurst does the rounds of Burst, without yielding to the runtime.
//
//go:noescape
func runBurst(b *burst)
