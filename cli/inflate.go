package cli

import (
	"fmt"

	"fiord/iolog"
)

// inflateLog is --inflate-log. It runs at once, and nothing after it, as with fio.
func (c *command) inflateLog(path string) error {
	f, err := c.env.Open(path)
	if err != nil {
		return fmt.Errorf("--inflate-log: %w", err)
	}
	defer f.Close()
	c.args.stop = true
	if err := iolog.Inflate(c.env.Stdout, f); err != nil {
		return fmt.Errorf("--inflate-log: %s: %w", path, err)
	}
	return nil
}
