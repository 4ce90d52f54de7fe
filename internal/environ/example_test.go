package environ_test

import (
	"fmt"

	"fiord/internal/environ"
)

func ExampleEnvironment_NodesOf() {
	e := environ.Environment{Nodes: []environ.Node{{Number: 0, CPUs: []int{0, 1}}, {Number: 1, CPUs: []int{2, 3}}}}
	fmt.Println(e.NodesOf([]int{3}))
	// Output: [1]
}
