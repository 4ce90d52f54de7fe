package compare_test

import (
	"fmt"
	"os"
	"strings"

	"fiord/compare"
)

// Compare two reports and fail where IOPS fell by more than 5 percent.
func Example() {
	report := func(iops string) *compare.Run {
		r, err := compare.Read("report", strings.NewReader(
			`{ "jobs" : [ { "jobname" : "disk", "read" : { "total_ios" : 9, "iops" : `+iops+` } } ] }`))
		if err != nil {
			panic(err)
		}
		return r
	}
	limit, _ := compare.ParseThreshold("5%")
	res, err := compare.Compare([]*compare.Run{report("1000")}, []*compare.Run{report("900")}, compare.Options{Threshold: limit})
	if err != nil {
		panic(err)
	}
	fmt.Println(res.WriteTable(os.Stdout, limit))
	// Output:
	// job   dir   metric  base  new  change
	// disk  read  IOPS    1000  900  -10.0%  worse
	// 1 regression
	// <nil>
}
