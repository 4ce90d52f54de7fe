package sys_test

import (
	"fmt"

	"fiord/internal/sys"
)

func ExampleNewArena() {
	a, err := sys.NewArena("malloc", 64<<10, 4096, 0, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = a.Close() }()
	fmt.Println(len(a.Mem))
	// Output: 65536
}
