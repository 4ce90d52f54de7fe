package zoned

import "fmt"

// requestError is a request that the device refused.
type requestError struct {
	what, file string
	at         uint64 // start of the zone
	err        error
}

func (e *requestError) Error() string {
	return fmt.Sprintf("%s: %s at %d: %v", e.file, e.what, e.at, e.err)
}

func (e *requestError) Unwrap() error { return e.err }
