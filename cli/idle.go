package cli

import (
	"fmt"
	"os"

	"fiord/report"
	"fiord/run"
)

// idleProbe makes a fiord that does nothing but measure how idle the CPUs are, for the fiord that starts it.
const idleProbe = "--idle-probe"

func runIdleProbe(env *Env) int {
	if err := run.IdleProbe(env.Stdin, env.Stdout); err != nil {
		fmt.Fprintf(env.Stderr, "%v\n", err)
		return 1
	}
	return 0
}

// setIdle takes --idle-prof. Calibration alone runs at once, as with fio, and nothing after it.
func (c *command) setIdle(v string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("--idle-prof: find this program: %w", err)
	}
	p := &run.IdleProfile{Command: []string{exe, idleProbe}}
	switch v {
	case "system":
	case "percpu":
		p.PerCPU = true
	case "calibrate":
		idle, err := run.CalibrateIdle(p)
		if err != nil {
			return err
		}
		c.args.stop = true
		return report.Calibration(c.env.Stdout, idle)
	default:
		return usagef("", "--idle-prof: want system, percpu or calibrate, got %q", v)
	}
	c.set.idle = p
	return nil
}
