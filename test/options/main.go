// Command options writes docs/options.md to standard output: every job option and every engine's options, from their
// declarations.
package main

import (
	"fmt"
	"io"
	"os"

	"fiord/engines/all"
	"fiord/job"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "options:", err)
		os.Exit(1)
	}
}

func write(w io.Writer) error {
	var decls []job.EngineDecl
	for _, d := range all.Drivers() {
		decls = append(decls, d.Decl())
	}
	return job.WriteOptionsMarkdown(w, decls)
}
