package enginetest_test

import (
	"fmt"
	"syscall"

	"fiord/engines"
	"fiord/engines/enginetest"
)

// A scripted engine hands I/Os back out of order, short, late or failed.
func ExampleNewFake() {
	f := enginetest.NewFake(enginetest.Script{Newest: true, Fail: map[int]syscall.Errno{1: syscall.EIO}})
	ios := []*engines.IO{{Index: 0, Buf: make([]byte, 512)}, {Index: 1, Buf: make([]byte, 512)}}
	n, _ := f.Submit(ios)
	fmt.Println("accepted", n)
	done := make([]*engines.IO, 2)
	n, _ = f.Reap(done, 2, -1)
	for _, u := range done[:n] {
		fmt.Println(u.Index, u.Done, u.Errno != 0)
	}
	// Output:
	// accepted 2
	// 1 0 true
	// 0 512 false
}
