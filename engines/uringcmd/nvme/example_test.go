package nvme_test

import (
	"fmt"

	"fiord/engines/uringcmd/nvme"
)

// A completion's status in words.
func ExampleStatus() {
	fmt.Println(nvme.Status(0x4285))
	// Output: compare failure (sct=0x02; sc=0x85; do not retry)
}
