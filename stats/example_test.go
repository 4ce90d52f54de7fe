package stats_test

import (
	"fmt"

	"fiord/stats"
)

func ExampleHist_Percentiles() {
	var h stats.Hist
	var s stats.Sum
	for ns := uint64(1000); ns <= 100_000; ns += 1000 {
		h.Add(ns)
		s.Add(ns)
	}
	fmt.Println(h.Percentiles([]float64{50, 99}, s.N), s.Mean())
	// Output: [49920 98816] 50500
}
