package clock

// script is the clock of a test.
var script func() int64

// Script makes Now what f says, which any goroutine may call, until the returned function is called. It is for tests that
// replay known times; like Use, it must be called while nobody reads the clock.
func Script(f func() int64) (restore func()) {
	before := read
	read, script = readScript, f
	return func() { read, script = before, nil }
}
