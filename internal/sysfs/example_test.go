package sysfs_test

import (
	"errors"
	"fmt"

	"fiord/internal/sysfs"
)

func ExampleFS_Disk() {
	// Major number 0 is for file systems that lie on no block device.
	_, err := sysfs.FS{}.Disk(0, 1)
	fmt.Println(errors.Is(err, sysfs.ErrNoDisk))
	// Output: true
}
