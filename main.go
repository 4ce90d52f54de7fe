// Fiord runs fio job files: it does the I/O they describe and reports what it measured, in fio's formats.
package main

import (
	"os"

	"fiord/cli"
	"fiord/engines/all"
)

func main() { os.Exit(cli.Main(all.Drivers()...)) }
