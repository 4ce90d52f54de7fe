// Zones prints the state of each zone of a block device, a line for each: number, state, bytes written. With -reset it
// empties them before. It is run in the guest.
package main

import (
	"flag"
	"fmt"
	"os"

	"fiord/engines"
	"fiord/zoned"
)

func main() {
	reset := flag.Bool("reset", false, "empty all zones")
	flag.Parse()
	if err := show(flag.Arg(0), *reset); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func show(path string, reset bool) error {
	f := &engines.File{Name: path, Fd: -1, Kind: engines.Block}
	var b zoned.Block
	all := make([]engines.Zone, 1024)
	n, err := b.ReportZones(f, 0, all)
	if err != nil {
		return err
	}
	for i, z := range all[:n] {
		if z.Type == engines.ConventionalZone {
			continue
		}
		if reset && z.Cond != engines.ZoneEmpty {
			if err := b.ResetZones(f, z.Start, z.Length); err != nil {
				return err
			}
			continue
		}
		wp := min(z.WP-z.Start, z.Length)
		if z.Cond == engines.ZoneFull {
			wp = z.Capacity
		}
		if !reset {
			fmt.Println(i, z.Cond, wp)
		}
	}
	return nil
}
