package iolog_test

import (
	"fmt"
	"strings"

	"fiord/iolog"
)

func ExampleNewReplay() {
	log := "fio version 3 iolog\n0 disk add\n1 disk open\n40 disk read 8192 4096\n90 disk sync 0 0\n95 disk close\n"
	r, err := iolog.NewReplay("trace.iolog", strings.NewReader(log), iolog.ReadConfig{Redirect: "copy", TimeScale: 200})
	if err != nil {
		fmt.Println(err)
		return
	}
	entries, err := r.All()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range entries {
		if e.Kind == iolog.EntryIO {
			fmt.Println(r.Files()[e.File], e.Op, e.Offset, e.Len, e.Delay)
		}
	}
	fmt.Println(r.Totals().Bytes, "bytes")
	// Output:
	// copy 0 8192 4096 19µs
	// copy 3 0 0 25µs
	// 4096 bytes
}
